/** The margin of whatever was used is what the daily breakdowns charge for it less what the provider takes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Decimal, decimal, sum, ZERO } from '../../src/core/decimal.ts';
import { TOKEN_KINDS } from '../../src/core/token-billing.ts';
import { createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';
import { importModels } from '../support/token-prices.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db } = service;
const MONTH = Date.UTC(2026, 10, 1);
const RANGE = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-11-10T00:00:00Z' };
const HOUR_MS = 3_600_000;
const HOURS = 9 * 24;
const MODELS = 3;

/** USD a million tokens, with up to four places. */
const usd = fc.integer({ min: 1, max: 200_000 }).map((tenThousandths) => String(tenThousandths / 10_000));
const prices = fc.record(Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, usd])));
const model = fc.record({
  prices,
  /** In the middle of an hour or at its start; null: the price does not change. */
  later: fc.option(fc.record({ prices, halfHour: fc.integer({ min: 1, max: 2 * HOURS }) })),
  markup: fc.integer({ min: 0, max: 300 }).map((percent) => percent / 100),
  /** The multiplier of the contract: applies to charges, not to costs. */
  multiplier: fc.option(fc.integer({ min: 1, max: 20 }).map((tenths) => tenths / 10)),
});
const use = fc.record({
  model: fc.nat({ max: MODELS - 1 }),
  kind: fc.constantFrom(...TOKEN_KINDS),
  minute: fc.nat({ max: HOURS * 60 - 1 }),
  tokens: fc.integer({ min: 1, max: 5_000_000 }),
});

type Model = typeof model extends fc.Arbitrary<infer Value> ? Value : never;
type Use = typeof use extends fc.Arbitrary<infer Value> ? Value : never;

let sequence = 0;

test('revenue is that of the breakdowns, cost is the price of the hour times the tokens, margin is the rest', async () => {
  const models = fc.array(model, { minLength: MODELS, maxLength: MODELS });
  const uses = fc.array(use, { minLength: 1, maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(models, uses, async (given, used) => {
      sequence += 1;
      const customerId = await bill(`p${sequence}`, given, used);
      expect(await marginOf(customerId)).toEqual(
        expected(given, used, await revenueByDay(customerId), `p${sequence}`),
      );
    }),
    { numRuns: runs(30) },
  );
});

const at = (halfHours: number) => new Date(MONTH + (halfHours * HOUR_MS) / 2).toISOString();

/** A card of the models, and a customer with the usage on it. */
async function bill(provider: string, given: readonly Model[], used: readonly Use[]): Promise<string> {
  const modelsAt = (isLater: boolean) =>
    given.map((one, index) => ({
      provider,
      model: `${provider}/m${index}`,
      prices: [
        { from: '2026-01-01T00:00:00Z', usd: one.prices },
        ...(isLater && one.later !== null ? [{ from: at(one.later.halfHour), usd: one.later.prices }] : []),
      ],
    }));
  // The card keeps the first prices.
  await importModels({ db, now: Date.UTC(2026, 9, 1) }, modelsAt(false));
  const card = await createdId(api, RATE_CARDS, {
    name: provider,
    managed_pricing: {
      models: given.map(({ markup }, index) => ({ model: `${provider}/m${index}`, markup })),
    },
  });
  await importModels({ db, now: Date.UTC(2026, 10, 10) }, modelsAt(true));
  const customerId = await createdId(api, '/v1/customers', { name: provider, ingest_aliases: [provider] });
  const overrides = given.flatMap(({ multiplier }, index) =>
    multiplier === null
      ? []
      : [
          {
            starting_at: RANGE.starting_on,
            type: 'MULTIPLIER',
            multiplier,
            override_specifiers: [
              {
                product_tags: ['ai_managed'],
                pricing_group_values: { model: `${provider}/m${index}`, provider },
              },
            ],
          },
        ],
  );
  await api.post('/v1/contracts/create', {
    ...{ customer_id: customerId, rate_card_id: card, starting_at: RANGE.starting_on, overrides },
  });
  await api.post(
    '/v1/ingest',
    used.map(({ model: index, kind, minute, tokens }, number) => ({
      transaction_id: `${provider}-${number}`,
      customer_id: provider,
      event_type: 'token-billing',
      timestamp: new Date(MONTH + minute * 60_000).toISOString(),
      properties: { provider, model: `${provider}/m${index}`, [kind]: tokens },
    })),
  );
  return customerId;
}

/** The charges of each day for each model, by `day model`. */
async function revenueByDay(customerId: string): Promise<Map<string, Decimal>> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices/breakdowns`, {
    query: { window_size: 'DAY', ...RANGE, limit: 100 },
  });
  const revenue = new Map<string, Decimal>();
  for (const index of answer.list('data').keys()) {
    const day = answer.text(`data[${index}].breakdown_start_timestamp`).slice(0, 10);
    for (const line of answer.list(`data[${index}].line_items`).keys()) {
      const path = `data[${index}].line_items[${line}]`;
      const key = `${day} ${answer.text(`${path}.pricing_group_values.model`)}`;
      revenue.set(key, (revenue.get(key) ?? ZERO).plus(decimal(answer.digits(`${path}.total`))));
    }
  }
  return revenue;
}

/** Tokens, revenue, cost and margin of each day and model. */
async function marginOf(customerId: string): Promise<Record<string, string[]>> {
  const answer = await api.get('/v1/token-billing/margin', { query: { customer_id: customerId, ...RANGE } });
  return Object.fromEntries(
    answer.list('data').map((_, index) => {
      const path = `data[${index}]`;
      const key = `${answer.text(`${path}.day`).slice(0, 10)} ${answer.text(`${path}.model`)}`;
      const figures = ['tokens', 'revenue', 'provider_cost', 'margin'];
      return [key, figures.map((name) => decimal(answer.digits(`${path}.${name}`)).toFixed())];
    }),
  );
}

function expected(
  given: readonly Model[],
  used: readonly Use[],
  revenue: ReadonlyMap<string, Decimal>,
  provider: string,
): Record<string, string[]> {
  const keyOf = (one: Use) =>
    `${new Date(MONTH + one.minute * 60_000).toISOString().slice(0, 10)} ${provider}/m${one.model}`;
  return Object.fromEntries(
    [...new Set(used.map(keyOf))].map((key) => {
      const own = used.filter((one) => keyOf(one) === key);
      const charged = revenue.get(key) ?? ZERO;
      const cost = sum(own.map((one) => costOf(given[one.model], one)));
      const tokens = String(own.reduce((total, one) => total + one.tokens, 0));
      return [key, [tokens, charged.toFixed(), cost.toFixed(), charged.minus(cost).toFixed()]];
    }),
  );
}

/** In cents: a USD a million tokens is a ten-thousandth of a cent for a token. */
function costOf(of: Model | undefined, { kind, minute, tokens }: Use): Decimal {
  const hour = Math.floor(minute / 60);
  const isLater = of?.later != null && of.later.halfHour <= 2 * hour;
  const price = (isLater ? of?.later?.prices : of?.prices)?.[kind] ?? '0';
  return decimal(price)
    .times(decimal(String(tokens)))
    .times(decimal('0.0001'));
}
