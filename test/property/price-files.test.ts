/** Files of prices against installations: what one exports makes another the same. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makePlan } from '../../src/app/commands/prices/make-plan.ts';
import { readFiles } from '../../src/app/commands/prices/read-files.ts';
import { runSteps } from '../../src/app/commands/prices/run-steps.ts';
import { CommandFailure } from '../../src/app/failures/command-failure.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import type { ApiClient } from '../support/api-client.ts';
import { ADD_RATES, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { createInstallation, type PriceInstallation } from '../support/price-installations.ts';
import { runs } from '../support/shares-of-tests.ts';

const EUR = '58f0be15-cc47-4220-bdaf-072ab0e44f96';
const NOW = Date.UTC(2026, 10, 20, 12);
const SETTINGS = { effectiveAt: null, allowHistory: false, prune: false };

const month = fc
  .integer({ min: 0, max: 23 })
  .map((index) => new Date(Date.UTC(2026, index, 1)).toISOString());
const price = fc.constantFrom('1', '0.5', '12.000000000000000000001', '0');

const metric = fc.record({
  name: fc.constantFrom('Tokens', 'Calls', 'tokens!'),
  aggregation: fc.constantFrom('SUM', 'COUNT'),
  types: fc.subarray(['completion', 'image']),
  isArchived: fc.boolean(),
});

const update = fc.record({
  starting_at: month,
  name: fc.option(fc.constantFrom('Renamed', 'Again'), { nil: undefined }),
  tags: fc.option(fc.subarray(['a', 'b']), { nil: undefined }),
  quantity_rounding: fc.constantFrom(undefined, null, { rounding_method: 'ROUND_UP', decimal_places: 2 }),
});

const product = fc.record({
  name: fc.constantFrom('Input', 'Output', 'Seats'),
  type: fc.constantFrom('USAGE', 'SUBSCRIPTION', 'COMPOSITE', 'FIXED'),
  isGrouped: fc.boolean(),
  conversion: fc.option(
    price.filter((text) => text !== '0'),
    { nil: undefined },
  ),
  hasKey: fc.boolean(),
  team: fc.option(fc.constantFrom('red', 'blue'), { nil: undefined }),
  updates: fc.array(update, { maxLength: 3 }),
  isArchived: fc.boolean(),
});

const rate = fc.record({
  product: fc.nat(),
  model: fc.option(fc.constantFrom('large', 'small')),
  starting_at: month,
  months: fc.option(fc.integer({ min: 1, max: 5 })),
  entitled: fc.boolean(),
  price,
  kind: fc.constantFrom('flat', 'graduated', 'volume'),
});

const card = fc.record({
  name: fc.constantFrom('Standard', 'Partner'),
  isInEuro: fc.boolean(),
  hasUnit: fc.boolean(),
  alias: fc.option(month),
  rates: fc.array(rate, { maxLength: 12 }),
});

const catalogue = fc.record({
  metrics: fc.array(metric, { minLength: 1, maxLength: 3 }),
  products: fc.array(product, { maxLength: 6 }),
  cards: fc.array(card, { maxLength: 3 }),
});
type Spec = typeof catalogue extends fc.Arbitrary<infer One> ? One : never;

function json(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"#([\d.]+)"/g, '$1');
}

async function create(api: ApiClient, path: string, body: unknown): Promise<string> {
  const options = { rawBody: json(body), headers: { 'content-type': 'application/json' } };
  return (await api.post(path, undefined, options)).text('data.id');
}

async function build({ api }: PriceInstallation, spec: Spec): Promise<void> {
  const unit = await createdId(api, '/v1/credit-types/create', { name: 'Credits' });
  for (const key of ['key', 'team']) {
    await api.post('/v1/customFields/addKey', { entity: 'contract_product', key, enforce_uniqueness: false });
  }
  const metrics: string[] = [];
  for (const { name, aggregation, types } of spec.metrics) {
    const body = {
      ...{ name, aggregation_type: aggregation, group_keys: [['model']] },
      ...(types.length === 0 ? {} : { event_type_filter: { in_values: types } }),
      property_filters: [
        { name: 'model', exists: true },
        { name: 'n', exists: true },
      ],
      ...(aggregation === 'SUM' ? { aggregation_key: 'n' } : {}),
    };
    metrics.push(await createdId(api, METRICS, body));
  }
  const products = await buildProducts(api, spec, metrics);
  for (const one of spec.cards) await buildCard(api, one, unit, products);
  for (const [index, { isArchived }] of spec.metrics.entries()) {
    if (isArchived) await api.post('/v1/billable-metrics/archive', { id: metrics[index] });
  }
  for (const [index, { isArchived }] of spec.products.entries()) {
    const id = products[index]?.id;
    if (isArchived) await api.post('/v1/contract-pricing/products/archive', { product_id: id });
  }
}

interface Built {
  readonly id: string;
  readonly type: string;
  readonly isGrouped: boolean;
}

async function buildProducts(api: ApiClient, spec: Spec, metrics: readonly string[]): Promise<Built[]> {
  const built: Built[] = [];
  for (const [index, one] of spec.products.entries()) {
    // A composite counts all products before it.
    const type = one.type === 'COMPOSITE' && built.length === 0 ? 'FIXED' : one.type;
    const fields = {
      ...(one.hasKey ? { key: `product ${index % 2}` } : {}),
      ...(one.team === undefined ? {} : { team: one.team }),
    };
    const usage = {
      billable_metric_id: metrics[index % metrics.length],
      ...(one.isGrouped ? { pricing_group_key: ['model'] } : {}),
      ...(one.conversion === undefined
        ? {}
        : { quantity_conversion: { conversion_factor: `#${one.conversion}`, operation: 'MULTIPLY' } }),
    };
    const id = await create(api, PRODUCTS, {
      ...{ name: one.name, type, custom_fields: fields },
      ...(type === 'USAGE' ? usage : {}),
      ...(type === 'COMPOSITE' ? { composite_product_ids: built.map((other) => other.id) } : {}),
    });
    for (const { quantity_rounding, ...terms } of one.updates) {
      const body = { product_id: id, ...terms, ...(type === 'USAGE' ? { quantity_rounding } : {}) };
      await api.post('/v1/contract-pricing/products/update', body);
    }
    built.push({ id, type, isGrouped: one.isGrouped });
  }
  return built;
}

async function buildCard(
  api: ApiClient,
  one: Spec['cards'][number],
  unit: string,
  products: readonly Built[],
): Promise<void> {
  const id = await createdId(api, RATE_CARDS, {
    name: one.name,
    ...(one.isInEuro ? { fiat_credit_type_id: EUR } : {}),
    ...(one.hasUnit
      ? { credit_type_conversions: [{ custom_credit_type_id: unit, fiat_per_custom_credit: 2.5 }] }
      : {}),
    aliases: one.alias === null ? [] : [{ name: 'list', starting_at: one.alias }],
  });
  const priced = products.filter(({ type }) => type !== 'FIXED');
  const rates = one.rates.flatMap((rate) => {
    const of = priced[rate.product % priced.length];
    return of === undefined ? [] : [rateOf(rate, of, one.isInEuro, one.hasUnit ? unit : null)];
  });
  if (rates.length === 0) return;
  const rawBody = json({ rate_card_id: id, rates });
  await api.post(ADD_RATES, undefined, { rawBody, headers: { 'content-type': 'application/json' } });
}

function rateOf(
  rate: Spec['cards'][number]['rates'][number],
  of: Built,
  isInEuro: boolean,
  unit: string | null,
) {
  const { price: text, kind, months, model, starting_at, entitled } = rate;
  const end = new Date(starting_at);
  end.setUTCMonth(end.getUTCMonth() + (months ?? 0));
  const tiers = [{ size: 10, price: `#${text}` }, { price: `#${text}5` }];
  const type = of.type === 'COMPOSITE' ? 'PERCENTAGE' : 'FLAT';
  return {
    ...{ product_id: of.id, starting_at, entitled },
    ...(months === null ? {} : { ending_before: end.toISOString() }),
    ...(model !== null && of.isGrouped && of.type === 'USAGE' ? { pricing_group_values: { model } } : {}),
    ...(of.type === 'SUBSCRIPTION' ? { billing_frequency: 'MONTHLY' } : {}),
    ...(of.type === 'COMPOSITE' ? {} : { credit_type_id: unit ?? (isInEuro ? EUR : USD_CENTS.id) }),
    ...(of.type === 'USAGE' && kind !== 'flat'
      ? { rate_type: 'TIERED', tiers, tiers_mode: kind }
      : { rate_type: type, price: `#${text}` }),
  };
}

async function planOf({ service }: PriceInstallation, file: string) {
  return makePlan(service, await readFiles([file]), SETTINGS);
}

/** Applies the file; after the installation refused a call, the same once more. */
async function applied(installation: PriceInstallation, file: string): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      await runSteps(installation.service, await planOf(installation, file), () => {});
      return;
    } catch (error) {
      if (!(error instanceof CommandFailure) || !error.message.includes('503')) throw error;
    }
  }
  throw new Error('never done');
}

test('files of prices that one installation exports make an empty one the same, with a stop on the way, and then there is nothing to do', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prices-'));
  const file = join(folder, 'prices.yaml');
  await fc.assert(
    fc.asyncProperty(catalogue, fc.integer({ min: 1, max: 12 }), async (spec, stopAt) => {
      const source = await createInstallation(NOW);
      let writes = 0;
      const target = await createInstallation(NOW, (path) => {
        if (!/create|update|addRates|archive$|Values|addKey/.test(path)) return;
        writes += 1;
        if (writes === stopAt) throw new Error('stopped');
      });
      try {
        await build(source, spec);
        const text = await source.exported();
        await writeFile(file, text);
        expect((await planOf(source, file)).steps).toEqual([]);
        await applied(target, file);
        expect(await target.exported()).toBe(text);
        expect((await planOf(target, file)).steps).toEqual([]);
      } finally {
        await source.close();
        await target.close();
      }
    }),
    { numRuns: runs(12), endOnFailure: true },
  );
  await rm(folder, { recursive: true });
}, 240_000);
