/**
 * The official client, unchanged: lists that leave rows out after they are read have no empty page while rows follow,
 * which some clients take for the end.
 *
 * SDK methods covered: v1.customers.invoices.list, listBreakdowns; v1.contracts.listBalances.
 */
import Metronome from '@metronome/sdk';
import { beforeAll, expect, it } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const NOVEMBER = { starting_at: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api } = service;
let client: Metronome;
let customer_id: string;
let scenario: Scenario;

/** Four postpaid commits that usage has used up, so that nothing is left of them to bill. */
beforeAll(async () => {
  client = new Metronome({ baseURL: service.url, bearerToken: service.token, maxRetries: 0 });
  scenario = await createScenario(api, { alias: 'other' });
  customer_id = await createdId(api, '/v1/customers', { name: 'Ada', ingest_aliases: ['ada'] });
  const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Minimum',
    type: 'FIXED',
  });
  const postpaid = {
    type: 'POSTPAID',
    product_id,
    access_schedule: { schedule_items: [{ amount: 1, ...NOVEMBER }] },
    invoice_schedule: { schedule_items: [{ amount: 1, timestamp: NOVEMBER.ending_before }] },
  };
  const left = { amount: 1_000_000, ...NOVEMBER };
  await api.post('/v1/contracts/create', {
    customer_id,
    rate_card_id: scenario.rateCardId,
    ...NOVEMBER,
    commits: [postpaid, postpaid, postpaid, postpaid],
    credits: [
      {
        product_id,
        applicable_product_ids: [scenario.requestsProductId],
        access_schedule: { schedule_items: [left] },
      },
    ],
  });
  await api.post('/v1/ingest', [
    completion('ada', { id: 'used', at: '2026-11-05T10:30:00Z', tokens: 100_000 }),
  ]);
});

interface ListPage<Row> {
  readonly data: Row[];
  readonly next_page: string;
  iterPages(): AsyncIterable<ListPage<Row>>;
}

/** All rows. No page may be empty while another follows. */
async function collect<Row, Shown>(first: Promise<ListPage<Row>>, show: (row: Row) => Shown) {
  const rows: Shown[] = [];
  for await (const { data, next_page } of (await first).iterPages()) {
    expect(data.length > 0 || next_page === '').toBe(true);
    rows.push(...data.map(show));
  }
  return rows;
}

it('the official client finds the invoice after true-ups of nothing', async () => {
  const types = await collect(
    client.v1.customers.invoices.list({ customer_id, limit: 1 }),
    ({ type }) => type,
  );
  expect(types).toEqual(['USAGE']);
});

it.each(['DAY', 'HOUR'] as const)(
  'the official client finds the windows after true-ups and empty ones, by %s',
  async (size) => {
    const range = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-02T00:00:00Z' };
    const all = client.v1.customers.invoices.listBreakdowns({
      ...{ customer_id, limit: 1, sort: 'date_desc', window_size: size },
      ...range,
      ...(size === 'DAY' ? {} : { starting_on: '2026-11-30T20:00:00Z' }),
    });
    expect(await collect(all, ({ type }) => type)).toEqual(Array(size === 'DAY' ? 30 : 4).fill('USAGE'));
    const used = client.v1.customers.invoices.listBreakdowns({
      ...{ customer_id, limit: 2, window_size: size, skip_zero_qty_line_items: true },
      ...range,
    });
    const start = size === 'DAY' ? '2026-11-05T00:00:00' : '2026-11-05T10:00:00';
    expect(await collect(used, ({ breakdown_start_timestamp: at }) => at.slice(0, start.length))).toEqual([
      start,
    ]);
  },
);

it('the official client finds spend after true-ups of nothing', async () => {
  const read = await api.post(
    `/v1/customers/${customer_id}/invoices/spend-breakdowns`,
    {
      starting_on: '2026-11-01T00:00:00Z',
      ending_before: '2026-12-02T00:00:00Z',
      group_key: ['region'],
      sort: 'date_desc',
    },
    { query: { limit: 1 } },
  );
  expect(read.list('data')).toMatchObject([{ type: 'USAGE' }]);
  expect(read.at('next_page')).toBeNull();
});

it('the official client finds the credit after commits that have nothing left', async () => {
  const listed = client.v1.contracts.listBalances({
    ...{ customer_id, limit: 1 },
    include_contract_balances: true,
    exclude_zero_balances: true,
  });
  expect(await collect(listed, ({ type }) => type)).toEqual(['CREDIT']);
});
