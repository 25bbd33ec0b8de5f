/** The events that a backfill reads from a file, and the problems of its rows. */
import { checkLines } from '../../src/app/commands/backfill/check-lines.ts';
import {
  type InputFile,
  openLocalFile,
  recognise,
} from '../../src/app/commands/backfill/files/input-file.ts';
import { explainer, type Reading, readBatches } from '../../src/app/commands/backfill/rows/read-batches.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import type { ReadEvent } from '../../src/metering/ingest/event-rows.ts';

export interface ReadFile {
  readonly events: readonly ReadEvent[];
  /** Number and reason. */
  readonly invalid: readonly (readonly [number, string])[];
  readonly leftOut: number;
}

export async function readEventFile(path: string, reading?: Reading, from = 0): Promise<ReadFile> {
  return await readEvents(await recognise(await openLocalFile(path), null), reading, from);
}

export async function readEvents(file: InputFile, reading?: Reading, from = 0): Promise<ReadFile> {
  const events: ReadEvent[] = [];
  const invalid: (readonly [number, string])[] = [];
  let leftOut = 0;
  for await (const { lines } of readBatches(file, { offset: from, line: from }, reading)) {
    const checked = checkLines(lines, Date.now(), explainer(file, reading));
    for (let index = 0; index < checked.events.count; index += 1) events.push(checked.events.read(index));
    invalid.push(...checked.invalid.map(({ line, reason }) => [line.number, reason] as const));
    leftOut += checked.leftOut;
  }
  return { events, invalid, leftOut };
}

/** The answer to a query as a file of Parquet. */
export async function parquetOf(
  clickhouse: ClickHouse,
  sql: string,
  settings: Readonly<Record<string, string | number>> = {},
  params: Readonly<Record<string, unknown>> = {},
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const signal = new AbortController().signal;
  const answer = clickhouse.queryStream({
    sql,
    params,
    format: 'Parquet',
    settings,
    signal,
    lane: 'reports',
  });
  for await (const piece of answer) pieces.push(piece);
  return Buffer.concat(pieces);
}
