/** Invoices, breakdowns and usage groups as CSV (docs/reference/exports.md). */
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { JsonNumber } from '../../src/api/base/json.ts';
import { Decimal, sum } from '../../src/core/decimal.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { createdId } from '../support/catalogue-api.ts';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const CSV = { headers: { accept: 'text/csv' } };
const RANGE = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };

let scenario: Scenario;
let invoices: string;
let callsMetricId: string;

beforeAll(async () => {
  const now = '2026-11-10T00:00:00Z';
  scenario = await createScenario(service.api, { alias: 'csv' });
  invoices = `/v1/customers/${scenario.customerId}/invoices`;
  await service.api.post('/v1/ingest', [
    completion('csv', { id: 'csv-1', at: '2026-11-01T00:00:00Z', tokens: '600.123456789' }),
    completion('csv', { id: 'csv-2', at: '2026-11-02T00:00:00Z', tokens: 1500, region: '=1+1' }),
    completion('csv', {
      id: 'csv-3',
      at: now.replace('10T', '09T'),
      tokens: 80,
      region: 'say "eu", or\nnot',
    }),
    completion('csv', { id: 'csv-4', at: '2026-11-09T12:00:00Z', tokens: 800, model: 'small' }),
  ]);
  await createCalls();
  // Over the years there are more invoices than a page has.
  await service.moveClock('2029-02-10T00:00:00Z');
});

/** A product whose name and group values are what spreadsheets take for formulas, at 0.1 cents a call. */
async function createCalls(): Promise<void> {
  callsMetricId = await createdId(service.api, '/v1/billable-metrics/create', {
    name: 'Calls',
    event_type_filter: { in_values: ['completion'] },
    aggregation_type: 'COUNT',
    property_filters: [{ name: 'region', exists: true }],
    group_keys: [['region']],
  });
  const productId = await createdId(service.api, '/v1/contract-pricing/products/create', {
    name: '=calls()',
    type: 'USAGE',
    billable_metric_id: callsMetricId,
    presentation_group_key: ['region'],
  });
  await service.api.post('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id: scenario.rateCardId,
    rates: [
      {
        product_id: productId,
        starting_at: '2026-01-01T00:00:00Z',
        entitled: true,
        rate_type: 'FLAT',
        price: 0.1,
      },
    ],
  });
}

async function get(
  path: string,
  query: Record<string, string | boolean> = {},
): Promise<Record<string, string>[]> {
  const answer = await service.api.get(path, { ...CSV, query });
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
  return csvRows(answer.body);
}

async function allJson(path: string, query: Record<string, string> = {}): Promise<ApiAnswer[]> {
  const pages: ApiAnswer[] = [];
  for (let next: unknown; next !== null; ) {
    const page = await service.api.get(path, {
      query: typeof next === 'string' ? { ...query, next_page: next } : query,
    });
    pages.push(page);
    next = page.at('next_page');
  }
  return pages;
}

/** Sum of a column, with all digits. */
function total(rows: readonly Record<string, string>[], column: string): string {
  return sum(rows.map((row) => new Decimal(row[column] ?? ''))).toFixed();
}

describe('invoices as CSV', () => {
  test('invoices as CSV have a row for every line of all pages, with the digits of the JSON answer', async () => {
    const rows = await get(invoices);
    const expected = (await allJson(invoices)).flatMap((page) =>
      page.list('data').flatMap((_, i) =>
        page.list(`data[${i}].line_items`).map((__, l) => ({
          invoice_id: page.text(`data[${i}].id`),
          invoice_number: page.at(`data[${i}].invoice_number`) ?? '',
          invoice_status: page.text(`data[${i}].status`),
          issued_at: page.text(`data[${i}].issued_at`),
          invoice_total: page.digits(`data[${i}].total`),
          payable_amount: page.digits(`data[${i}].payable_amount`),
          line_number: String(l + 1),
          quantity: page.digits(`data[${i}].line_items[${l}].quantity`),
          unit_price: page.digits(`data[${i}].line_items[${l}].unit_price`),
          line_total: page.digits(`data[${i}].line_items[${l}].total`),
        })),
      ),
    );
    expect(new Set(rows.map((row) => row.invoice_id)).size).toBe(28);
    expect(rows).toHaveLength(expected.length);
    for (const [index, row] of rows.entries()) expect(row).toMatchObject(expected[index] ?? {});
  });

  test('invoices as CSV begin with what finance reads, in an order that is stable', async () => {
    const header = async (path: string) => {
      const [first = ''] = String((await service.api.get(path, CSV)).body).split('\r\n');
      return first.split(',');
    };
    expect((await header(invoices)).slice(0, 33)).toEqual(
      `invoice_number invoice_status invoice_type customer_name customer_external_id issued_at due_at period_start period_end
      currency_code total_amount due_amount line_number line_name quantity unit_price_amount line_amount line_start line_end
      pricing_group_values presentation_group_values currency invoice_total payable_amount unit_price line_total line_unit
      in_total line_type tier_level tier_starting_at tier_size list_price`.split(/\s+/),
    );
    const listed = await readFile(new URL('../../docs/reference/exports.md', import.meta.url), 'utf8');
    const section = listed.split('### Invoices\n')[1]?.split('### Breakdowns')[0] ?? '';
    expect(await header(invoices)).toEqual([...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name));
  });

  test('name the customer, and have amounts in the major unit beside the raw ones', async () => {
    const rows = await get(invoices);
    expect(rows[0]).toMatchObject({
      customer_name: 'csv',
      customer_external_id: 'csv',
      currency_code: 'USD',
    });
    for (const row of rows) {
      const cents = (major: string) => new Decimal(row[major] ?? '').times(new Decimal('100')).toFixed();
      expect(cents('total_amount')).toBe(row.invoice_total);
      expect(cents('due_amount')).toBe(row.payable_amount);
      if (row.line_number === '') continue;
      expect(cents('line_amount')).toBe(row.line_total);
      expect(cents('unit_price_amount')).toBe(row.unit_price);
    }
  });

  test('add up to the total, to the last digit', async () => {
    const [first] = await get(invoices);
    const rows = await get(`${invoices}/${first?.invoice_id}`);
    expect(rows.length).toBeGreaterThan(4);
    const counted = rows.filter((row) => row.in_total === 'true');
    expect(total(counted, 'line_total')).toBe(first?.invoice_total);
    expect(first?.invoice_total).toBe('30.40370370367');
    expect(first?.payable_amount).toBe('30');
  });

  test('invoices as CSV keep texts from becoming formulas, and numbers numbers', async () => {
    const [first] = await get(invoices);
    const rows = await get(`${invoices}/${first?.invoice_id}`);
    const regions = rows.map((row) => row.presentation_group_values);
    expect(regions).toContain('{"region":"=1+1"}');
    expect(regions).toContain('{"region":"say \\"eu\\", or\\nnot"}');
    expect(rows.map((row) => row.line_name)).toContain("'=calls()");
    expect(rows.map((row) => row.line_total)).toContain('0.2');
  });

  test('invoices as CSV have one row for an invoice without lines', async () => {
    const rows = await get(invoices, { status: 'FINALIZED', skip_zero_qty_line_items: true });
    const later = rows.filter(({ period_start: start }) => start !== '2026-11-01T00:00:00.000Z');
    expect(later).toHaveLength(26);
    expect(later[0]).toMatchObject({
      line_number: '',
      line_name: '',
      line_total: '',
      invoice_total: '0',
      in_total: '',
    });
  });

  test('invoices as CSV take the filters of the list', async () => {
    const rows = await get(invoices, {
      starting_on: '2027-01-01T00:00:00Z',
      ending_before: '2027-03-01T00:00:00Z',
    });
    expect(new Set(rows.map((row) => row.period_start))).toEqual(
      new Set(['2027-01-01T00:00:00.000Z', '2027-02-01T00:00:00.000Z']),
    );
  });

  test.each(['limit=5', 'next_page=abc'])(
    'invoices as CSV refuse %s, because they have all rows',
    async (query) => {
      const answer = await service.api.send('GET', `${invoices}?${query}`, undefined, CSV);
      expect(answer.status).toBe(400);
      expect(answer.text('message')).toMatch(/must not be given with Accept: text\/csv/);
    },
  );

  test('invoices as CSV are refused in JSON', async () => {
    const unknown = '/v1/customers/00000000-0000-4000-8000-000000000000/invoices';
    const answer = await service.api.send('GET', unknown, undefined, CSV);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect((await service.api.send('GET', `${invoices}?sort=up`, undefined, CSV)).status).toBe(400);
    expect((await service.api.send('GET', invoices, undefined, { ...CSV, token: null })).status).toBe(401);
  });

  test('invoices as CSV are distinguished from JSON by caches', async () => {
    expect((await service.api.get(invoices)).headers.get('vary')).toBe('accept');
    expect((await service.api.get(invoices, CSV)).headers.get('vary')).toBe('accept');
  });
});

describe.each(['HOUR', 'DAY'])('breakdowns by %s as CSV', (size) => {
  test('breakdowns as CSV have all windows, which add up to the invoice', async () => {
    const rows = await get(`${invoices}/breakdowns`, { ...RANGE, window_size: size });
    const windows = new Map(rows.map((row) => [row.window_start ?? '', row]));
    expect(windows.size).toBe(size === 'HOUR' ? 720 : 30);
    expect(total([...windows.values()], 'window_total')).toBe('30.40370370367');
    const lines = rows.filter((row) => row.in_total === 'true');
    expect(total(lines, 'line_total')).toBe('30.40370370367');
  });
});

describe('the reference', () => {
  const withCsv = service.routes.filter(({ csv }) => csv !== undefined);

  test('the reference names both media types', async () => {
    const document = await service.api.get('/openapi.json');
    expect(withCsv).toHaveLength(14);
    for (const { path, method } of withCsv) {
      const paths = document.at('paths');
      expect(paths).toHaveProperty([path, method, 'responses', '200', 'content', 'application/json']);
      expect(paths).toHaveProperty([path, method, 'responses', '200', 'content', 'text/csv']);
    }
  });

  test('the reference says the columns of each of them', async () => {
    const document = await service.api.get('/openapi.json');
    for (const { path, method, csv } of withCsv) {
      const schema = ['paths', path, method, 'responses', '200', 'content', 'text/csv', 'schema'];
      const columns = (csv?.columns ?? []).map(({ name }) => `\`${name}\``);
      expect(document.body).toHaveProperty(
        [...schema, 'description'],
        expect.stringContaining(columns[0] ?? 'columns'),
      );
    }
  });

  test('the reference and docs/reference/exports.md have every column with its meaning', async () => {
    const page = await readFile(new URL('../../docs/reference/exports.md', import.meta.url), 'utf8');
    for (const { csv } of withCsv) {
      for (const { name, description } of csv?.columns ?? []) {
        expect(page).toContain(`| \`${name}\` | ${description} |`);
      }
    }
  });
});

describe('usage groups as CSV', () => {
  const body = () => ({
    customer_id: scenario.customerId,
    billable_metric_id: scenario.tokensMetricId,
    window_size: 'HOUR',
    ...RANGE,
  });

  test('usage groups as CSV have every window', async () => {
    const answer = await service.api.post('/v1/usage/groups', body(), CSV);
    const rows = csvRows(answer.body);
    expect(rows).toHaveLength(720);
    expect(rows[0]).toEqual({
      starting_on: '2026-11-01T00:00:00.000Z',
      ending_before: '2026-11-01T01:00:00.000Z',
      group: '',
      value: '600.123456789',
    });
    expect(rows[1]?.value).toBe('');
  });

  test('usage groups as CSV have every group', async () => {
    const calls = {
      ...body(),
      billable_metric_id: callsMetricId,
      window_size: 'NONE',
      group_key: ['region'],
    };
    const answer = await service.api.post('/v1/usage/groups', calls, CSV);
    const groups = csvRows(answer.body).map(({ group, value }) => [JSON.parse(group ?? '').region, value]);
    expect(groups.toSorted()).toEqual([
      ['=1+1', '1'],
      ['eu', '2'],
      ['say "eu", or\nnot', '1'],
    ]);
  });

  test('usage groups as CSV refuse what the JSON answer refuses, and paging', async () => {
    const refused = await service.api.send(
      'POST',
      '/v1/usage/groups',
      { ...body(), group_key: ['nothing'] },
      CSV,
    );
    expect(refused.status).toBe(400);
    const paged = await service.api.send('POST', '/v1/usage/groups?limit=3', body(), CSV);
    expect(paged.status).toBe(400);
  });
});

describe('ledgers as CSV', () => {
  const LISTS = ['customerCommits', 'customerCredits', 'customerBalances'] as const;
  const granted = { starting_at: '2026-01-01T00:00:00Z', ending_before: '2030-01-01T00:00:00Z' };
  let customer_id: string;

  /** More credits than a page has; entries by hand, and one whose name and reason look like formulas. */
  beforeAll(async () => {
    customer_id = await createdId(service.api, '/v1/customers', { name: 'Ledgers' });
    const product_id = await createdId(service.api, '/v1/contract-pricing/products/create', {
      ...{ name: 'Grant', type: 'FIXED' },
    });
    const terms = (name: string, amount: string) => ({
      ...{ customer_id, product_id, name, priority: 1 },
      access_schedule: { schedule_items: [{ amount: new JsonNumber(amount), ...granted }] },
    });
    for (let index = 0; index < 27; index += 1) {
      await createdId(
        service.api,
        '/v1/contracts/customerCredits/create',
        terms(`Credit ${index}`, '0.12345678901234567890'),
      );
    }
    const commit = await createdId(service.api, '/v1/contracts/customerCommits/create', {
      ...terms('=now()', '100'),
      type: 'PREPAID',
    });
    const listed = await service.api.post('/v1/contracts/customerCommits/list', { customer_id });
    await service.api.post('/v1/contracts/addManualBalanceLedgerEntry', {
      ...{ customer_id, id: commit, amount: -2.5, reason: '@home' },
      segment_id: listed.text('data[0].access_schedule.schedule_items[0].id'),
    });
  });

  const read = async (list: (typeof LISTS)[number], body: Record<string, unknown> = {}) =>
    csvRows((await service.api.post(`/v1/contracts/${list}/list`, { customer_id, ...body }, CSV)).body);

  test('ledgers as CSV have every entry of every page, with all digits, and no formulas', async () => {
    const rows = await read('customerBalances', { include_ledgers: true, include_balance: true });
    expect(rows).toHaveLength(27 + 2);
    const ofCredits = rows.filter(({ commit_type }) => commit_type === 'CREDIT');
    expect(new Set(ofCredits.map(({ commit_name }) => commit_name)).size).toBe(27);
    expect(ofCredits[0]).toMatchObject({
      ...{ unit: 'USD (cents)', commit_contract_id: '', balance: '0.1234567890123456789' },
      ...{ entry_type: 'CREDIT_SEGMENT_START', entry_amount: '0.1234567890123456789' },
      entry_timestamp: '2026-01-01T00:00:00.000Z',
    });
    const [granting, byHand] = rows.filter(({ commit_type }) => commit_type === 'PREPAID');
    expect(granting).toMatchObject({ entry_type: 'PREPAID_COMMIT_SEGMENT_START', entry_amount: '100' });
    expect(byHand).toMatchObject({
      ...{ commit_name: "'=now()", balance: '97.5', segment_id: granting?.segment_id },
      ...{ entry_type: 'PREPAID_COMMIT_MANUAL', entry_amount: '-2.5', entry_reason: "'@home" },
    });
  });

  test('ledgers as CSV are of credits, commits or both, and have a row without an entry where no ledger was asked for', async () => {
    const counts = await Promise.all(LISTS.map(async (list) => (await read(list)).length));
    expect(counts).toEqual([1, 27, 28]);
    expect((await read('customerCommits'))[0]).toMatchObject({
      entry_type: '',
      entry_amount: '',
      balance: '',
    });
  });

  test('ledgers as CSV say what JSON says', async () => {
    const body = { customer_id, include_ledgers: true };
    const json = await service.api.post('/v1/contracts/customerCommits/list', body);
    const amounts = json
      .list('data[0].ledger')
      .map((_, index) => json.digits(`data[0].ledger[${index}].amount`));
    const rows = await read('customerCommits', body);
    expect(rows.map(({ entry_amount }) => entry_amount)).toEqual(amounts);
  });
});
