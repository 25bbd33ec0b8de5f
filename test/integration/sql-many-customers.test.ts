/** Queries across very many customers: the text of a statement does not grow with them, and its answer is right. */
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { queryRows } from '../../src/billing/sql/run-query.ts';
import type { ClickHouse, StreamedSelect } from '../../src/metering/client/clickhouse.ts';
import { readBatchWatermark, readPresentRefs, readUsageBatch } from '../../src/metering/query/usage-batch.ts';
import { billingContext } from '../support/billing-context.ts';
import { clickhouseForFile, databaseForFile } from '../support/file-fixtures.ts';
import { storeEvents } from '../support/usage-events.ts';

/** Their ids and aliases are 2 MB of text: twice what ClickHouse takes for a constant. */
const CUSTOMERS = 30_000;
const EVENTS = 600;
const START = Date.UTC(2026, 10, 1);
const RANGE = { start: START, end: Date.UTC(2026, 11, 1) };

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const clickhouse = await clickhouseForFile();
const { db } = await databaseForFile();

const idOf = (index: number) => `c0000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
const aliasOf = (index: number) => `an-alias-of-a-customer-${index}`;
/** Half of the events name the id, half the alias. */
const owners = Array.from({ length: EVENTS }, (_, event) => (event * 7_919) % CUSTOMERS);

beforeAll(async () => {
  await db.execute(sql`
    insert into customers (id, name, created_at, updated_at)
    select ('c0000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Customer ' || n, now(), now()
    from generate_series(0, ${CUSTOMERS - 1}::int) as n`);
  await db.execute(sql`
    insert into ingest_aliases (alias, customer_id, position)
    select 'an-alias-of-a-customer-' || n, ('c0000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 0
    from generate_series(0, ${CUSTOMERS - 1}::int) as n`);
  const stored = owners.map((owner, event) => ({
    transactionId: `t-${event}`,
    customerRef: event % 2 === 0 ? idOf(owner) : aliasOf(owner),
    eventType: 'call',
    timestamp: START + event * 1_000,
    properties: { tokens: String(event) },
    ingestedAt: START * 1_000 + event,
  }));
  await storeEvents(clickhouse, [
    ...stored,
    { ...stored[0], transactionId: 'of-nobody', customerRef: 'nobody' },
  ] as never);
});

/** The same ClickHouse, and the statements that it gets. */
function recorded(): { readonly asked: ClickHouse; readonly texts: string[] } {
  const texts: string[] = [];
  const note = ({ sql: statement, params = {} }: Pick<StreamedSelect, 'sql' | 'params'>) =>
    texts.push(statement + JSON.stringify(params));
  const asked: ClickHouse = {
    ...clickhouse,
    query: (query) => {
      note(query);
      return clickhouse.query(query);
    },
    queryStream: (query) => {
      note(query);
      return clickhouse.queryStream(query);
    },
  };
  return { asked, texts };
}

async function rowsOf(asked: ClickHouse, question: string): Promise<unknown[]> {
  const clock = { now: () => Date.parse('2026-11-20T00:00:00Z') };
  const context = billingContext({ db, clickhouse: asked, clock });
  const { rows } = await queryRows(context, { sql: question });
  const all: unknown[] = [];
  for await (const part of rows) all.push(...part);
  return all;
}

describe('over very many customers', () => {
  it('a query answers with the customer of each event, in a statement that does not name them', async () => {
    const { asked, texts } = recorded();
    const rows = await rowsOf(
      asked,
      'SELECT customer_id, COUNT(*) AS number, SUM(properties.tokens) AS tokens FROM events GROUP BY customer_id ORDER BY customer_id',
    );
    const expected = new Map<string, { events: number; tokens: number }>();
    for (const [event, owner] of owners.entries()) {
      const before = expected.get(idOf(owner)) ?? { events: 0, tokens: 0 };
      expected.set(idOf(owner), { events: before.events + 1, tokens: before.tokens + event });
    }
    expect(rows).toEqual(
      [...expected]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, { events, tokens }]) => [id, String(events), String(tokens)]),
    );
    expect(texts.length).toBeGreaterThan(0);
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(10_000);
  });

  it('a query joins events with the customers themselves', async () => {
    const { asked, texts } = recorded();
    const rows = await rowsOf(
      asked,
      'SELECT COUNT(*) AS number, COUNT(DISTINCT c.name) AS names FROM events e JOIN customers c ON c.customer_id = e.customer_id',
    );
    expect(rows).toEqual([[String(EVENTS), String(new Set(owners).size)]]);
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(10_000);
  });

  it('usage of all of them is read by statements of a bounded length, and is what one would have said', async () => {
    const { asked, texts } = recorded();
    const customers = Array.from({ length: CUSTOMERS }, (_, index) => ({
      customerId: idOf(index),
      refs: [idOf(index), aliasOf(index)],
    }));
    const windows = await readUsageBatch(asked, {
      metric: {
        ...{ id: idOf(1), name: 'Calls', kind: 'streaming', archivedAt: null, aggregation: 'COUNT' },
        ...{ aggregationKey: null, eventTypeFilter: null, propertyFilters: [], groupKeys: [] },
      },
      customers,
      range: RANGE,
      windowSize: 'NONE',
      groupBy: null,
      ingestedUpTo: null,
      rowsMax: 1_000_000,
    } as Parameters<typeof readUsageBatch>[1]);
    const counts = new Map(windows.map(({ customerId, value }) => [customerId, value.toFixed()]));
    const expected = new Map<string, number>();
    for (const owner of owners) expected.set(idOf(owner), (expected.get(idOf(owner)) ?? 0) + 1);
    expect(counts).toEqual(new Map([...expected].map(([id, count]) => [id, String(count)])));
    const refs = customers.flatMap((customer) => customer.refs);
    expect((await readPresentRefs(asked, refs, RANGE)).sort()).toEqual(
      [...new Set(owners.map((owner, event) => (event % 2 === 0 ? idOf(owner) : aliasOf(owner))))].sort(),
    );
    expect(await readBatchWatermark(asked, refs, RANGE)).toBe(String(START * 1_000 + EVENTS - 1));
    // A list stands in a statement up to three times.
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(1_300_000);
  });
});
