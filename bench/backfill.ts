/**
 * A backfill of new events beside stored ones: what it costs that each id is sought among all of them. The same file into
 * stores of each size, in turns with an empty one. BENCH_MILLIONS says how many millions are stored, such as `10,40,300`,
 * and BENCH_EVENTS how many are loaded: the first lookups and the reading of all ids are in what few of them take.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { table } from './report.ts';
import { mergeStoredEvents, storeSmallEvents } from './stored-events.ts';
import { withTemporaryDirectory } from './temporary-service.ts';

const SIZES = (process.env.BENCH_MILLIONS ?? '10,40,100').split(',').map(Number);
const EVENTS = Number(process.env.BENCH_EVENTS ?? 2_000_000);
const ROUNDS = 2;
const PROGRAM = join(import.meta.dirname, '../dist/tallyhouse.cjs');
const run = promisify(execFile);

interface Loaded {
  readonly perSecond: number;
}

export async function benchBackfill(): Promise<string> {
  return await withTemporaryDirectory(async (directory) => {
    const rows: string[][] = [];
    for (const millions of SIZES) rows.push(await measureSize(directory, millions));
    return `${table(['stored', 'beside an empty store', 'beside these', 'of the rate'], rows)}\n`;
  });
}

async function measureSize(directory: string, millions: number): Promise<string[]> {
  const filled = join(directory, 'filled');
  await storeSmallEvents(join(filled, 'clickhouse'), millions * 1_000_000);
  await mergeStoredEvents(join(filled, 'clickhouse'));
  const rates: { readonly empty: number; readonly filled: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const file = join(directory, 'events.jsonl');
    await writeEvents(file, `${millions}-${round}`);
    const empty = await load(join(directory, 'empty'), file);
    await rm(join(directory, 'empty'), { recursive: true, force: true });
    const beside = await load(filled, file);
    rates.push({ empty: empty.perSecond, filled: beside.perSecond });
  }
  await rm(filled, { recursive: true, force: true });
  const mean = (of: (rate: (typeof rates)[number]) => number) =>
    rates.reduce((sum, rate) => sum + of(rate), 0) / rates.length;
  const [empty, beside] = [mean((rate) => rate.empty), mean((rate) => rate.filled)];
  return [
    `${millions} million`,
    `${Math.round(empty)} events/s`,
    `${Math.round(beside)} events/s`,
    `${((100 * beside) / empty).toFixed(0)} %`,
  ];
}

async function load(dataDir: string, file: string): Promise<Loaded> {
  const env = { ...process.env, DATA_DIR: dataDir };
  const { stdout } = await run(process.execPath, [PROGRAM, 'backfill', file], { env });
  const [, perSecond = ''] = /, ([\d,]+)\/s\.\s*$/.exec(stdout) ?? [];
  const rate = Number(perSecond.replaceAll(',', ''));
  if (!(rate > 0) || !stdout.includes(' 0 were there already'))
    throw new Error(`the backfill said: ${stdout}`);
  return { perSecond: rate };
}

/** Writes events of two months a year ago, in the order of their times. */
async function writeEvents(path: string, prefix: string): Promise<void> {
  const file = createWriteStream(path);
  const start = Date.now() - 365 * 86_400_000;
  for (let from = 0; from < EVENTS; from += 10_000) {
    const lines = Array.from({ length: Math.min(10_000, EVENTS - from) }, (_, at) => {
      const number = from + at;
      const time = new Date(start + Math.floor((number * 5_000_000_000) / EVENTS)).toISOString();
      return `{"transaction_id":"${prefix}-${number}","customer_id":"customer-${number % 1_000}","event_type":"use","timestamp":"${time}","properties":{"n":${number}}}\n`;
    });
    if (!file.write(lines.join(''))) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
}
