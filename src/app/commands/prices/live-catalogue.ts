/** The catalogue of a running service as its public API answers it: prices, and all they depend on. */
import { z } from 'zod';
import { JsonNumber, parseJson } from '../../../api/base/json.ts';
import { ask, askFor, type RunningService } from '../running-service.ts';

/** A number of any length. */
const exact = z.union([z.number(), z.instanceof(JsonNumber)]);
const fields = z.record(z.string(), z.string());
const unit = z.object({ id: z.string(), name: z.string() });

const pricingUnit = unit.extend({ is_currency: z.boolean() });
const customFieldKey = z.object({ entity: z.string(), key: z.string(), enforce_uniqueness: z.boolean() });

const metric = unit.extend({
  sql: z.string().optional(),
  event_type_filter: z.unknown().optional(),
  property_filters: z.array(z.unknown()).optional(),
  aggregation_type: z.string().optional(),
  aggregation_key: z.string().optional(),
  group_keys: z.array(z.array(z.string())).optional(),
  custom_fields: fields,
  archived_at: z.string().nullish(),
});

type LiveMetric = z.output<typeof metric>;

const productTerms = z.object({
  name: z.string().optional(),
  starting_at: z.string().optional(),
  tags: z.array(z.string()).optional(),
  billable_metric_id: z.string().optional(),
  sql_breakdown_granularity: z.string().optional(),
  quantity_conversion: z.unknown().optional(),
  quantity_rounding: z.unknown().optional(),
  pricing_group_key: z.array(z.string()).optional(),
  presentation_group_key: z.array(z.string()).optional(),
  composite_product_ids: z.array(z.string()).optional(),
  composite_tags: z.array(z.string()).optional(),
  exclude_free_usage: z.boolean().optional(),
  include_composite_spend: z.boolean().optional(),
});
export type ProductTerms = z.output<typeof productTerms>;

const product = z.object({
  id: z.string(),
  type: z.string(),
  initial: productTerms.extend({ name: z.string() }),
  current: z.object({ name: z.string() }),
  updates: z.array(productTerms),
  custom_fields: fields,
  archived_at: z.string().nullish(),
});
export type LiveProduct = z.output<typeof product>;

const price = z.object({
  rate_type: z.string(),
  price: exact.optional(),
  tiers: z.array(z.object({ size: exact.optional(), price: exact })).optional(),
  tiers_mode: z.string().optional(),
  minimum_config: z.object({ minimum: exact }).optional(),
  quantity: exact.optional(),
  is_prorated: z.boolean().optional(),
});

const rate = z.object({
  product_id: z.string(),
  pricing_group_values: fields.optional(),
  billing_frequency: z.string().optional(),
  starting_at: z.string(),
  ending_before: z.string().optional(),
  entitled: z.boolean(),
  rate: price.extend({ credit_type: unit.optional() }),
  commit_rate: price.optional(),
});
export type LiveRate = z.output<typeof rate>;

const rateCard = unit.extend({
  description: z.string().optional(),
  fiat_credit_type: unit,
  credit_type_conversions: z
    .array(z.object({ custom_credit_type: unit, fiat_per_custom_credit: z.union([exact, z.string()]) }))
    .optional(),
  aliases: z
    .array(
      z.object({
        name: z.string(),
        starting_at: z.string().optional(),
        ending_before: z.string().optional(),
      }),
    )
    .optional(),
  custom_fields: fields,
});

export type LiveCard = z.output<typeof rateCard> & { readonly rates: readonly LiveRate[] };

/**
 * The objects of the service, in the order in which it lists them. Archived metrics and products are included, because
 * products and rates may still refer to them. Archived rate cards are not.
 */
export interface LiveCatalogue {
  readonly units: readonly z.output<typeof pricingUnit>[];
  readonly fieldKeys: readonly z.output<typeof customFieldKey>[];
  readonly metrics: readonly LiveMetric[];
  readonly products: readonly LiveProduct[];
  readonly cards: readonly LiveCard[];
}

/** No rate can begin earlier than what a schedule from here on shows. */
const BEGINNING = '1970-01-01T00:00:00Z';
const PRODUCTS = '/v1/contract-pricing/products/list';
const CARDS = '/v1/contract-pricing/rate-cards';

/** Throws `CommandFailure` without an answer, or if the token may not read the catalogue. */
export async function readCatalogue(service: RunningService): Promise<LiveCatalogue> {
  const units = await listed(service, '/v1/credit-types/list', null, pricingUnit);
  const fieldKeys = await listed(service, '/v1/customFields/listKeys', {}, customFieldKey);
  const metrics = await listed(service, '/v1/billable-metrics?include_archived=true', null, metric);
  const products = await listed(service, PRODUCTS, { archive_filter: 'ALL' }, product);
  const cards: LiveCard[] = [];
  for (const card of await listed(service, `${CARDS}/list`, {}, rateCard)) {
    const body = { rate_card_id: card.id, starting_at: BEGINNING };
    cards.push({ ...card, rates: await listed(service, `${CARDS}/getRateSchedule`, body, rate) });
  }
  return { units, fieldKeys, metrics, products, cards };
}

/** More pages than any catalogue has. */
const PAGES_MAX = 100_000;

/** All pages of a list. `body` null: a GET. */
async function listed<Item extends z.ZodType>(
  service: RunningService,
  path: string,
  body: object | null,
  item: Item,
): Promise<z.output<Item>[]> {
  const page = z.object({ data: z.array(item), next_page: z.string().nullish() });
  const items: z.output<Item>[] = [];
  let next = '';
  for (let count = 0; count < PAGES_MAX; count += 1) {
    const mark = path.includes('?') ? '&' : '?';
    const place = next === '' ? path : `${path}${mark}next_page=${encodeURIComponent(next)}`;
    const answer = body === null ? await askFor(service, place) : await ask(service, place, body);
    const { data, next_page: following } = page.parse(parseJson(await answer.text()));
    items.push(...data);
    if (following === null || following === undefined) break;
    next = following;
  }
  return items;
}
