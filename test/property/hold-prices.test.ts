/**
 * A hold costs what the invoice then charges (docs/explanation/holds.md, "What an event costs"): of random prices and
 * events, the amount of each hold is by how much its event makes the draft larger. A UNIQUE value that is known costs
 * nothing on the invoice and is held, and counted until the next evaluation, as a new one.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Decimal, decimal, sum } from '../../src/core/decimal.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T12:30:00Z' });
const { api } = service;

const AGGREGATIONS = ['COUNT', 'SUM', 'MAX', 'UNIQUE'] as const;
const price = fc.integer({ min: 0, max: 500 }).map((count) => count / 100);
const rate = fc.oneof(
  fc.record({ rate_type: fc.constant('FLAT'), price }),
  fc.record({
    rate_type: fc.constant('TIERED'),
    tiers_mode: fc.constantFrom('graduated', 'graduated', 'volume'),
    tiers: fc
      .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 9 }), price, price, price)
      .map(([first, second, one, two, three]) => [
        { size: first, price: one },
        { size: second, price: two },
        { price: three },
      ]),
  }),
);
const terms = fc.record({
  aggregation: fc.constantFrom(...AGGREGATIONS),
  rates: fc.tuple(rate, rate),
  multiplier: fc.constantFrom(null, 0.5, 1.25),
  balances: fc.constantFrom('none', 'one', 'several'),
  commitRates: fc.tuple(price, price),
});
const events = fc.array(
  fc.record({
    value: fc.integer({ min: 0, max: 12 }),
    region: fc.constantFrom('eu', 'us'),
    hour: fc.integer({ min: 0, max: 11 }),
    used: fc.constantFrom('as held', 'as held', 'as held', 'less', 'released', 'held on'),
  }),
  { minLength: 1, maxLength: 8 },
);

type Terms = typeof terms extends fc.Arbitrary<infer Value> ? Value : never;
let customers = 0;
const starting_at = '2026-11-01T00:00:00Z';

/** Credits, and commits of which usage may cost something else. */
function balancesOf(balances: Terms['balances'], product_id: string): object {
  const access = (amount: number) => ({
    schedule_items: [{ amount, starting_at, ending_before: '2027-11-01T00:00:00Z' }],
  });
  const common = { product_id, priority: 1 };
  if (balances === 'none') return {};
  if (balances === 'one') return { credits: [{ ...common, access_schedule: access(100_000) }] };
  return {
    commits: [{ ...common, type: 'PREPAID', rate_type: 'COMMIT_RATE', access_schedule: access(40) }],
    credits: [{ ...common, priority: 2, access_schedule: access(60) }],
  };
}

async function createCustomer({
  aggregation,
  rates,
  multiplier,
  balances,
  commitRates,
}: Terms): Promise<string> {
  customers += 1;
  const key = aggregation === 'COUNT' ? {} : { aggregation_key: 'value' };
  const billable_metric_id = await createdId(api, METRICS, {
    name: 'Calls',
    aggregation_type: aggregation,
    ...key,
    event_type_filter: { in_values: [`call ${customers}`] },
    property_filters: ['value', 'region'].map((name) => ({ name, exists: true })),
    group_keys: [['region']],
  });
  const product_id = await createdId(api, PRODUCTS, {
    ...{ name: 'Calls', type: 'USAGE', billable_metric_id },
    pricing_group_key: ['region'],
  });
  const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
  const common = { product_id, starting_at: '2026-01-01T00:00:00Z', entitled: true };
  await api.post(ADD_RATES, {
    rate_card_id,
    rates: ['eu', 'us'].map((region, index) => ({
      ...common,
      ...rates[index],
      commit_rate: { rate_type: 'FLAT', price: commitRates[index] },
      pricing_group_values: { region },
    })),
  });
  const customer_id = await createdId(api, '/v1/customers', { name: 'Held' });
  const override = { starting_at, product_id, type: 'MULTIPLIER', multiplier };
  const fee = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
  await createdId(api, CONTRACTS, {
    ...{ customer_id, rate_card_id, starting_at },
    ...(multiplier === null ? {} : { overrides: [override] }),
    ...balancesOf(balances, fee),
  });
  return customer_id;
}

/** The charges of the draft, before balances pay a part of them. */
async function charged(customerId: string): Promise<Decimal> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status: 'DRAFT' } });
  const lines = answer.list('data').flatMap((_, index) =>
    answer.list(`data[${index}].line_items`).map((line, at) => ({
      type: (line as { type: string }).type,
      total: answer.digits(`data[${index}].line_items[${at}].total`),
    })),
  );
  return sum(lines.filter(({ type }) => type === 'usage').map(({ total }) => decimal(total)));
}

test('a hold costs what its event makes the invoice larger, and settling it answers that, whatever the metric, tiers, overrides and balances', async () => {
  let checked = 0;
  let severalChecked = 0;
  await fc.assert(
    fc.asyncProperty(terms, events, async (prices, list) => {
      const customer_id = await createCustomer(prices);
      let before = await charged(customer_id);
      const seen = new Set<string>();
      // Beside other holds, and where several balances may pay, a hold may cost more than its event.
      let isExact = prices.balances !== 'several';
      const isVolume = prices.rates.some((one) => 'tiers_mode' in one && one.tiers_mode === 'volume');
      for (const [index, { value, region, hour, used }] of list.entries()) {
        const transaction_id = `price ${customers} ${index}`;
        const timestamp = `2026-11-10T${String(hour).padStart(2, '0')}:00:00Z`;
        const event = { event_type: `call ${customers}`, properties: { value, region }, timestamp };
        const answer = await api.post('/v1/holds/reserve', {
          holds: [{ customer_id, transaction_id, event }],
        });
        if (!(answer.list('data')[0] as { granted: boolean }).granted) {
          const reasons = prices.balances === 'several' ? ['not_priceable', 'balance'] : ['not_priceable'];
          expect(reasons).toContain(answer.text('data[0].reason'));
          continue;
        }
        if (used === 'held on') {
          isExact = false;
          continue;
        }
        if (used === 'released') {
          await api.post('/v1/holds/release', { holds: [{ transaction_id }] });
          continue;
        }
        const properties = used === 'less' ? { value: Math.floor(value / 2), region } : { value, region };
        const settled = await api.post('/v1/holds/settle', { settlements: [{ transaction_id, properties }] });
        const after = await charged(customer_id);
        const held = decimal(answer.digits('data[0].amount'));
        const isRepeated = prices.aggregation === 'UNIQUE' && seen.has(`${region} ${properties.value}`);
        if (settled.at('data[0].amount') !== null && !isRepeated) {
          expect(settled.digits('data[0].amount')).toBe(after.minus(before).toFixed());
          if (prices.balances === 'several') severalChecked += 1;
        }
        if (isVolume) {
          // An event may change the price of all units: a hold is never less than the increase, and never below 0.
          if (!isRepeated && isExact) expect(held.gte(after.minus(before))).toBe(true);
          expect(held.gte(decimal('0'))).toBe(true);
        } else if (used === 'as held' && !isRepeated && isExact) {
          expect(held.toFixed()).toBe(after.minus(before).toFixed());
          if (held.gt(decimal('0'))) checked += 1;
        } else if (isExact) {
          expect(held.gte(after.minus(before))).toBe(true);
        }
        // A known value counts as a new one until an evaluation, which a change of the customer brings about.
        if (isRepeated)
          await api.post(`/v1/customers/${customer_id}/setIngestAliases`, { ingest_aliases: [] });
        seen.add(`${region} ${properties.value}`);
        before = after;
      }
    }),
    { numRuns: runs(90), endOnFailure: true },
  );
  expect(checked).toBeGreaterThan(10);
  expect(severalChecked).toBeGreaterThan(5);
});
