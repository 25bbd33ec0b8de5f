/** Statements that are built once do what the same statement of Drizzle does, wherever they are carried out. */
import { asc, eq, sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { newId } from '../../src/core/ids.ts';
import { builtOnce, rowInsertion } from '../../src/store/base/built-once.ts';
import type { Transaction } from '../../src/store/base/database.ts';
import { customerChanges } from '../../src/store/customers/customer-changes.tables.ts';
import { billableMetrics } from '../../src/store/metrics/billable-metrics.tables.ts';
import { databaseForFile } from '../support/file-fixtures.ts';

const { db } = await databaseForFile();

const note = rowInsertion(customerChanges, ['customerId']);
const notesOf = builtOnce((on) =>
  on
    .select({ customerId: customerChanges.customerId })
    .from(customerChanges)
    .where(eq(customerChanges.customerId, sql.placeholder('customerId')))
    .orderBy(asc(customerChanges.id))
    .prepare(''),
);

test('a statement that is built once is part of the transaction that it is given, of several at once too', async () => {
  const [kept, undone] = [newId(), newId()];
  let release = () => {};
  const both = new Promise<void>((resolve) => {
    release = resolve;
  });
  const failed = db.transaction(async (tx: Transaction) => {
    await note(tx, { customerId: undone });
    await both;
    expect(await notesOf(tx, { customerId: undone })).toHaveLength(1);
    throw new Error('rolled back');
  });
  await db.transaction(async (tx) => {
    await note(tx, { customerId: kept });
    release();
    await expect(failed).rejects.toThrow('rolled back');
    expect(await notesOf(tx, { customerId: undone })).toEqual([]);
    expect(await notesOf(db, { customerId: kept })).toEqual([]);
  });
  expect(await notesOf(db, { customerId: kept })).toEqual([{ customerId: kept }]);
});

const addMetric = rowInsertion(billableMetrics, [
  ...(['id', 'kind', 'name', 'eventTypeFilter', 'propertyFilters', 'groupKeys', 'createdAt'] as const),
  ...(['archivedAt', 'aggregation', 'sql', 'aggregationKey'] as const),
]);

test('it stores values as their columns do, and null as nothing, also where the column has JSON', async () => {
  const row = {
    id: newId(),
    kind: 'streaming' as const,
    name: 'Calls',
    eventTypeFilter: null,
    propertyFilters: [{ name: 'a', exists: true }],
    aggregation: 'COUNT' as const,
    aggregationKey: null,
    groupKeys: [['user']],
    sql: null,
    createdAt: Date.UTC(2026, 10, 1),
    archivedAt: null,
  };
  await addMetric(db, row);
  const stored = await db.select().from(billableMetrics).where(sql`event_type_filter is null`);
  expect(stored.filter(({ id }) => id === row.id)).toEqual([row]);
});

test('a value that is missing is refused before anything is sent', async () => {
  await expect(notesOf(db, {})).rejects.toThrow();
});
