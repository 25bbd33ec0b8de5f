/**
 * Queries across customers (docs/reference/sql.md): the views against the API's numbers, recipes, scopes, formats and
 * limits.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { BillingContext } from '../../src/billing/billing-context.ts';
import { queryRows, type ReportQuery } from '../../src/billing/sql/run-query.ts';
import { viewTable } from '../../src/metering/sql/generate/view-sql.ts';
import { loadReport, REPORT_LIMITS, runReport } from '../../src/metering/sql/reports/run-report.ts';
import { VIEW_NAMES, viewColumns } from '../../src/metering/sql/values/views.ts';
import { billingContext } from '../support/billing-context.ts';
import { createdId } from '../support/catalogue-api.ts';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-12T00:00:00Z' });
const { api } = service;
const USD = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';

type Row = Readonly<Record<string, unknown>>;

let first: Scenario;
let second: Scenario;
let creditId: string;

const rowsOf = async (sql: string) => (await api.post('/v1/sql', { sql })).list('data') as Row[];
const refusalOf = async (sql: string) => {
  const { status, body } = await api.send('POST', '/v1/sql', { sql });
  return { status, message: String((body as Row).message) };
};

async function every<Part>(parts: AsyncIterable<Part[]>): Promise<Part[]> {
  const all: Part[] = [];
  for await (const part of parts) all.push(...part);
  return all;
}

async function everyRow(context: BillingContext, query: ReportQuery) {
  return await every((await queryRows(context, query)).rows);
}

beforeAll(async () => {
  first = await createScenario(api, { alias: 'sql-first' });
  second = await createScenario(api, { alias: 'sql-second' });
  const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Credit',
    type: 'FIXED',
  });
  creditId = await createdId(api, '/v1/contracts/customerCredits/create', {
    ...{ customer_id: first.customerId, priority: 1, product_id, name: 'Welcome' },
    access_schedule: {
      credit_type_id: USD,
      schedule_items: [
        { amount: 10, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' },
      ],
    },
  });
  const event = completion('sql-first', { id: 's-1', at: '2026-11-02T10:00:00Z', tokens: '1000.25' });
  await api.post('/v1/ingest', [
    event,
    completion('sql-first', { id: 's-2', at: '2026-11-09T10:30:00Z', tokens: 500, model: 'small' }),
    completion('sql-first', { id: 's-5', at: '2026-11-10T10:30:00Z', tokens: 7, model: 'unrated' }),
    completion(second.customerId, { id: 's-3', at: '2026-11-03T11:00:00Z', tokens: 70 }),
    completion('sql-nobody', { id: 's-4', at: '2026-11-03T11:00:00Z', tokens: 1_000_000 }),
  ]);
  await api.post('/v1/ingest', [event]);
  await service.moveClock('2026-12-05T00:00:00Z');
});

/** The invoices of November as the API answers them. */
async function invoicesOf({ customerId }: Scenario): Promise<Row[]> {
  const query = { status: 'FINALIZED' };
  return (await api.get(`/v1/customers/${customerId}/invoices`, { query })).list('data') as Row[];
}

const everyInvoice = async () => (await Promise.all([first, second].map(invoicesOf))).flat();
const byId = (a: Row, b: Row) => String(a.id).localeCompare(String(b.id));

describe('the views', () => {
  it('events: every acknowledged one once, with its customer; those of nobody are left out', async () => {
    const sql = `SELECT customer_id, COUNT(*) AS number, SUM(properties.tokens) AS tokens FROM events
      GROUP BY customer_id ORDER BY tokens`;
    expect(await rowsOf(sql)).toEqual([
      { customer_id: second.customerId, number: 1, tokens: 70 },
      { customer_id: first.customerId, number: 3, tokens: 1507.25 },
    ]);
  });

  it('events that were acknowledged a moment ago are in the answer', async () => {
    const late = completion('sql-first', { id: 'late', at: '2026-12-04T10:00:00Z', tokens: 1 });
    await api.post('/v1/ingest', [late]);
    const sql = `SELECT transaction_id, timestamp FROM events
      WHERE customer_id = '${first.customerId}' AND transaction_id = 'late'`;
    expect(await rowsOf(sql)).toEqual([{ transaction_id: 'late', timestamp: '2026-12-04T10:00:00.000Z' }]);
  });

  it('invoices: as the API lists them', async () => {
    const sql = `SELECT invoice_id AS id, customer_id, contract_id, invoice_status AS status, type,
      credit_type, total, start_timestamp FROM invoices`;
    const listed = (await everyInvoice()).map((invoice) => ({
      ...Object.fromEntries(
        ['id', 'customer_id', 'contract_id', 'status', 'type', 'total'].map((name) => [name, invoice[name]]),
      ),
      start_timestamp: '2026-11-01T00:00:00.000Z',
      credit_type: 'USD (cents)',
    }));
    expect((await rowsOf(sql)).toSorted(byId)).toEqual(listed.toSorted(byId));
    expect(listed).toHaveLength(2);
  });

  it('credit_notes and credit_note_lines: as the API answers a note', async () => {
    const lines = (await invoicesOf(second)).flatMap(({ id, line_items }) =>
      (line_items as Row[]).map((line) => ({ invoice_id: id, line })),
    );
    const large = lines.find(({ line }) => line.type === 'usage' && Number(line.total) >= 2);
    const noteId = await createdId(api, '/v1/invoices/creditNotes/create', {
      ...{ invoice_id: large?.invoice_id, reason: 'service_issue', settlement: 'offset_unpaid' },
      lines: [{ line_item_id: large?.line.id, amount: 1 }],
    });
    const note = await api.get(`/v1/invoices/creditNotes/${noteId}`);
    expect(
      await rowsOf(`SELECT number, status, invoice_id, total, offset_amount FROM credit_notes
        WHERE credit_note_id = '${noteId}'`),
    ).toEqual([
      {
        ...{ number: note.text('data.number'), status: 'ISSUED', invoice_id: large?.invoice_id },
        ...{ total: 1, offset_amount: 1 },
      },
    ]);
    expect(
      await rowsOf(`SELECT name, amount, paid_by FROM credit_note_lines WHERE credit_note_id = '${noteId}'`),
    ).toEqual([{ name: large?.line.name, amount: 1, paid_by: 'money' }]);
    await api.post('/v1/invoices/creditNotes/void', { id: noteId });
  });

  it('invoice_lines: those of the API, and those that count sum to the total', async () => {
    const names = ['id', 'name', 'type', 'quantity', 'unit_price', 'total', 'product_id'];
    const lines = (await everyInvoice()).flatMap((invoice) => invoice.line_items as Row[]);
    const shown = lines.map((line) => Object.fromEntries(names.map((name) => [name, line[name] ?? null])));
    const sql = `SELECT line_id AS id, name, type, quantity, unit_price, total, product_id FROM invoice_lines`;
    expect((await rowsOf(sql)).toSorted(byId)).toEqual(shown.toSorted(byId));
    expect(lines.map((line) => line.type)).toContain('applied_commit_or_credit');
    const different = `SELECT i.invoice_id FROM invoices i JOIN (
        SELECT invoice_id, SUM(total) AS total FROM invoice_lines WHERE counts_in_total GROUP BY invoice_id) l
      ON i.invoice_id = l.invoice_id WHERE i.total <> l.total`;
    expect(await rowsOf(different)).toEqual([]);
  });

  it('invoice_hours: sum to their lines, quantities and totals', async () => {
    const sql = `SELECT COUNT(*) AS lines, COUNT(*) FILTER (WHERE l.total = h.total) AS same_total,
        COUNT(*) FILTER (WHERE l.quantity = h.quantity OR l.quantity IS NULL) AS same_quantity
      FROM invoice_lines l JOIN (
        SELECT line_id, SUM(quantity) AS quantity, SUM(total) AS total FROM invoice_hours GROUP BY line_id) h
      ON l.line_id = h.line_id`;
    const [counts = {}] = await rowsOf(sql);
    const lines = (await everyInvoice()).flatMap((invoice) => invoice.line_items as Row[]);
    expect(counts).toEqual({ lines: lines.length, same_total: lines.length, same_quantity: lines.length });
  });

  it('balances: what the API says', async () => {
    const { customerId } = first;
    const answer = await api.post('/v1/contracts/customerBalances/list', {
      ...{ customer_id: customerId, include_balance: true, include_contract_balances: true },
    });
    // The invoice of November has used all of it, so the draft of December takes nothing.
    const [row = {}] = await rowsOf(`SELECT commit_id, customer_id, type, balance FROM balances`);
    expect(row).toEqual({ commit_id: creditId, customer_id: customerId, type: 'CREDIT', balance: 0 });
    expect(answer.at('data[0].balance')).toBe(0);
  });

  it('customers and contracts: with their names and times', async () => {
    const sql = `SELECT c.name, c.archived_at, k.starting_at FROM customers c
      JOIN contracts k ON c.customer_id = k.customer_id ORDER BY name`;
    const other = { archived_at: null, starting_at: '2026-11-01T00:00:00.000Z' };
    expect(await rowsOf(sql)).toEqual([
      { name: 'sql-first', ...other },
      { name: 'sql-second', ...other },
    ]);
  });

  it('commits and ledger: as the API lists balances and their entries', async () => {
    const { customerId } = first;
    const [listed = {}] = (
      await api.post('/v1/contracts/customerBalances/list', {
        ...{ customer_id: customerId, include_ledgers: true, include_balance: true },
        include_contract_balances: true,
      })
    ).list('data') as Row[];
    const ofCustomer = `WHERE customer_id = '${customerId}'`;
    const commits = await rowsOf(
      `SELECT commit_id, type, name, granted, starts, ends FROM commits ${ofCustomer}`,
    );
    expect(commits).toEqual([
      {
        ...{ commit_id: creditId, type: 'CREDIT', name: 'Welcome', granted: 10 },
        ...{ starts: '2026-11-01T00:00:00.000Z', ends: '2027-11-01T00:00:00.000Z' },
      },
    ]);
    const ledger = await rowsOf(
      `SELECT type, amount, timestamp, invoice_id FROM ledger ${ofCustomer} ORDER BY commit_id, position`,
    );
    const entries = (listed.ledger as Row[]).filter(({ type }) => type !== undefined);
    expect(ledger.map(({ type, amount }) => [type, amount])).toEqual(
      entries.map(({ type, amount }) => [type, amount]),
    );
    const sums = `SELECT c.commit_id FROM commits c JOIN (SELECT commit_id, SUM(amount) AS amount FROM ledger
      GROUP BY commit_id) l ON c.commit_id = l.commit_id WHERE c.balance <> l.amount`;
    expect(await rowsOf(sums)).toEqual([]);
  });

  it('products, rate_cards and rates: names and prices of the API', async () => {
    const sql = `SELECT p.name AS product, r.price, r.pricing_group_values ->> 'model' AS model, r.ending_before
      FROM rates r JOIN rate_cards c ON r.rate_card_id = c.rate_card_id
      JOIN products p ON r.product_id = p.product_id
      JOIN contracts k ON k.rate_card_id = c.rate_card_id
      WHERE k.customer_id = '${first.customerId}' AND r.rate_type = 'FLAT' ORDER BY model, price`;
    const { rate_card_id } = (
      await rowsOf(`SELECT rate_card_id FROM contracts WHERE customer_id = '${first.customerId}'`)
    )[0] as { rate_card_id: string };
    const schedule = await api.post('/v1/contract-pricing/rate-cards/getRateSchedule', {
      ...{ rate_card_id, starting_at: '2026-11-01T00:00:00Z' },
    });
    const flat = (schedule.list('data') as Array<Row & { rate: Row; pricing_group_values?: Row }>)
      .filter(({ rate }) => rate.rate_type === 'FLAT')
      .map((entry) => ({
        product: entry.product_name,
        price: entry.rate.price,
        model: entry.pricing_group_values?.model ?? null,
        ending_before: entry.ending_before ?? null,
      }));
    const order = (row: Row) => `${row.model} ${row.price}`;
    const byOrder = (a: Row, b: Row) => order(a).localeCompare(order(b));
    expect((await rowsOf(sql)).toSorted(byOrder)).toEqual(flat.toSorted(byOrder));
    expect(flat.length).toBeGreaterThan(0);
  });

  it('custom_fields: values by the kind and the id of their object', async () => {
    await api.post('/v1/customFields/addKey', {
      entity: 'customer',
      key: 'region',
      enforce_uniqueness: false,
    });
    await api.post('/v1/customFields/setValues', {
      ...{ entity: 'customer', entity_id: first.customerId, custom_fields: { region: 'north' } },
    });
    expect(await rowsOf('SELECT * FROM custom_fields')).toEqual([
      { entity: 'customer', entity_id: first.customerId, key: 'region', value: 'north' },
    ]);
  });

  it('provider_prices: cents of the prices of the catalogue', async () => {
    const count = 'SELECT COUNT(*) AS prices, COUNT(DISTINCT provider) AS providers FROM provider_prices';
    const [{ prices, providers } = {}] = await rowsOf(count);
    const stored = await service.db.execute(
      'select count(*)::int as prices, count(distinct provider)::int as providers from token_prices',
    );
    expect([{ prices, providers }]).toEqual([...stored]);
  });

  it('period_month of an invoice is the month by which lists find it, and of a draft likewise', async () => {
    const month = { month: '2026-11' };
    const listed = (await api.get('/v1/invoices', { query: { ...month, status: 'FINALIZED' } })).list('data');
    const sql = (view: string) =>
      `SELECT invoice_id AS id, due_at, paid_at FROM ${view} WHERE period_month = '2026-11-01'`;
    expect((await rowsOf(sql('invoices'))).map(({ id }) => id).toSorted()).toEqual(
      (listed as Row[]).map(({ id }) => String(id)).toSorted(),
    );
    const drafts = await rowsOf('SELECT DISTINCT period_month, due_at, paid_at FROM drafts');
    expect(drafts).toEqual([{ period_month: '2026-12-01T00:00:00.000Z', due_at: null, paid_at: null }]);
  });

  it('SELECT * has the columns of a view, of a subquery and of both sides of a join', async () => {
    const [customer = {}] = await rowsOf('SELECT * FROM customers ORDER BY name LIMIT 1');
    expect(Object.keys(customer)).toEqual(viewColumns('customers').map(({ name }) => name));
    expect(await rowsOf("SELECT * FROM (SELECT name FROM customers WHERE name = 'sql-first')")).toEqual([
      { name: 'sql-first' },
    ]);
    const [one = {}] = await rowsOf(
      'SELECT 1 AS one, k.* FROM customers c JOIN contracts k USING (customer_id)',
    );
    expect(Object.keys(one)).toEqual(['one', ...viewColumns('contracts').map(({ name }) => name)]);
    const [both = {}] = await rowsOf(
      'SELECT * FROM customers c JOIN contracts k USING (customer_id) LIMIT 1',
    );
    expect(Object.keys(both)).toEqual([
      ...viewColumns('customers').map(({ name }) => name),
      ...['contract_id', 'k_name', 'rate_card_id', 'starting_at', 'ending_before', 'k_archived_at'],
    ]);
  });

  it('SHOW TABLES and DESCRIBE answer the views and their columns', async () => {
    const tables = await rowsOf('SHOW TABLES;');
    expect(tables.map(({ name }) => name)).toEqual([...VIEW_NAMES].toSorted());
    expect(await rowsOf('describe holds')).toEqual(
      viewColumns('holds').map(({ name, type, description }) => ({ name, type, description })),
    );
    expect(await refusalOf('DESCRIBE invoice')).toEqual({
      status: 400,
      message: expect.stringMatching(/column 10: the table invoice is not available: did you mean invoices/),
    });
  });

  it('a column named left is selected, ordered by and qualified', async () => {
    const sql = `SELECT b.left, left + 1 AS more FROM (SELECT granted AS left FROM commits) b
      LEFT JOIN (SELECT 10 AS right) o ON b.left = o.right ORDER BY left`;
    expect(await rowsOf(sql)).toEqual([{ left: 10, more: 11 }]);
  });

  it('the views are documented column by column', () => {
    const page = readFileSync(new URL('../../docs/reference/sql.md', import.meta.url), 'utf8');
    for (const view of VIEW_NAMES) {
      const section = page.split(`### ${view}\n`)[1]?.split('\n### ')[0]?.split('\n## ')[0] ?? '';
      const documented = [...section.matchAll(/^\| `(\w+)` \| (\w+) \| (.+) \|$/gm)];
      const columns = viewColumns(view).map(({ name, type, description }) => [name, type, description]);
      expect(documented.map(([, ...cells]) => cells)).toEqual(columns);
    }
  });
});

describe('the recipes of docs/reference/sql.md', () => {
  const page = readFileSync(new URL('../../docs/reference/sql.md', import.meta.url), 'utf8');
  const recipe = (name: string) =>
    page.split(`### ${name}\n`)[1]?.split('```sql\n')[1]?.split('```')[0] ?? '';

  it('revenue by model and week', async () => {
    // 1,000 at 0.03 and 0.25 at 0.02; 70 at 0.03; 500 at 0.005.
    expect(await rowsOf(recipe('Revenue by model and week'))).toEqual([
      { week: '2026-11-02T00:00:00.000Z', model: 'large', cents: 32.105 },
      { week: '2026-11-09T00:00:00.000Z', model: 'small', cents: 2.5 },
    ]);
  });

  it('top movers', async () => {
    expect(await rowsOf(recipe('Top movers'))).toEqual([
      { customer_id: first.customerId, change: -493.25 },
      { customer_id: second.customerId, change: -70 },
    ]);
  });

  it('usage without a rate', async () => {
    expect(await rowsOf(recipe('Usage without a rate'))).toEqual([
      { customer_id: first.customerId, model: 'unrated', calls: 1 },
    ]);
  });
});

describe('an answer', () => {
  it('an answer as CSV has a header and all rows, and text that a spreadsheet shows as it is', async () => {
    const sql = `SELECT properties.model AS model, SUM(properties.tokens) AS tokens, '=1+1' AS formula
      FROM events GROUP BY model ORDER BY tokens`;
    const answer = await api.post('/v1/sql', { sql }, { headers: { accept: 'text/csv' } });
    expect(answer.headers.get('content-type')).toMatch(/^text\/csv/);
    expect(csvRows(String(answer.body))).toHaveLength(3);
    expect(String(answer.body).split('\r\n')[0]).toBe('model,tokens,formula');
    expect(String(answer.body)).toContain("'=1+1");
  });

  it('an answer as CSV without rows is the header', async () => {
    const sql = "SELECT name FROM customers WHERE name = 'nobody'";
    const answer = await api.post('/v1/sql', { sql }, { headers: { accept: 'text/csv' } });
    expect(answer.body).toBe('name\r\n');
  });

  it('an answer names what was not named, and its types', async () => {
    const answer = await api.post('/v1/sql', { sql: 'SELECT COUNT(*), TRUE AS yes FROM customers' });
    expect(answer.at('columns')).toEqual([
      { name: 'column_1', type: 'number' },
      { name: 'yes', type: 'boolean' },
    ]);
    expect(answer.at('data')).toEqual([{ column_1: 2, yes: true }]);
  });
});

describe('a query is refused', () => {
  it.each([
    [
      'SELECT COUNT(*) FROM usage_events',
      /^sql: line 1, column 22: the table usage_events is not available; the views are events,/,
    ],
    ['SELECT COUNT(*) FROM invoice_hourly_lines', /is not available/],
    ['SELECT totl FROM invoices', /totl is not a column of invoices: did you mean total/],
    ['SELECT name FROM invoices; SELECT 1', /one statement only/],
    ["SELECT name FROM customers WHERE name LIKE 'a\\'", /the pattern/],
    ['SELECT i.foo FROM invoices i JOIN customers c USING (customer_id)', /foo is not a column of invoices;/],
    [
      'SELECT foo FROM invoices i JOIN customers c USING (customer_id)',
      /foo is not a column of invoices or customers;/,
    ],
    ['SELECT * FROM (SELECT COUNT(*) FROM customers)', /column 1 of the subquery has no name/],
  ])('%s', async (sql, message) => {
    expect(await refusalOf(sql)).toEqual({ status: 400, message: expect.stringMatching(message) });
  });

  it('a query is refused with a token for ingestion', async () => {
    const created = await api.post('/v1/tokens/create', { name: 'sender', scope: 'ingest' });
    const token = created.text('data.token');
    const { status } = await api.send('POST', '/v1/sql', { sql: 'SELECT name FROM customers' }, { token });
    expect(status).toBe(403);
  });

  it.each([
    ['copies more rows', { copiedRows: 1 }, 'SELECT name FROM customers', /more than 1 rows of customers/],
    ['copies more text', { copiedCharacters: 50 }, 'SELECT name FROM customers', /more than 50 characters/],
    [
      'has more rows',
      { query: { ...REPORT_LIMITS, resultRows: 1 } },
      'SELECT name FROM customers',
      /more than 1 rows/,
    ],
    [
      'reads more rows',
      { query: { ...REPORT_LIMITS, rowsRead: 1 } },
      'SELECT event_type FROM events',
      /reads more than 1 /,
    ],
    [
      'takes longer',
      { query: { ...REPORT_LIMITS, executionSeconds: 0.000_001 } },
      'SELECT event_type FROM events',
      /ran longer/,
    ],
  ])('a query is refused where it %s than it may', async (_, limits, sql, message) => {
    const clock = { now: () => Date.parse('2026-12-05T00:00:00Z') };
    const context = billingContext({ db: service.db, clickhouse: service.clickhouse, clock });
    await expect(everyRow(context, { sql, limits })).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(message),
    });
  });

  it('a query is refused where it takes more memory than it may', async () => {
    const report = await loadReport('SELECT name, COUNT(*) AS times FROM customers GROUP BY name');
    const rows = Array.from({ length: 50_000 }, (_, index) => [
      String(index),
      `name ${index}`,
      '0',
      null,
      null,
    ]);
    const limits = { ...REPORT_LIMITS, memoryBytes: 2 ** 20 };
    const copied = { params: {}, tables: [viewTable('customers', rows)] };
    const run = runReport(service.clickhouse, report, copied, { limits });
    await expect(every(run)).rejects.toMatchObject({
      message: expect.stringMatching(/GiB of memory/),
    });
  });
});
