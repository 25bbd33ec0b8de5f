/**
 * The law of spend limits (docs/explanation/holds.md): whatever is asked, what holds were granted for never lets a
 * billing period of a contract charge more than its limit, beyond what usage without holds did, and nothing is refused
 * that there is room for. Two products, of which a balance pays for one; a model beside it counts in whole cents.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimal } from '../../src/core/decimal.ts';
import { ADD_RATES, createdId, METRICS, PRODUCTS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { type Answered, reserve } from '../support/holds.ts';
import { runs } from '../support/shares-of-tests.ts';
import { createThresholdCatalogue, createThresholdCustomer } from '../support/thresholds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-01T12:30:00Z' });
const { api } = service;
const catalogue = await createThresholdCatalogue(api);
const paid = await createPaidProduct();

/** Another product at one cent a token, which balances may be limited to. */
async function createPaidProduct(): Promise<string> {
  const billable_metric_id = await createdId(api, METRICS, {
    ...{ name: 'Paid tokens', aggregation_type: 'SUM', aggregation_key: 'tokens' },
    property_filters: [{ name: 'tokens', exists: true }],
    event_type_filter: { in_values: ['paid'] },
  });
  const product_id = await createdId(api, PRODUCTS, { name: 'Paid', type: 'USAGE', billable_metric_id });
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 1 };
  await api.post(ADD_RATES, { rate_card_id: catalogue.card, rates: [{ ...rate, product_id }] });
  return product_id;
}

const tokens = fc.integer({ min: 0, max: 60 });
/** In one of two open billing periods, or of the product with a balance, in the later one. */
const place = { at: fc.constantFrom<Place[]>('now', 'now', 'earlier', 'balance') };
const pick = fc.nat(30);
const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('reserve' as const), tokens, ...place }) },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ kind: fc.constant('burst' as const), tokens, ...place },
      count: fc.integer({ min: 2, max: 6 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('settle' as const), pick, tokens }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ingest' as const), tokens, ...place }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('limit' as const), limit: fc.nat(200) }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;
type Place = 'now' | 'earlier' | 'balance';

const BALANCE = 80;
let customers = 0;

interface Counted {
  used: number;
  readonly held: Map<string, number>;
}

/** The held and used amount of one product in one billing period, or of the balance. */
function heldAndUsed({ used, held }: Counted): number {
  return used + [...held.values()].reduce((sum, one) => sum + one, 0);
}

async function start(limit: number) {
  customers += 1;
  const item = {
    amount: BALANCE,
    starting_at: '2026-10-01T00:00:00Z',
    ending_before: '2027-11-01T00:00:00Z',
  };
  const customer = await createThresholdCustomer(api, catalogue, {
    starting_at: '2026-10-01T00:00:00Z',
    spend_limit: { amount: limit },
    credits: [
      {
        ...{ product_id: catalogue.fee, priority: 1, applicable_product_ids: [paid] },
        access_schedule: { schedule_items: [item] },
      },
    ],
  });
  const newCounted = (): Counted => ({ used: 0, held: new Map() });
  const model = { limit, now: newCounted(), earlier: newCounted(), balance: newCounted() };
  let sent = 0;
  const newId = () => {
    sent += 1;
    return `limit ${customers} ${sent}`;
  };
  /** Usage that the balance has no room for is charged, too. */
  const beyondBalance = () => Math.max(0, heldAndUsed(model.balance) - BALANCE);
  const leftOf = (at: Place) => {
    if (at === 'balance') return BALANCE - heldAndUsed(model.balance);
    return model.limit - heldAndUsed(model[at]) - (at === 'now' ? beyondBalance() : 0);
  };
  const eventOf = (at: Place, count: number) => ({
    event_type: at === 'balance' ? 'paid' : 'use',
    timestamp: at === 'earlier' ? '2026-10-31T12:00:00Z' : '2026-11-01T06:00:00Z',
    properties: { tokens: count },
  });
  const hold = (id: string, at: Place, count: number) => ({
    ...{ customer_id: customer.customerId, transaction_id: id, event: eventOf(at, count) },
  });
  /** Where each hold is. */
  const places = new Map<string, Place>();
  const chosen = (at: number) => [...places.keys()][at % Math.max(1, places.size)];

  return {
    model,
    customer,
    async run(one: Operation): Promise<void> {
      switch (one.kind) {
        case 'reserve': {
          const id = newId();
          const [answer] = await reserve(api, hold(id, one.at, one.tokens));
          expectJudged(answer, one.tokens, leftOf(one.at), one.at);
          if (!answer?.granted) return;
          model[one.at].held.set(id, one.tokens);
          places.set(id, one.at);
          expect(answer.remaining).toBe(Math.max(0, leftOf(one.at)));
          return;
        }
        case 'burst': {
          const ids = Array.from({ length: one.count }, newId);
          const room = one.tokens === 0 ? one.count : Math.floor(leftOf(one.at) / one.tokens);
          const answers = await Promise.all(ids.map((id) => reserve(api, hold(id, one.at, one.tokens))));
          const granted = ids.filter((_, index) => answers[index]?.[0]?.granted);
          expect(granted).toHaveLength(Math.min(one.count, Math.max(0, room)));
          for (const id of granted) {
            model[one.at].held.set(id, one.tokens);
            places.set(id, one.at);
          }
          return;
        }
        case 'settle': {
          const id = chosen(one.pick);
          const at = places.get(id ?? '');
          if (id === undefined || at === undefined) return;
          const settlements = [{ transaction_id: id, properties: { tokens: one.tokens } }];
          await api.post('/v1/holds/settle', { settlements });
          places.delete(id);
          model[at].held.delete(id);
          use(at, one.tokens);
          return;
        }
        case 'ingest': {
          const event = { customer_id: customer.customerId, ...eventOf(one.at, one.tokens) };
          await api.post('/v1/ingest', [{ transaction_id: newId(), ...event }]);
          use(one.at, one.tokens);
          return;
        }
        case 'release': {
          const id = chosen(one.pick);
          const at = places.get(id ?? '');
          if (id === undefined || at === undefined) return;
          await api.post('/v1/holds/release', { holds: [{ transaction_id: id }] });
          places.delete(id);
          model[at].held.delete(id);
          return;
        }
        case 'limit':
          await customer.edit({ spend_limit: { amount: one.limit } });
          model.limit = one.limit;
      }
    },
  };

  function use(at: Place, count: number): void {
    model[at].used += count;
  }
}

function expectJudged(answer: Answered | undefined, tokens: number, left: number, at: Place): void {
  expect(answer?.granted).toBe(tokens === 0 || tokens <= left);
  if (!answer?.granted) expect(answer?.reason).toBe(at === 'balance' ? 'balance' : 'spend_limit');
}

test('what a billing period charges and what is held never exceeds the limit, and nothing is refused that there is room for', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(200),
      fc.array(operation, { minLength: 5, maxLength: 25 }),
      async (limit, operations) => {
        const { model, customer, run } = await start(limit);
        for (const one of operations) await run(one);
        const answer = await api.get(`/v1/customers/${customer.customerId}/invoices`, {
          query: { status: 'DRAFT', sort: 'date_asc' },
        });
        const totals = answer.list('data').map((_, index) => decimal(answer.digits(`data[${index}].total`)));
        const beyond = Math.max(0, model.balance.used - BALANCE);
        const total = totals.reduce((sum, one) => sum.plus(one), decimal('0'));
        expect(total.toFixed()).toBe(String(model.now.used + model.earlier.used + beyond));
      },
    ),
    { numRuns: runs(20), endOnFailure: true },
  );
});
