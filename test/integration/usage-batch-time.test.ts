/** `POST /v1/usage` with SQL metrics, which are a query for each customer: what a page costs, and its limit of time. */
import { beforeAll, expect, it } from 'vitest';
import { type UsageBatchCursor, usageBatch } from '../../src/billing/usage/usage-batch.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { billingContext } from '../support/billing-context.ts';
import { createdId, METRICS } from '../support/catalogue-api.ts';
import { catalogueForFile, clickhouseForFile } from '../support/file-fixtures.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();
const { pool, api } = await catalogueForFile({ clickhouse });

const CUSTOMERS = 12;
const REQUEST = {
  customerIds: null,
  metrics: null,
  windowSize: 'DAY',
  range: { start: Date.UTC(2026, 10, 3), end: Date.UTC(2026, 10, 5) },
  limit: 5_000,
} as const;

beforeAll(async () => {
  for (let index = 0; index < CUSTOMERS; index += 1) {
    await createdId(api, '/v1/customers', { name: `c${index}`, ingest_aliases: [`c${index}`] });
  }
  for (const sql of [
    'SELECT sum(properties.tokens) AS value FROM events',
    'SELECT count(*) AS value FROM events',
  ]) {
    await createdId(api, METRICS, { name: sql, sql });
  }
  await storeEvents(clickhouse, [
    {
      transactionId: 't',
      customerRef: 'c3',
      eventType: 'completion',
      timestamp: Date.UTC(2026, 10, 3),
      properties: { tokens: '7' },
      ingestedAt: Date.UTC(2026, 10, 20) * 1_000,
    },
  ]);
});

/** Runs of queries over the events of customers, the checks of their texts not counted. */
function counted() {
  const queries: string[] = [];
  const query: ClickHouse['query'] = (asked) => {
    if (asked.lane === 'analysis') queries.push(asked.sql);
    return clickhouse.query(asked);
  };
  return { context: billingContext({ db: pool.db, clickhouse: { ...clickhouse, query } }), queries };
}

it('customers without events share one evaluation of each metric', async () => {
  const { context, queries } = counted();
  const { rows, next } = await usageBatch(context, { ...REQUEST, after: null });
  expect(next).toBeNull();
  expect(rows).toHaveLength(CUSTOMERS * 2 * 2);
  expect(
    rows.filter(({ value }) => value !== null && !value.eq('0')).map(({ value }) => value?.toFixed()),
  ).toEqual(expect.arrayContaining(['7', '1']));
  // Two of the customer with events, and two of all others.
  expect(queries).toHaveLength(4);
});

it('a page ends with what is measured when its time is over, and the pages are the whole', async () => {
  const whole = await usageBatch(billingContext({ db: pool.db, clickhouse }), { ...REQUEST, after: null });
  const rows: (typeof whole.rows)[number][] = [];
  let pages = 0;
  for (
    let after: UsageBatchCursor | null = null, isFirst = true;
    isFirst || after !== null;
    isFirst = false
  ) {
    const page = await usageBatch(billingContext({ db: pool.db, clickhouse }), { ...REQUEST, after }, 0);
    expect(page.rows.length).toBeGreaterThan(0);
    rows.push(...page.rows);
    pages += 1;
    after = page.next;
  }
  expect(pages).toBeGreaterThan(1);
  expect(rows).toEqual(whole.rows);
});
