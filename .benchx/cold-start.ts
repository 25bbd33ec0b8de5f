/** From nothing to ready, and from existing data to ready: the built service, embedded stores. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quantile, table } from './report.ts';
import { startTemporaryService } from './temporary-service.ts';

const RUNS = 5;

export async function benchColdStart(): Promise<string> {
  const cold: number[] = [];
  const warm: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const directory = await mkdtemp(join(tmpdir(), 'tallyhouse-bench-'));
    try {
      cold.push(await startOn(directory));
      warm.push(await startOn(directory));
    } finally {
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    }
  }
  const seconds = (times: readonly number[]) => (quantile(times, 0.5) / 1000).toFixed(2);
  return table(
    ['start to ready', 'target', `median of ${RUNS}, s`],
    [
      ['empty data', '5 s, aim 2 s', seconds(cold)],
      ['existing data', '–', seconds(warm)],
    ],
  );
}

async function startOn(directory: string): Promise<number> {
  const service = await startTemporaryService(directory);
  await service.close();
  return service.startMs;
}
