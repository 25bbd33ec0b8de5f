/**
 * Whatever happens to the files of the log of events: every acknowledged event is there, or the log says that some are
 * missing. No event is invented, and none is lost without a message.
 */
import { cp, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RecordedPosition } from '../../src/embedded/event-log/find-event-log.ts';
import type { EventLog } from '../../src/metering/ingest/event-blocks.ts';
import { findLog, openLog } from '../support/event-log.ts';
import { createTestDirectory } from '../support/stores.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await createTestDirectory();
});

const PAGE = 4_096;
const POSITION = 'event-log.position';

/** The state in PostgreSQL after `kill -9`: the log was open, with these positions. */
const recordedAt = (acknowledged: number, stored = 0): RecordedPosition => ({
  ...{ acknowledged, acknowledgedRows: acknowledged, stored, storedRows: stored, isOpen: true },
});

/** So many records of one row, of different sizes. */
async function append(log: EventLog, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1)
    expect(await log.append(contentOf(number), 1)).toBe(number);
}

function contentOf(number: number): Buffer {
  return Buffer.alloc(1 + ((number * 997) % 6_000), number);
}

function numbersIn(log: EventLog): number[] {
  return [...log.entries()].map(({ rows }) => {
    const number = rows[0] ?? 0;
    expect(rows.equals(contentOf(number))).toBe(true);
    return number;
  });
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

/** Files with records. */
async function segments(): Promise<string[]> {
  const names = await readdir(join(dataDir, 'event-log'));
  return names.sort().map((name) => join(dataDir, 'event-log', name));
}

/** Records 1 to 30 in three files, of which ClickHouse has the first 5; not closed, as after `kill -9`. */
async function killed(): Promise<void> {
  for (const [from, to] of [
    [1, 10],
    [11, 20],
    [21, 30],
  ] as const) {
    const log = await openLog(dataDir);
    await append(log, from, to);
    if (from === 1) await log.removeUpTo(5);
    await log.close();
  }
}

const DAMAGES: readonly (readonly [string, (path: string) => Promise<void>])[] = [
  ['is removed', (path) => rm(path)],
  ['is emptied', (path) => truncate(path, 0)],
  ['is cut to one page', (path) => truncate(path, Math.min(PAGE, 100))],
  ['is shorter by a page', async (path) => truncate(path, Math.max(0, (await stat(path)).size - PAGE))],
  ['is shorter by a byte', async (path) => truncate(path, (await stat(path)).size - 1)],
  ['is filled with zeros', async (path) => writeFile(path, Buffer.alloc((await stat(path)).size))],
  ['is filled with noise', async (path) => writeFile(path, Buffer.alloc((await stat(path)).size, 0xa5))],
];

describe('a log of a process that was killed', () => {
  it('a log of a process that was killed has every record that ClickHouse does not have, in their order, however many files they are in', async () => {
    await killed();
    expect((await segments()).length).toBe(3);
    expect((await findLog(dataDir, recordedAt(25, 3))).damage).toBeNull();
    const log = await openLog(dataDir, recordedAt(25, 3));
    expect(numbersIn(log)).toEqual(upTo(30, 6));
    await append(log, 31, 31);
    await log.removeUpTo(30);
    expect(numbersIn(log)).toEqual([31]);
    await log.removeUpTo(31);
    expect(numbersIn(log)).toEqual([]);
    await log.close();
  });

  it('a log of a process that was killed takes no notice of what was written last and not acknowledged, whole or in part', async () => {
    await killed();
    const last = (await segments()).at(-1) ?? '';
    const before = await readFile(join(dataDir, POSITION));
    const bytes = await readFile(last);
    const log = await openLog(dataDir);
    await append(log, 31, 31);
    await log.close();
    const record = await readFile((await segments()).at(-1) ?? '');
    await rm((await segments()).at(-1) ?? '');
    await writeFile(join(dataDir, POSITION), before);
    for (const length of [1, 20, 28, 500, record.length - 1]) {
      await writeFile(last, Buffer.concat([bytes, record.subarray(0, length)]));
      const found = await findLog(dataDir, recordedAt(30, 5));
      expect(found.damage).toBeNull();
      expect(found.position).toMatchObject({ acknowledged: 30, acknowledgedRows: 30, stored: 5 });
    }
    await writeFile(last, Buffer.concat([bytes, record]));
    expect((await findLog(dataDir, recordedAt(30, 5))).position).toMatchObject({ acknowledged: 31 });
  });

  for (const index of [0, 1, 2]) {
    it.each(DAMAGES)(
      `a log of a process that was killed says how many events are missing where file ${index + 1} %s, and continues with the others`,
      async (_, damage) => {
        await killed();
        await damage((await segments())[index] ?? '');
        const found = await findLog(dataDir, recordedAt(25, 3));
        const log = await openLog(dataDir, recordedAt(25, 3));
        const left = numbersIn(log);
        expect(found.damage).toEqual({ name: '6-30', rows: 25 - left.length });
        expect(left.length).toBeLessThan(25);
        expect(left.length).toBeGreaterThanOrEqual(15);
        expect(upTo(30, 6)).toEqual(expect.arrayContaining(left));
        await append(log, 31 + left.length, 31 + left.length);
        await log.close();
        const next = await findLog(dataDir, recordedAt(30, 3));
        expect(next.damage).toBeNull();
        const again = await openLog(dataDir, recordedAt(30, 3));
        expect([...again.entries()].length).toBe(left.length + 1);
        await again.close();
      },
    );
  }

  it('a log of a process that was killed notices every changed bit of a record that ClickHouse does not have', async () => {
    await killed();
    const path = (await segments())[1] ?? '';
    const bytes = await readFile(path);
    for (let bit = 3; bit < bytes.length * 8; bit += 1_009) {
      const changed = Buffer.from(bytes);
      const at = Math.floor(bit / 8);
      changed[at] = (changed[at] ?? 0) ^ (1 << (bit % 8));
      await writeFile(path, changed);
      const { damage } = await findLog(dataDir, recordedAt(25, 3));
      expect(damage, `bit ${bit}`).toEqual({ name: '6-30', rows: 1 });
    }
  });

  it('a log of a process that was killed is not taken for new where all of it is gone, with its position or without', async () => {
    await killed();
    await rm(join(dataDir, 'event-log'), { recursive: true });
    expect((await findLog(dataDir, recordedAt(25, 3))).damage).toEqual({ name: '6-30', rows: 25 });
    expect((await findLog(dataDir)).damage).toEqual({ name: '6-30', rows: 25 });
    await rm(join(dataDir, POSITION));
    expect((await findLog(dataDir, recordedAt(25, 3))).damage).toEqual({ name: 'from-4', rows: null });
    const log = await openLog(dataDir, recordedAt(25, 3));
    expect(numbersIn(log)).toEqual([]);
    // Its numbers may have been acknowledged.
    expect(await log.append(contentOf(1), 1)).toBeGreaterThan(1_000_000);
    await log.close();
  });

  it('a log of a process that was killed is not taken for whole where it is an older copy, with its position or without', async () => {
    const log = await openLog(dataDir);
    await append(log, 1, 10);
    const copy = await createTestDirectory();
    await cp(dataDir, copy, { recursive: true });
    await append(log, 11, 20);
    await log.close();
    await rm(join(dataDir, 'event-log'), { recursive: true });
    await cp(join(copy, 'event-log'), join(dataDir, 'event-log'), { recursive: true });
    expect((await findLog(dataDir, recordedAt(5))).damage).toEqual({ name: '1-20', rows: 10 });
    await cp(join(copy, POSITION), join(dataDir, POSITION));
    expect((await findLog(dataDir, recordedAt(15))).damage).toEqual({ name: 'from-1', rows: null });
  });

  it.each(DAMAGES)(
    'a log of a process that was killed is not trusted where its position %s, and its events are kept',
    async (_, damage) => {
      await killed();
      await damage(join(dataDir, POSITION));
      const found = await findLog(dataDir, recordedAt(25, 3));
      if (found.damage !== null) expect(found.damage).toMatchObject({ rows: null });
      const log = await openLog(dataDir, recordedAt(25, 3));
      expect(numbersIn(log)).toEqual(expect.arrayContaining(upTo(30, 6)));
      await log.close();
    },
  );

  it('a log of a process that was killed keeps its position where one of the two places of it is damaged', async () => {
    await killed();
    const bytes = await readFile(join(dataDir, POSITION));
    for (let bit = 0; bit < bytes.length * 8; bit += 13) {
      const at = Math.floor(bit / 8);
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (bit % 8));
      await writeFile(join(dataDir, POSITION), changed);
      const found = await findLog(dataDir, recordedAt(25, 3));
      expect(found.damage, `bit ${bit}`).toBeNull();
    }
  });

  it('a log of a process that was killed keeps what a damaged one had in a directory beside it', async () => {
    await killed();
    const [first = ''] = await segments();
    await truncate(first, 100);
    await (await openLog(dataDir, recordedAt(25, 3))).close();
    const aside = (await readdir(dataDir)).filter((name) => name.startsWith('event-log-damaged-'));
    expect(aside).toHaveLength(1);
    expect(await readdir(join(dataDir, aside[0] ?? '', 'event-log'))).toHaveLength(3);
  });
});

describe('a log that was closed', () => {
  it('a log that was closed may be gone when ClickHouse has all of it, and must not be otherwise', async () => {
    await killed();
    const closed = { ...recordedAt(30, 5), isOpen: false };
    await rm(join(dataDir, 'event-log'), { recursive: true });
    await rm(join(dataDir, POSITION));
    expect((await findLog(dataDir, closed)).damage).toEqual({ name: '6-30', rows: 25 });
    const stored = { ...recordedAt(30, 30), isOpen: false };
    expect((await findLog(dataDir, stored)).damage).toBeNull();
    const log = await openLog(dataDir, stored);
    await append(log, 31, 31);
    await log.close();
  });

  it('a log that was closed has no bytes of events when ClickHouse has all of them', async () => {
    const log = await openLog(dataDir);
    await append(log, 1, 20);
    await log.removeUpTo(20);
    await log.close();
    for (const path of await segments()) expect((await stat(path)).size).toBe(0);
  });
});

describe('a failed append', () => {
  it('a failed append leaves nothing that counts: the next record has its number', async () => {
    const log = await openLog(dataDir);
    await append(log, 1, 3);
    // No file can be opened in a directory that is gone.
    await log.removeUpTo(3);
    await log.close();
    const again = await openLog(dataDir);
    await rm(join(dataDir, 'event-log'), { recursive: true });
    await expect(again.append(contentOf(4), 1)).rejects.toThrow();
    await mkdir(join(dataDir, 'event-log'));
    await append(again, 4, 5);
    expect(numbersIn(again)).toEqual([4, 5]);
    await again.close();
  });
});

describe('a log of an earlier version', () => {
  const older = () => join(dataDir, 'event-log', 'data.mdb');
  const frozen = join(import.meta.dirname, '../frozen/event-log.mdb.gz');
  /** 40 batches, of which three were removed; every seventh one large. */
  const COUNTS = upTo(40)
    .map((batch) => (batch % 7 === 0 ? 30 : 1 + (batch % 3)))
    .filter((_, index) => ![2, 3, 14].includes(index + 1));

  beforeEach(async () => {
    await mkdir(join(dataDir, 'event-log'));
    await writeFile(older(), gunzipSync(await readFile(frozen)));
    await writeFile(join(dataDir, 'event-log', 'lock.mdb'), Buffer.alloc(100));
  });

  it('a log of an earlier version is taken up in whole and in order, and is no longer there', async () => {
    const log = await openLog(dataDir);
    expect([...log.entries()].map(({ count }) => count)).toEqual(COUNTS);
    expect(Buffer.concat([...log.entries()].map(({ rows }) => rows)).length).toBe(54_787);
    await log.close();
    expect((await readdir(join(dataDir, 'event-log'))).filter((name) => name.endsWith('.mdb'))).toEqual([]);
    expect((await findLog(dataDir)).damage).toBeNull();
  });

  it('a log of an earlier version is taken up again where the process was killed before it was', async () => {
    const copy = await createTestDirectory();
    await cp(dataDir, copy, { recursive: true });
    await (await openLog(dataDir)).close();
    // Everything is written but the position, which comes last.
    await rm(join(dataDir, POSITION));
    await cp(older().replace(dataDir, copy), older());
    const log = await openLog(dataDir);
    expect([...log.entries()].map(({ count }) => count)).toEqual(COUNTS);
    await log.close();
  });

  // Without the file, nothing tells that a log of an earlier version was there.
  it.each(DAMAGES.slice(1))(
    'a log of an earlier version is whole, or damaged, where it %s',
    async (how, damage) => {
      await damage(older());
      const found = await findLog(dataDir);
      // Its last page is a free one.
      const isWhole = how === 'is shorter by a byte' || how === 'is shorter by a page';
      if (isWhole && found.damage === null) expect(found.older.map(({ count }) => count)).toEqual(COUNTS);
      else expect(found.damage).toEqual({ name: 'data.mdb', rows: null });
      await (await openLog(dataDir)).close();
    },
  );

  it('a log of an earlier version is read to an end, and never with an event that is none, whatever bytes of it are changed', async () => {
    const whole = await readFile(older());
    let noticed = 0;
    for (let at = 5; at < whole.length; at += 257) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0xff;
      await writeFile(older(), changed);
      const { damage, older: records } = await findLog(dataDir);
      expect(records.length).toBeLessThanOrEqual(COUNTS.length);
      if (damage === null) expect(records.map(({ count }) => count)).toEqual(COUNTS);
      else noticed += 1;
    }
    expect(noticed).toBeGreaterThan(0);
  });
});
