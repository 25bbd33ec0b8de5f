/**
 * The first queries of an analyst, over all customers: time, zones, truth, ratios, drafts, repeats, and suggestions.
 */
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { queryRows } from '../../src/billing/sql/run-query.ts';
import { billingContext } from '../support/billing-context.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { applyPostgresScript } from '../support/published-balances.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T14:30:15.250Z' });
const { api } = service;
let scenario: Scenario;

beforeAll(async () => {
  scenario = await createScenario(api, { alias: 'analyst' });
  const event = completion('analyst', { id: 'a-1', at: '2026-11-09T03:30:00Z', tokens: 100 });
  await api.post('/v1/ingest', [
    event,
    completion('analyst', { id: 'a-2', at: '2026-11-01T12:00:00Z', tokens: 50 }),
  ]);
  await api.post('/v1/ingest', [{ ...event, timestamp: '2026-11-09T04:00:00Z' }]);
});

type Row = Readonly<Record<string, unknown>>;
const rowsOf = async (text: string) => (await api.post('/v1/sql', { sql: text })).list('data') as Row[];

async function cellOf(expression: string, from = ''): Promise<unknown> {
  const [row] = await rowsOf(`SELECT ${expression} AS v ${from}`);
  return row?.v;
}

describe('the time', () => {
  test.each([
    ['now()', '2026-11-10T14:30:15.250Z'],
    ['NOW()', '2026-11-10T14:30:15.250Z'],
    ['CURRENT_TIMESTAMP', '2026-11-10T14:30:15.250Z'],
    ['today()', '2026-11-10T00:00:00.000Z'],
    ['CURRENT_DATE', '2026-11-10T00:00:00.000Z'],
    ['yesterday()', '2026-11-09T00:00:00.000Z'],
    ['now() - INTERVAL 1 DAY', '2026-11-09T14:30:15.250Z'],
    ["now() + INTERVAL '2 months'", '2027-01-10T14:30:15.250Z'],
    ['subtractDays(now(), 2 * 2)', '2026-11-06T14:30:15.250Z'],
    ['addHours(now(), 10)', '2026-11-11T00:30:15.250Z'],
    ["DATE_DIFF('hour', toDateTime('2026-11-10'), now())", 14],
    ["toHour(now(), 'America/New_York')", 9],
    ["EXTRACT(hour FROM now() AT TIME ZONE 'America/New_York')", 9],
    ["toDayOfMonth(toDateTime('2026-11-10 02:00:00'), 'America/New_York')", 9],
    ["toStartOfDay(now(), 'America/New_York')", '2026-11-10T05:00:00.000Z'],
    ["DATE_TRUNC('day', toDateTime('2026-07-10 02:00:00'), 'America/New_York')", '2026-07-09T04:00:00.000Z'],
    ["toStartOfHour(now(), 'Asia/Kolkata')", '2026-11-10T14:30:00.000Z'],
    ["toStartOfMonth(now(), 'Pacific/Auckland')", '2026-10-31T11:00:00.000Z'],
    ["formatDateTime(now(), '%Y-%m-%d %H', 'Asia/Tokyo')", '2026-11-10 23'],
    ["toDateTime('2026-11-20 08:00:00')", '2026-11-20T08:00:00.000Z'],
    ["toDateTime('2026-11-20T08:00:00+01:00')", '2026-11-20T07:00:00.000Z'],
    ["toDateTime('2026-07-20 08:00:00', 'Europe/Zurich')", '2026-07-20T06:00:00.000Z'],
    ['toDateTime(1767225600)', '2026-01-01T00:00:00.000Z'],
    ['toDateTime(1767225600.5)', '2026-01-01T00:00:00.500Z'],
    ['toDateTime(1000000000000)', null],
  ])('%s', async (expression, expected) => {
    expect(await cellOf(expression)).toEqual(expected);
  });

  test('the time is that of the sandbox clock, also after it was moved', async () => {
    const clock = { now: () => Date.parse('2027-01-01T00:00:00Z') };
    const context = billingContext({ db: service.db, clickhouse: service.clickhouse, clock });
    const other = await queryRows(context, { sql: 'SELECT now() AS v' });
    const rows = [];
    for await (const part of other.rows) rows.push(...part);
    expect(rows).toEqual([['2027-01-01T00:00:00.000Z']]);
  });

  test('the time goes with columns', async () => {
    expect(
      await rowsOf(`SELECT transaction_id, toHour(timestamp, 'America/New_York') AS h, timestamp + INTERVAL 1 DAY AS later
        FROM events WHERE timestamp >= now() - INTERVAL 2 DAY`),
    ).toEqual([{ transaction_id: 'a-1', h: 22, later: '2026-11-10T03:30:00.000Z' }]);
  });

  test('the time is not for metrics, whose usage stays the same', async () => {
    for (const text of ['now()', 'CURRENT_DATE', 'today()']) {
      const answer = await api.send('POST', '/v1/billable-metrics/create', {
        name: 'Recent',
        sql: `SELECT COUNT(*) AS value FROM events WHERE timestamp > ${text}`,
      });
      expect([answer.status, answer.text('message')]).toEqual([
        400,
        expect.stringContaining('is not available in a metric, whose usage must be the same'),
      ]);
    }
  });
});

describe('truth', () => {
  test.each([
    ['(1 = 1) IS TRUE', true],
    ['(1 = 2) IS TRUE', false],
    ['(NULL = 1) IS TRUE', false],
    ['(NULL = 1) IS NOT TRUE', true],
    ['(1 = 2) IS FALSE', true],
    ['(NULL = 1) IS FALSE', false],
    ['(NULL = 1) IS NOT FALSE', true],
  ])('%s is %s', async (expression, expected) => {
    expect(await cellOf(expression)).toBe(expected);
  });

  test('the truth of columns filters rows', async () => {
    expect(await rowsOf('SELECT name FROM customers WHERE (archived_at IS NULL) IS TRUE')).toHaveLength(1);
    expect(await rowsOf('SELECT name FROM customers WHERE (archived_at IS NULL) IS FALSE')).toEqual([]);
  });
});

describe('a ratio of two queries', () => {
  const tokens = (where: string) => `(SELECT SUM(properties.tokens) FROM events WHERE ${where})`;

  test('a ratio of two queries needs no FROM', async () => {
    const ratio = `${tokens("timestamp >= '2026-11-05'")} / ${tokens("timestamp < '2026-11-05'")}`;
    expect(await cellOf(ratio)).toBe(2);
    expect(await cellOf(`${tokens("event_type = 'nothing'")} / ${tokens('TRUE')}`)).toBe(null);
  });

  test('a ratio of two queries is a metric too', async () => {
    const preview = await api.post('/v1/billable-metrics/preview', {
      customer_id: scenario.customerId,
      sql: `SELECT ${tokens("timestamp >= '2026-11-05'")} / ${tokens("timestamp < '2026-11-05'")} AS value`,
      starting_on: '2026-11-01T00:00:00Z',
      ending_before: '2026-11-10T00:00:00Z',
      window_size: 'NONE',
    });
    expect(preview.digits('data[0].value')).toBe('2');
  });

  test('a metric without any query is refused as before', async () => {
    const answer = await api.send('POST', '/v1/billable-metrics/create', {
      name: 'One',
      sql: 'SELECT 1 AS value',
    });
    expect([answer.status, answer.text('message')]).toEqual([400, expect.stringContaining('FROM')]);
  });
});

describe('the views', () => {
  test('events have the time of their ingestion, and repeats are in a separate view', async () => {
    const [event] = await rowsOf(`SELECT ingested_at, ingested_at <= now() + INTERVAL 100 YEARS AS known
      FROM events WHERE transaction_id = 'a-1'`);
    expect(event).toEqual({
      ingested_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
      known: true,
    });
    expect(
      await rowsOf('SELECT customer_id, transaction_id, timestamp, received_at FROM event_repeats'),
    ).toEqual([
      {
        customer_id: scenario.customerId,
        transaction_id: 'a-1',
        timestamp: '2026-11-09T04:00:00.000Z',
        received_at: '2026-11-10T14:30:15.250Z',
      },
    ]);
  });

  test('drafts are those of the API', async () => {
    const drafts = await api.get('/v1/invoices', { query: { status: 'DRAFT' } });
    const rows =
      await rowsOf(`SELECT d.invoice_id AS invoice_id, d.status AS status, d.total AS total, c.name AS name, d.warning_count AS w
      FROM drafts d JOIN customers c ON d.customer_id = c.customer_id`);
    expect(rows).toEqual([
      {
        invoice_id: drafts.text('data[0].id'),
        status: 'DRAFT',
        total: Number(drafts.digits('data[0].total')),
        name: 'analyst',
        w: 0,
      },
    ]);
    expect(
      await rowsOf(`SELECT total FROM drafts WHERE customer_id = '${scenario.customerId}'`),
    ).toHaveLength(1);
  });

  test('drafts beyond the limit of a query are refused in words', async () => {
    const clock = { now: () => Date.parse('2026-11-10T00:00:00Z') };
    const context = billingContext({ db: service.db, clickhouse: service.clickhouse, clock });
    const limits = { drafts: { drafts: 0, milliseconds: 1_000 } };
    const { rows } = await queryRows(context, { sql: 'SELECT total FROM drafts', limits });
    await expect(rows.next()).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('the query would take more than 0 drafts: name customers'),
    });
  });

  test('status is that of the API, and its earlier name stays', async () => {
    await service.moveClock('2026-12-05T00:00:00Z');
    expect(await rowsOf('SELECT status, invoice_status FROM invoices')).toEqual([
      { status: 'FINALIZED', invoice_status: 'FINALIZED' },
    ]);
    expect(await rowsOf("SELECT COUNT(*) AS n FROM invoice_lines WHERE status <> 'FINALIZED'")).toEqual([
      { n: 0 },
    ]);
  });

  test('the views: on PostgreSQL itself times are timestamps and amounts are numerics', async () => {
    for (let time = 0; time < 2; time += 1) await applyPostgresScript(service.connection);
    const types = await service.db.execute(sql`
      select table_name, column_name, data_type from information_schema.columns
      where table_schema = 'analysts_postgres' and (column_name like '%\_at' or (column_name like '%total' and column_name <> 'counts_in_total')
        or column_name in ('ending_before', 'start_timestamp', 'end_timestamp', 'as_of', 'balance', 'quantity'))`);
    expect(types.length).toBeGreaterThan(15);
    for (const { column_name: name, data_type: type } of types) {
      const isAmount = /total$|balance|quantity/.test(String(name));
      expect([name, type]).toEqual([name, isAmount ? 'numeric' : 'timestamp with time zone']);
    }
    const [invoice] = await service.db.execute(sql`
      select issued_at = '2026-12-02T00:00:00Z' as issued, total > 0 as total, status from analysts_postgres.invoices`);
    expect(invoice).toEqual({ issued: true, total: true, status: 'FINALIZED' });
  });
});

describe('a suggestion is near', () => {
  test.each([
    ['SELECT pov(2, 3) AS v', /pov is not available; GET/],
    ['SELECT roundd(2) AS v', /did you mean ROUND\?/],
    ['SELECT id AS v FROM invoices', /id is not a column of invoices; available are/],
    ['SELECT totals AS v FROM invoices', /did you mean total\?/],
  ])('%s', async (text, message) => {
    const answer = await api.send('POST', '/v1/sql', { sql: text });
    expect([answer.status, answer.text('message')]).toEqual([400, expect.stringMatching(message)]);
  });
});
