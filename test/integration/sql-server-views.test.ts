/**
 * The views for clients of a ClickHouse server (deploy/analysts-*.sql), with ClickHouse's own client of PostgreSQL: they
 * have the rows that POST /v1/sql answers.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { FIAT_CREDIT_TYPES } from '../../src/core/credit-types.ts';
import { VIEW_NAMES, type ViewName, viewColumns } from '../../src/metering/sql/values/views.ts';
import { connectPostgres } from '../../src/store/postgres-driver/connect-postgres.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { applyPostgresScript, publishedRows } from '../support/published-balances.ts';
import { completion, createScenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-12T00:00:00Z' });
const { api, clickhouse, connection } = service;
const analysts = `analysts_${process.pid}`;
const collection = `postgres_${process.pid}`;

beforeAll(async () => {
  const first = await createScenario(api, { alias: 'view-first' });
  const second = await createScenario(api, { alias: 'view-second' });
  const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Credit',
    type: 'FIXED',
  });
  await createdId(api, '/v1/contracts/customerCredits/create', {
    ...{ customer_id: first.customerId, priority: 1, product_id, name: 'Welcome' },
    access_schedule: {
      credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2',
      schedule_items: [
        { amount: 10, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' },
      ],
    },
  });
  const event = completion('view-first', { id: 'v-1', at: '2026-11-02T10:00:00Z', tokens: '1000.25' });
  await api.post('/v1/ingest', [
    event,
    completion('view-first', { id: 'v-2', at: '2026-11-09T10:30:00Z', tokens: 500, model: 'small' }),
    completion(second.customerId, { id: 'v-3', at: '2026-11-03T11:00:00Z', tokens: 70 }),
    completion('view-nobody', { id: 'v-4', at: '2026-11-03T11:00:00Z', tokens: 1_000_000 }),
  ]);
  await api.post('/v1/ingest', [event]);
  await createHolds(second.customerId);
  await service.moveClock('2026-12-05T00:00:00Z');
  // Twice, as after an upgrade.
  for (let time = 0; time < 2; time += 1) await createViews();
  // The service looks every ten seconds whether anybody reads balances.
  const isPublished = async () => (await publishedRows(service.db)).length > 0;
  await vi.waitUntil(isPublished, { timeout: 120_000, interval: 100 });
});

afterAll(async () => {
  await clickhouse.command(`DROP DATABASE ${analysts}`);
  await clickhouse.command(`DROP NAMED COLLECTION ${collection}`);
});

/** A hold of each kind that does not depend on a clock. */
async function createHolds(customer_id: string): Promise<void> {
  const { credit_type_id, amount } = { credit_type_id: FIAT_CREDIT_TYPES[0]?.id, amount: 1.5 };
  const { event_type, properties } = completion('view-first', { id: '', at: '', tokens: 3 });
  const holds = [
    { customer_id, transaction_id: 'v-5', event: { event_type, properties } },
    { customer_id, transaction_id: 'v-6', amount, credit_type_id },
  ];
  const granted = (await api.post('/v1/holds/reserve', { holds })).list('data');
  expect(granted).toMatchObject([{ granted: true }, { granted: true }]);
  await api.post('/v1/holds/settle', { settlements: [{ transaction_id: 'v-5' }] });
  await api.post('/v1/holds/release', { holds: [{ transaction_id: 'v-6' }] });
}

/** ClickHouse's client of PostgreSQL takes the directory of a socket for a host. */
function embeddedConnection() {
  if ('url' in connection) throw new Error('the tests have a PostgreSQL of their own');
  return connection;
}

async function createViews(): Promise<void> {
  await applyPostgresScript(connection);
  const { socketDir, user, database } = embeddedConnection();
  await clickhouse.command(`CREATE NAMED COLLECTION IF NOT EXISTS ${collection} AS
    host = '${socketDir}', port = 5432, database = '${database}', user = '${user}', password = ''`);
  const [own] = await clickhouse.query({
    sql: 'SELECT currentDatabase() AS name',
    schema: z.object({ name: z.string() }),
  });
  const file = new URL('../../deploy/analysts-clickhouse.sql', import.meta.url);
  const script = (await readFile(file, 'utf8'))
    .replaceAll(/^--.*\n/gm, '')
    .replaceAll('tallyhouse_postgres', collection)
    .replaceAll('tallyhouse.', `${own?.name}.`)
    .replaceAll(/\banalysts\.(?=\w+ DEFINER)/g, `${analysts}.`)
    .replace('IF NOT EXISTS analysts', `IF NOT EXISTS ${analysts}`);
  const statements = script.split(/;\n/).filter((statement) => statement.trim() !== '');
  for (const statement of statements) await clickhouse.command(statement);
}

type Row = Readonly<Record<string, unknown>>;

/** Numbers as texts, lists of groups without the spaces of PostgreSQL; in one order. */
function comparable(view: ViewName, rows: readonly Row[]): string[] {
  const columns = columnsOf(view);
  const shown = (value: unknown, type: string) => {
    if (value === null || value === undefined) return null;
    return type === 'text' && String(value).startsWith('{') ? JSON.parse(String(value)) : String(value);
  };
  return rows
    .map((row) => JSON.stringify(columns.map(({ name, type }) => shown(row[name], type))))
    .toSorted();
}

/** A line is named by its invoice and position instead of its id. */
function columnsOf(view: ViewName) {
  return viewColumns(view).filter(({ name }) => name !== 'line_id');
}

/** A column as POST /v1/sql shows it. */
function shownSql({ name, type }: { name: string; type: string }): string {
  if (type === 'timestamp') return `concat(replaceOne(toString(${name}), ' ', 'T'), 'Z') AS ${name}`;
  return type === 'text' ? name : `toString(${name}) AS ${name}`;
}

/** Others are computed by the service, or only there. */
const SERVER_VIEWS = [
  ...['events', 'customers', 'contracts', 'invoices', 'invoice_lines', 'invoice_hours', 'balances', 'holds'],
].filter((name) => VIEW_NAMES.some((each) => each === name)) as ViewName[];

test.each(SERVER_VIEWS)('%s has the rows of the API', async (view) => {
  const names = columnsOf(view).map(({ name }) => name);
  const asked = (await api.post('/v1/sql', { sql: `SELECT ${names.join(', ')} FROM ${view}` })).list('data');
  const read = await clickhouse.query({
    sql: `SELECT * REPLACE (${columnsOf(view)
      .map((column) => shownSql(column))
      .map((sql) => (sql.includes(' AS ') ? sql : `${sql} AS ${sql}`))
      .join(', ')}) FROM ${analysts}.${view}`,
    schema: z.record(z.string(), z.unknown()),
  });
  expect(asked.length).toBeGreaterThan(0);
  expect(comparable(view, read)).toEqual(comparable(view, asked as Row[]));
});

test('balances say for each row as of when they are', async () => {
  const rows = await clickhouse.query({
    sql: `SELECT DISTINCT toString(as_of) AS as_of FROM ${analysts}.balances`,
    schema: z.object({ as_of: z.string() }),
  });
  expect(rows).toEqual([{ as_of: '2026-12-05 00:00:00.000' }]);
});

test('every currency that the service knows has its name', async () => {
  const admin = connectPostgres(connection, { max: 1 });
  const rows = await admin`SELECT credit_type_id AS id, name FROM analysts.credit_types`;
  await admin.end();
  expect(rows.map(({ id, name }) => ({ id, name }))).toEqual(expect.arrayContaining([...FIAT_CREDIT_TYPES]));
});

test('the views show nothing but what they name', async () => {
  const admin = connectPostgres(connection, { max: 1 });
  const reader = `reader_${process.pid}`;
  await admin.unsafe(`CREATE ROLE ${reader}; GRANT USAGE ON SCHEMA analysts TO ${reader};
    GRANT SELECT ON ALL TABLES IN SCHEMA analysts TO ${reader}`);
  const asReader = (sql: string) =>
    admin.begin(async (tx) => {
      await tx.unsafe(`SET LOCAL ROLE ${reader}`);
      return await tx.unsafe(sql);
    });
  expect((await asReader('SELECT * FROM analysts.customers')).length).toBe(2);
  await expect(asReader('SELECT * FROM public.customers')).rejects.toMatchObject({ code: '42501' });
  await expect(asReader('DELETE FROM analysts.customers')).rejects.toMatchObject({ code: '42501' });
  await admin.unsafe(`DROP OWNED BY ${reader}; DROP ROLE ${reader}`);
  await admin.end();
});

test('hours are those of their lines, by invoice and position', async () => {
  const different = await clickhouse.query({
    sql: `SELECT l.invoice_id AS id FROM ${analysts}.invoice_lines AS l
      INNER JOIN (SELECT invoice_id, position, sum(total) AS total FROM ${analysts}.invoice_hours GROUP BY ALL) AS h
      ON l.invoice_id = h.invoice_id AND l.position = h.position WHERE l.total <> h.total`,
    schema: z.unknown(),
  });
  expect(different).toEqual([]);
});
