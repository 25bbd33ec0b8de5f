/** The margin over providers' costs: by customer, day and model, of drafts and of issued invoices. */
import { beforeAll, expect, test } from 'vitest';
import { QUESTIONS } from '../../src/billing/sql/questions.ts';
import { createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { importModels, LARGE, SMALL } from '../support/token-prices.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db } = service;
const PATH = '/v1/token-billing/margin';
const RANGE = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-11-10T00:00:00Z' };
/** From noon of 3 November on, input costs twice as much. */
const DEARER = {
  ...SMALL,
  prices: [...SMALL.prices, { from: '2026-11-03T12:00:00Z', usd: { input_tokens: '0.3' } }],
};
const ids: Record<string, string> = {};

function event(id: string, customer: string, at: string, properties: object) {
  return {
    transaction_id: id,
    customer_id: customer,
    event_type: 'token-billing',
    timestamp: at,
    properties: { provider: 'acme', ...properties },
  };
}

async function customerOn(alias: string, card: string, terms: object = {}) {
  const id = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  await api.post('/v1/contracts/create', {
    customer_id: id,
    rate_card_id: card,
    starting_at: '2026-11-01T00:00:00Z',
    ...terms,
  });
  ids[alias] = id;
}

beforeAll(async () => {
  // The card is created before the later price is known, and keeps its own prices.
  await importModels({ db, now: Date.UTC(2026, 9, 1) }, [LARGE, SMALL]);
  const unit = await createdId(api, '/v1/credit-types/create', { name: 'Token credits' });
  const models = [{ model: 'large' }, { model: 'small' }];
  const cents = await createdId(api, RATE_CARDS, {
    name: 'Cents',
    managed_pricing: { models, default_markup: 1 },
  });
  const units = await createdId(api, RATE_CARDS, {
    name: 'Units',
    credit_type_conversions: [{ custom_credit_type_id: unit, fiat_per_custom_credit: 3 }],
    managed_pricing: { models, default_markup: 1, custom_credit_type_id: unit },
  });
  await importModels({ db, now: Date.UTC(2026, 10, 10) }, [DEARER]);
  const wallet = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Wallet',
    type: 'FIXED',
  });
  const access = { amount: 100, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-01-01T00:00:00Z' };
  await customerOn('ada', cents, {
    commits: [{ product_id: wallet, type: 'PREPAID', access_schedule: { schedule_items: [access] } }],
  });
  await customerOn('bob', units);
  await api.post('/v1/ingest', [
    event('1', 'ada', '2026-11-02T10:00:00Z', { model: 'large', input_tokens: 1_000_000, output_tokens: 10 }),
    event('2', 'ada', '2026-11-03T11:59:00Z', { model: 'small', input_tokens: 1_000_000 }),
    event('3', 'ada', '2026-11-03T12:00:00Z', { model: 'acme/small', input_tokens: 2_000_000 }),
    event('4', 'bob', '2026-11-02T23:59:59Z', { model: 'small', input_tokens: 2_000_000 }),
  ]);
});

const row = (alias: string, day: string, model: string, numbers: readonly (number | string)[]) => [
  ids[alias],
  `${day}T00:00:00.000Z`,
  'acme',
  `acme/${model}`,
  ...numbers.map(String),
];

/** All rows, page by page. */
async function rows(query: Record<string, string | number> = {}): Promise<unknown[][]> {
  const found: unknown[][] = [];
  let next: string | null = null;
  do {
    const page = await api.get(PATH, {
      query: { ...RANGE, ...query, ...(next === null ? {} : { next_page: next }) },
    });
    for (const index of page.list('data').keys()) {
      const of = (name: string) => String(page.at(`data[${index}].${name}`));
      found.push(
        ['customer_id', 'day', 'provider', 'model', 'tokens', 'revenue', 'provider_cost', 'margin'].map(of),
      );
    }
    const cursor = page.at('next_page');
    next = cursor === null ? null : String(cursor);
  } while (next !== null);
  return found;
}

/** 2.5 and 10 USD, and 0.15 USD a million, each with a markup of 100 %; 0.3 USD is the later cost. */
const ada = () => [
  row('ada', '2026-11-02', 'large', [1_000_010, '500.02', '250.01', '250.01']),
  row('ada', '2026-11-03', 'small', [3_000_000, 90, 75, 15]),
];
const bob = () => [row('bob', '2026-11-02', 'small', [2_000_000, 60, 30, 30])];
const sorted = (all: readonly unknown[][]) => all.toSorted((a, b) => (String(a) < String(b) ? -1 : 1));

test('revenue, cost at the time of use and margin of each customer, day and model add up by hand', async () => {
  expect(sorted(await rows())).toEqual(sorted([...ada(), ...bob()]));
});

test('pages of a few days hold the same rows, and filters choose among them', async () => {
  expect(sorted(await rows({ limit: 4 }))).toEqual(sorted([...ada(), ...bob()]));
  expect(await rows({ customer_id: ids.bob ?? '' })).toEqual(bob());
  expect(await rows({ customer_id: ids.ada ?? '', model: 'acme/small' })).toEqual(ada().slice(1));
  expect(await rows({ provider: 'nobody' })).toEqual([]);
});

test('days and customers without tokens are passed over', async () => {
  const first = await api.get(PATH, { query: { ...RANGE, limit: 1 } });
  expect(first.list('data')).toHaveLength(1);
  expect(sorted(await rows({ limit: 1 }))).toEqual(sorted([...ada(), ...bob()]));
});

test('CSV has all rows, and an empty range is refused', async () => {
  const csv = await api.get(PATH, { query: RANGE, headers: { accept: 'text/csv' } });
  const lines = csvRows(csv.body).map((line) => Object.values(line));
  expect(sorted(lines)).toEqual(sorted([...ada(), ...bob()]));
  const refused = await api.send('GET', PATH, undefined, {
    query: { ...RANGE, ending_before: RANGE.starting_on },
  });
  expect(refused.status).toBe(400);
});

test('issued invoices keep the margin of their drafts, which is that before their wallet paid', async () => {
  await service.moveClock('2026-12-05T00:00:00Z');
  const answer = await api.get(`/v1/customers/${ids.ada}/invoices`, { query: { status: 'FINALIZED' } });
  expect(answer.digits('data[0].total')).toBe('490.02');
  expect(await rows({ customer_id: ids.ada ?? '' })).toEqual(ada());
});

test('the saved question about the margin has the figures of the API of invoices in cents', async () => {
  await service.moveClock('2026-12-05T00:00:00Z');
  const found = (await rows()).filter(([customer]) => customer === ids.ada);
  const sql = QUESTIONS.find(({ name }) => name === 'Margin by model')?.sql ?? '';
  const answer = await api.post('/v1/sql', { sql });
  const shown = answer.list('data').map((_, index) => {
    const of = (name: string) => answer.digits(`data[${index}].${name}`);
    return [answer.text(`data[${index}].model`), ...['revenue_cents', 'cost_cents', 'margin_cents'].map(of)];
  });
  expect(sorted(shown)).toEqual(sorted(found.map(([, , , model, , ...amounts]) => [model, ...amounts])));
  expect(shown).toHaveLength(2);
});
