import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/core/time.ts';
import { parseTraceTimestamp, readTrace, traceExtent } from '../../../src/demo/trace-file.ts';
import { shiftIntoPeriod } from '../../../src/demo/trace-story.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'trace-file-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function trace(name: string, content: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, content);
  return file;
}

async function readAll(file: string) {
  const requests = [];
  for await (const request of readTrace(file)) requests.push(request);
  return requests;
}

describe('a trace file', () => {
  it('a trace file is read with its columns in any order, CRLF, a BOM, quotes and a missing last line end', async () => {
    const file = await trace(
      'good.csv',
      '\uFEFFContextTokens,TIMESTAMP,GeneratedTokens\r\n374,2023-11-16 18:15:46.6805900,44\r\n"396","2023-11-16 18:15:50.9951690","109"',
    );
    expect(await readAll(file)).toEqual([
      { timestamp: Date.UTC(2023, 10, 16, 18, 15, 46, 680), contextTokens: '374', generatedTokens: '44' },
      { timestamp: Date.UTC(2023, 10, 16, 18, 15, 50, 995), contextTokens: '396', generatedTokens: '109' },
    ]);
  });

  it('a trace file tells its extent whatever the order of its lines', async () => {
    const file = await trace(
      'unordered.csv',
      'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 12:00:00,1,1\n2023-11-16 10:00:00,1,1\n2023-11-16 11:00:00,1,1\n',
    );
    expect(await traceExtent(file)).toEqual({
      requests: 3,
      first: Date.UTC(2023, 10, 16, 10),
      last: Date.UTC(2023, 10, 16, 12),
    });
  });

  it.each([
    ['', 'is empty'],
    ['TIMESTAMP,ContextTokens,GeneratedTokens\n', 'has a header but no requests'],
    [
      'time,tokens\n1,2\n',
      ':1: the first line must name the columns TIMESTAMP,ContextTokens,GeneratedTokens',
    ],
    [
      'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 10:00:00,1,1\nyesterday,1,1\n',
      ':3: TIMESTAMP is not a time',
    ],
    [
      'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 10:00:00,many,1\n',
      ':2: ContextTokens is not a number',
    ],
    [
      'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 10:00:00,1,-1\n',
      ':2: GeneratedTokens is not a number',
    ],
    [
      'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 10:00:00,1\n',
      ':2: GeneratedTokens is not a number',
    ],
  ])('a trace file that is wrong is refused, naming the line: %j', async (content, message) => {
    const file = await trace('wrong.csv', content);
    await expect(traceExtent(file)).rejects.toThrow(message);
  });

  it('a trace file that is missing or a directory is named', async () => {
    await expect(traceExtent(join(directory, 'none.csv'))).rejects.toThrow(/there is no file .*none\.csv/);
    await expect(traceExtent(directory)).rejects.toThrow('is not a file');
  });

  it('a trace file has times in UTC unless they say otherwise', () => {
    expect(parseTraceTimestamp('2023-11-16 18:15:46')).toBe(Date.UTC(2023, 10, 16, 18, 15, 46));
    expect(parseTraceTimestamp('2023-11-16T18:15:46.5+02:00')).toBe(Date.UTC(2023, 10, 16, 16, 15, 46, 500));
    expect(parseTraceTimestamp('2023-02-30 00:00:00')).toBeNull();
  });
});

describe('moving a trace into the billing period', () => {
  const now = Date.UTC(2026, 10, 20, 12);
  const period = { start: Date.UTC(2026, 9, 21), end: Date.UTC(2026, 10, 21) };

  it('moving a trace into the billing period keeps the time of day and ends within the last 24 hours', () => {
    const last = Date.UTC(2023, 10, 16, 19, 14);
    const shiftMs = shiftIntoPeriod('f', { requests: 2, first: last - 3_600_000, last }, period, now);
    expect(shiftMs % DAY_MS).toBe(0);
    expect(last + shiftMs).toBe(Date.UTC(2026, 10, 19, 19, 14));
  });

  it('moving a trace into the billing period refuses a trace that is longer than the period', () => {
    const last = Date.UTC(2023, 10, 16);
    const extent = { requests: 2, first: last - 40 * DAY_MS, last };
    expect(() => shiftIntoPeriod('long.csv', extent, period, now)).toThrow(
      'long.csv spans 40 days; the billing period has room for 30',
    );
  });
});
