/**
 * The rate schedule of a contract against its draft invoice: at the start of every line the schedule gives
 * the line's unit price, for as long as the line lasts; what it does not entitle has no line.
 */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { formatInstant, HOUR_MS, type Instant } from '../../src/core/time.ts';
import {
  ADD_RATES,
  CONTRACTS,
  createdId,
  METRICS,
  PRODUCTS,
  RATE_CARDS,
  TOKENS_METRIC,
} from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';

const START = Date.UTC(2026, 10, 1);
const PERIOD_END = '2026-12-01T00:00:00.000Z';
/** Hours of the period that rates, overrides and usage lie in. */
const HOURS = 48;
const MODELS = ['large', 'small', 'other'] as const;

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
let tokens: string;
let plain: string;
let run = 0;

beforeAll(async () => {
  const { api } = service;
  const billable_metric_id = await createdId(api, METRICS, TOKENS_METRIC);
  const usage = { type: 'USAGE', billable_metric_id };
  tokens = await createdId(api, PRODUCTS, {
    ...usage,
    name: 'Tokens',
    tags: ['llm'],
    pricing_group_key: ['model'],
  });
  plain = await createdId(api, PRODUCTS, { ...usage, name: 'Plain', tags: ['llm', 'old'] });
});

const hour = fc.integer({ min: 0, max: HOURS - 1 });
/** Prices and multipliers that are never equal by accident. */
const price = fc.integer({ min: 1, max: 9_999 }).map((digits) => digits / 100);

const range = fc
  .record({ from: hour, length: fc.option(fc.integer({ min: 1, max: 20 }), { freq: 3 }) })
  .map(({ from, length }) => ({
    starting_at: formatInstant(START + from * HOUR_MS),
    ...(length === null ? {} : { ending_before: formatInstant(START + (from + length) * HOUR_MS) }),
  }));

/** The values that a rate is for: the product without groups, a model of `tokens`, or all its other models. */
const RATES_FOR = ['plain', 'large', 'small', 'others'] as const;

const ratesArbitrary = fc.array(
  fc.record({
    of: fc.constantFrom(...RATES_FOR),
    range,
    price,
    entitled: fc.integer({ min: 0, max: 4 }).map((value) => value > 0),
  }),
  { minLength: 2, maxLength: 8 },
);

const target = fc.constantFrom(
  () => ({}),
  () => ({ product_id: plain }),
  () => ({ applicable_product_tags: ['llm'] }),
  () => ({ override_specifiers: [{ product_tags: ['llm', 'old'] }] }),
  () => ({ override_specifiers: [{ product_id: tokens, pricing_group_values: { model: 'large' } }] }),
  () => ({ override_specifiers: [{ pricing_group_values: { model: 'small' } }, { product_id: plain }] }),
  () => ({ override_specifiers: [{ product_tags: ['llm'], pricing_group_values: { model: 'other' } }] }),
);

const overridesArbitrary = fc.array(
  fc.oneof(
    fc.record({ range, price, target }).map((one) => () => ({
      ...one.range,
      ...one.target(),
      type: 'MULTIPLIER',
      multiplier: one.price,
    })),
    fc.record({ range, price, of: fc.constantFrom('plain', ...MODELS) }).map((one) => () => ({
      ...one.range,
      type: 'OVERWRITE',
      overwrite_rate: { rate_type: 'FLAT', price: one.price },
      override_specifiers:
        one.of === 'plain'
          ? [{ product_id: plain }]
          : [{ product_id: tokens, pricing_group_values: { model: one.of } }],
    })),
    fc.record({ range, target, entitled: fc.boolean() }).map((one) => () => ({
      ...one.range,
      ...one.target(),
      entitled: one.entitled,
    })),
  ),
  { maxLength: 8 },
);

interface Line {
  readonly product_id: string;
  readonly model: string | undefined;
  readonly starting_at: string;
  readonly ending_before: string;
  readonly unit_price: string;
}

interface Priced {
  readonly price: string;
  readonly starting_at: string;
  readonly ending_before: string | undefined;
}

type Entry = {
  readonly product_id: string;
  readonly pricing_group_values?: { readonly model: string };
  readonly starting_at: string;
  readonly ending_before?: string;
  readonly list_rate: { readonly price: unknown };
  readonly override_rate?: { readonly price: unknown };
};

/** The prices that the schedule gives at `at`, by product and model. */
async function scheduleAt(reference: object, at: string): Promise<Map<string, Priced>> {
  const prices = new Map<string, Priced>();
  let next_page: string | undefined;
  do {
    const query = { limit: 2, next_page };
    const path = '/v1/contracts/getContractRateSchedule';
    const page = await service.api.post(path, { ...reference, at }, { query });
    for (const entry of page.list('data') as Entry[]) {
      const rate = entry.override_rate ?? entry.list_rate;
      prices.set(keyOf(entry.product_id, entry.pricing_group_values?.model), {
        price: String(rate.price),
        starting_at: entry.starting_at,
        ending_before: entry.ending_before,
      });
    }
    next_page = page.at('next_page') === null ? undefined : page.text('next_page');
  } while (next_page !== undefined);
  return prices;
}

function keyOf(productId: string, model: string | undefined): string {
  return `${productId} ${model ?? ''}`;
}

/** Lines with usage on the draft invoice. */
async function draftLines(customer: string): Promise<Line[]> {
  const answer = await service.api.get(`/v1/customers/${customer}/invoices`, {
    query: { status: 'DRAFT' },
  });
  expect(answer.list('data')).toHaveLength(1);
  return answer
    .list('data[0].line_items')
    .map((_, index) => {
      const path = `data[0].line_items[${index}]`;
      const model = answer.at(`${path}.pricing_group_values.model`);
      return {
        product_id: answer.text(`${path}.product_id`),
        model: typeof model === 'string' ? model : undefined,
        starting_at: answer.text(`${path}.starting_at`),
        ending_before: answer.text(`${path}.ending_before`),
        unit_price: answer.digits(`${path}.unit_price`),
        quantity: answer.digits(`${path}.quantity`),
      };
    })
    .filter((line) => line.quantity !== '0');
}

/** One token of every model in every hour, so that every segment of every price has usage. */
async function useInEveryHour(alias: string): Promise<void> {
  const events = Array.from({ length: HOURS }, (_, index) =>
    MODELS.map((model) => ({
      transaction_id: `${alias} ${index} ${model}`,
      customer_id: alias,
      event_type: 'completion',
      timestamp: formatInstant(START + index * HOUR_MS),
      properties: { tokens: 1, model, region: 'eu' },
    })),
  ).flat();
  await service.api.post('/v1/ingest', events.slice(0, 100));
  await service.api.post('/v1/ingest', events.slice(100));
}

function covers(line: Line, key: string, at: Instant): boolean {
  const text = formatInstant(at);
  return keyOf(line.product_id, line.model) === key && line.starting_at <= text && text < line.ending_before;
}

/**
 * The line, cut where another rate of the card with the same price begins. Usage without its own row has the price of
 * the row for all others, whose own limits say nothing about the line.
 */
async function expectScheduled(reference: object, line: Line): Promise<void> {
  let at = line.starting_at;
  while (at < line.ending_before) {
    const schedule = await scheduleAt(reference, at);
    const own = schedule.get(keyOf(line.product_id, line.model));
    const priced = own ?? schedule.get(keyOf(line.product_id, undefined));
    expect(priced?.price).toBe(line.unit_price);
    const end = priced?.ending_before ?? PERIOD_END;
    if (own !== undefined) expect(own.starting_at).toBe(at);
    at = own === undefined && end > line.ending_before ? line.ending_before : end;
  }
  expect(at).toBe(line.ending_before);
}

/** Every row is billed, and everything that is billed has its own row or is one of all others. */
function expectSameKeys(scheduled: ReadonlySet<string>, billed: ReadonlySet<string>): void {
  const others = keyOf(tokens, undefined);
  for (const key of scheduled) if (key !== others) expect(billed).toContain(key);
  for (const key of billed) {
    const isOther = scheduled.has(others) && key.startsWith(tokens);
    if (!isOther) expect(scheduled).toContain(key);
  }
}

test('the prices of a contract’s schedule are those of its draft invoice', async () => {
  await fc.assert(
    fc.asyncProperty(ratesArbitrary, overridesArbitrary, hour, async (rates, overrides, probe) => {
      const { api } = service;
      const alias = `customer ${run++}`;
      const customer = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
      const card = await createdId(api, RATE_CARDS, { name: alias });
      const base = { starting_at: formatInstant(START), entitled: true, rate_type: 'FLAT', price: 1 };
      await api.post(ADD_RATES, {
        rate_card_id: card,
        rates: [
          { ...base, product_id: plain },
          { ...base, product_id: tokens, pricing_group_values: { model: 'large' } },
          ...rates.map((one) => ({
            ...one.range,
            entitled: one.entitled,
            rate_type: 'FLAT',
            price: one.price,
            product_id: one.of === 'plain' ? plain : tokens,
            ...(one.of === 'plain' || one.of === 'others' ? {} : { pricing_group_values: { model: one.of } }),
          })),
        ],
      });
      const contract = await createdId(api, CONTRACTS, {
        customer_id: customer,
        rate_card_id: card,
        starting_at: formatInstant(START),
        overrides: overrides.map((override) => override()),
      });
      await useInEveryHour(alias);
      const reference = { customer_id: customer, contract_id: contract };
      const lines = await draftLines(customer);
      for (const line of lines) await expectScheduled(reference, line);
      const at = START + probe * HOUR_MS;
      const scheduled = await scheduleAt(reference, formatInstant(at));
      const billed = [keyOf(plain, undefined), ...MODELS.map((model) => keyOf(tokens, model))].filter((key) =>
        lines.some((line) => covers(line, key, at)),
      );
      expectSameKeys(new Set(scheduled.keys()), new Set(billed));
    }),
    { numRuns: runs(25) },
  );
}, 180_000);
