/** How the benchmarks show their figures: Markdown tables, and the machine they were measured on. */
import { cpus, totalmem } from 'node:os';

/** A Markdown table. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** `2 cores of …, 24 GiB, Node 20.20.2`. */
export function machine(): string {
  const [first] = cpus();
  const memoryGib = (totalmem() / 1024 ** 3).toFixed(0);
  return `${cpus().length} cores of ${first?.model ?? 'unknown'}, ${memoryGib} GiB, Node ${process.versions.node}`;
}

/** The value below which a share of the sorted list lies; the nearest one that was measured. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}

/** Milliseconds of `runs` calls, after one that is not counted. */
export async function timed(runs: number, call: () => Promise<unknown>): Promise<number[]> {
  await call();
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const start = performance.now();
    await call();
    times.push(performance.now() - start);
  }
  return times;
}
