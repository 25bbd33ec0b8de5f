/** Damaged files of events: the readable events are stored, and the error is reported. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { constants, gunzipSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { runBackfill } from '../../src/app/commands/backfill/backfill.ts';
import { EXIT } from '../../src/app/commands/backfill/failure.ts';
import { openLocalFile, recognise } from '../../src/app/commands/backfill/files/input-file.ts';
import { createProgressFile, NOTHING_DONE } from '../../src/app/commands/backfill/progress-file.ts';
import { readBatches } from '../../src/app/commands/backfill/rows/read-batches.ts';
import { createBatchStore } from '../../src/app/commands/backfill/store-batch.ts';
import { createTestClickHouse, createTestDirectory } from '../support/stores.ts';

const openInput = async (path: string) => recognise(await openLocalFile(path), null);
const NOW = Date.UTC(2026, 10, 20);

/** Lines that do not compress to almost nothing, so that a cut falls anywhere. */
function eventLines(count: number): string {
  let state = 1;
  return Array.from({ length: count }, (_, i) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const event = {
      transaction_id: `e-${i}`,
      customer_id: 'acme',
      event_type: 'call',
      timestamp: new Date(NOW - (state % 1_000_000_000)).toISOString(),
      properties: { n: state },
    };
    return `${JSON.stringify(event)}\n`;
  }).join('');
}

/** The complete lines of what is there before the cut. */
function linesBefore(cut: Buffer): string[] {
  const text = gunzipSync(cut, { finishFlush: constants.Z_SYNC_FLUSH }).toString();
  return text.split('\n').slice(0, -1);
}

async function linesRead(path: string): Promise<{ lines: string[]; error: string | null }> {
  const lines: string[] = [];
  try {
    for await (const batch of readBatches(await openInput(path), NOTHING_DONE)) {
      lines.push(...batch.lines.map(({ bytes }) => bytes?.toString() ?? ''));
    }
    return { lines, error: null };
  } catch (error) {
    return { lines, error: String(error) };
  }
}

it('a backfill is refused where there is no such file, or no file', async () => {
  const directory = await createTestDirectory();
  for (const [path, problem] of [
    [join(directory, 'none'), 'ENOENT'],
    [directory, 'it is not a file'],
  ] as const) {
    await expect(openInput(path)).rejects.toMatchObject({
      message: expect.stringContaining(problem),
      exitCode: EXIT.usage,
    });
  }
});

it('hands on every complete line before the place where gzip data is cut off, wherever that is', async () => {
  const file = join(await createTestDirectory(), 'cut.gz');
  const text = eventLines(4_000);
  const half = text.indexOf('\n', text.length / 2) + 1;
  const whole = Buffer.concat([gzipSync(text.slice(0, half)), gzipSync(text.slice(half))]);
  const cuts = Array.from({ length: 24 }, (_, i) => Math.floor((whole.length * (i + 1)) / 25));
  for (const cut of [...cuts, 25, whole.length - 1]) {
    await writeFile(file, whole.subarray(0, cut));
    const { lines, error } = await linesRead(file);
    expect(lines).toEqual(linesBefore(whole.subarray(0, cut)));
    expect(error).toContain(`cut off after line ${lines.length}: unexpected end of file`);
  }
  for (const padding of [0, 1, 100_000]) {
    await writeFile(file, Buffer.concat([whole, Buffer.alloc(padding)]));
    expect(await linesRead(file)).toEqual({ lines: text.split('\n').slice(0, -1), error: null });
  }
});

it('hands on the lines before damaged gzip data but for the last stretch, and no half of one', async () => {
  const file = join(await createTestDirectory(), 'damaged.gz');
  const text = eventLines(20_000);
  const whole = gzipSync(text);
  const damaged = Buffer.from(whole);
  const middle = Math.floor(whole.length / 2);
  damaged.fill(0xff, middle, middle + 100);
  await writeFile(file, damaged);
  const { lines, error } = await linesRead(file);
  const all = text.split('\n');
  const intact = linesBefore(whole.subarray(0, middle)).length;
  const shared = Math.min(intact, lines.length);
  expect(lines.slice(0, shared)).toEqual(all.slice(0, shared));
  const bytesPerLine = text.length / all.length;
  expect(lines.length).toBeGreaterThan(intact - 16_384 / bytesPerLine - 2);
  expect(error).toContain(`its gzip data is damaged or cut off after line ${lines.length}: `);
});

it('a backfill stores all of it and says how far that is, and the whole file later adds the rest', async () => {
  const clickhouse = await createTestClickHouse();
  const directory = await createTestDirectory();
  const path = join(directory, 'events.gz');
  const text = eventLines(25_000);
  const whole = gzipSync(text);
  const cut = whole.subarray(0, Math.floor(whole.length * 0.95));
  const complete = linesBefore(cut).length;
  const run = async () => {
    const file = await openInput(path);
    const progressFile = createProgressFile(directory, file, 'test');
    const saved = await progressFile.load();
    const from = saved === null || saved === 'outdated' ? NOTHING_DONE : saved;
    return runBackfill({
      store: createBatchStore(clickhouse),
      clock: { now: () => NOW },
      file,
      from,
      progressFile,
      report: null,
      onProgress: () => {},
      signal: new AbortController().signal,
    });
  };
  try {
    await writeFile(path, cut);
    // The second run begins after all that could be read.
    for (let runs = 0; runs < 2; runs += 1) {
      await expect(run()).rejects.toThrow(
        `cut off after line ${complete}: unexpected end of file\nEverything up to line ${complete} is stored`,
      );
      const [row] = await clickhouse.query({
        sql: 'SELECT count() AS rows FROM usage_events',
        schema: z.object({ rows: z.coerce.number() }),
      });
      expect(row?.rows).toBe(complete);
    }
    expect(complete).toBeGreaterThan(20_000);
    await writeFile(path, whole);
    expect(await run()).toMatchObject({ stored: 25_000 - complete, duplicates: complete, line: 25_000 });
  } finally {
    await clickhouse.close();
  }
});
