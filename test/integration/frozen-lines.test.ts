/** The hours of the invoices of a run are written in parts, while invoices are computed. */
import { expect, test } from 'vitest';
import { Decimal } from '../../src/core/decimal.ts';
import { newId } from '../../src/core/ids.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createFrozenLinesWriter, readFrozenLines } from '../../src/metering/frozen-lines/frozen-lines.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const { clickhouse } = await serviceForFile();

const START = Date.UTC(2026, 10, 1);
const HOURS = 720;
const MONTH = { start: START, end: START + HOURS * HOUR_MS };

/** Some 45 KB of text. */
const LONG = Array.from({ length: HOURS }, (_, hour) => ({
  window: { start: START + hour * HOUR_MS, end: START + (hour + 1) * HOUR_MS },
  quantity: new Decimal(`${hour}.00000000000000000001`),
  total: new Decimal(`-${hour}.123456789012345678901234`),
}));
/** Together more than two inserts take. */
const INVOICES = 200;

/** ClickHouse with another way to insert, which may call the first. */
function inserting(insertRows: (insert: () => Promise<void>) => Promise<void>): ClickHouse {
  return { ...clickhouse, insertRows: (rows) => insertRows(() => clickhouse.insertRows(rows)) };
}

test('lines of several inserts come back whole, and one insert runs at a time', async () => {
  let running = 0;
  let inserts = 0;
  const writer = createFrozenLinesWriter(
    inserting(async (insert) => {
      running += 1;
      inserts += 1;
      expect(running).toBe(1);
      await insert();
      running -= 1;
    }),
  );
  const ids = Array.from({ length: INVOICES }, newId);
  for (const [index, id] of ids.entries()) {
    await writer.add(id, [{ position: 0, hours: LONG }]);
    await writer.add(id, [
      { position: 1, hours: [] },
      { position: 2, hours: LONG.slice(index, index + 1) },
    ]);
  }
  await writer.finish();
  expect(running).toBe(0);
  expect(inserts).toBeGreaterThan(2);
  for (const index of [0, 99, INVOICES - 1]) {
    const id = ids[index] ?? '';
    const found = (await readFrozenLines(clickhouse, [id], MONTH)).get(id);
    expect(found).toEqual([
      ...LONG.map((hour) => ({ position: 0, ...hour })),
      { position: 2, ...LONG[index] },
    ]);
  }
});

test('numbers of every length come back with all digits, at the last line and hour that there can be', async () => {
  const texts = ['0', '-1', '-0.000000000000000000001', `-0.${'1'.repeat(129)}`, `${'9'.repeat(200)}.5`];
  const end = Date.UTC(2106, 0, 1);
  const hours = texts.map((text, index) => {
    const start = end - (texts.length - index) * HOUR_MS;
    const [quantity, total] = [new Decimal(text), new Decimal(texts.at(-1 - index) ?? '')];
    return { window: { start, end: start + HOUR_MS }, quantity, total };
  });
  const line = { position: 2 ** 32 - 2, hours };
  const id = newId();
  const writer = createFrozenLinesWriter(clickhouse);
  await writer.add(id, [line]);
  await writer.finish();
  const found = await readFrozenLines(clickhouse, [id], { start: START, end });
  expect(found.get(id)).toEqual(hours.map((hour) => ({ position: line.position, ...hour })));
});

test('an insert that fails is reported, whether the last one or an earlier one', async () => {
  const broken = new Error('the disk is full');
  const failing = inserting(() => Promise.reject(broken));
  const short = createFrozenLinesWriter(failing);
  await short.add(newId(), [{ position: 0, hours: LONG }]);
  await expect(short.finish()).rejects.toBe(broken);

  const long = createFrozenLinesWriter(failing);
  const all = async () => {
    for (let index = 0; index < INVOICES; index += 1) await long.add(newId(), [{ position: 0, hours: LONG }]);
  };
  await expect(all()).rejects.toBe(broken);
});

test('where no line has hours nothing is inserted', async () => {
  let inserts = 0;
  const writer = createFrozenLinesWriter(
    inserting(async () => {
      inserts += 1;
    }),
  );
  await writer.add(newId(), [{ position: 0, hours: [] }]);
  await writer.finish();
  expect(inserts).toBe(0);
});
