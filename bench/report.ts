/** How the benchmarks show their figures: Markdown tables, and the machine they were measured on. */
import { statfsSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';

/** A Markdown table. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** How Linux names the file systems that data are likely to lie on. */
const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  801189825: 'zfs',
  2035054128: 'overlayfs',
  16914836: 'tmpfs, which is not durable',
};

/** `2 cores of …, 24 GiB, Node 20.20.2, data on ext4`. */
export function machine(): string {
  const [first] = cpus();
  const memoryGib = (totalmem() / 1024 ** 3).toFixed(0);
  const { type } = statfsSync(tmpdir());
  const fileSystem = FILE_SYSTEMS[type] ?? `file system 0x${type.toString(16)}`;
  return `${cpus().length} cores of ${first?.model ?? 'unknown'}, ${memoryGib} GiB, Node ${process.versions.node}, data on ${fileSystem}`;
}

/** The value below which a share of the sorted list lies; the nearest one that was measured. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}

/** Calls that are not counted. A service in use has compiled its code; the first calls of a process interpret it. */
const UNCOUNTED = 30;

/**
 * Median milliseconds of `runs` calls of each, after some that are not counted, and how many times `floor` the call
 * takes. The calls take turns, so that other work on the machine slows both down.
 */
export async function timedBeside(
  runs: number,
  call: () => Promise<unknown>,
  floor: () => Promise<unknown>,
  before: () => Promise<unknown> = async () => {},
) {
  const ours: number[] = [];
  const others: number[] = [];
  for (let run = 0; run < UNCOUNTED + runs; run += 1) {
    await before();
    const [first, second] = [await millisecondsOf(call), await millisecondsOf(floor)];
    if (run < UNCOUNTED) continue;
    ours.push(first);
    others.push(second);
  }
  const [measured, beside] = [quantile(ours, 0.5), quantile(others, 0.5)];
  return { measured, beside, ratio: measured / beside };
}

/** How long the call takes. */
export async function millisecondsOf(call: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await call();
  return performance.now() - start;
}
