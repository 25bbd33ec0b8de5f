/**
 * The catalogue as files have it (docs/how-to/prices-as-code.md): keys in place of ids, terms by the names of the API.
 * The catalogue of a service takes the same form, so that both can be compared.
 */
import { z } from 'zod';
import { formatInstant, parseRfc3339 } from '../../../core/time.ts';

/** An instant as the service writes it, so that equal instants are equal texts. */
const moment = z.string().transform((text) => {
  const at = parseRfc3339(text);
  return at === null ? text : formatInstant(at);
});

const fields = z.record(z.string(), z.string()).default({});

const named = { key: z.string(), was: z.string().optional(), custom_fields: fields };

const metric = z.looseObject({ ...named, name: z.string(), archived: z.boolean().default(false) });

const update = z.looseObject({ starting_at: moment });

const product = z.looseObject({
  ...named,
  type: z.string(),
  name: z.string(),
  archived: z.boolean().default(false),
  updates: z.array(update).default([]),
});

const rate = z.looseObject({
  product: z.string(),
  pricing_group_values: z.record(z.string(), z.string()).default({}),
  billing_frequency: z.string().optional(),
  starting_at: moment,
  ending_before: moment.optional(),
  entitled: z.boolean().default(true),
  unit: z.string().optional(),
});

const alias = z.object({
  name: z.string(),
  starting_at: moment.optional(),
  ending_before: moment.optional(),
});

const rateCard = z.looseObject({
  ...named,
  name: z.string(),
  description: z.string().optional(),
  currency: z.string().default('USD (cents)'),
  conversions: z.array(z.object({ unit: z.string(), fiat_per_custom_credit: z.unknown() })).default([]),
  aliases: z.array(alias).default([]),
  rates: z.array(rate).default([]),
});

/** Reads a catalogue whose members are checked already; members that are left out get what they mean. */
export const catalogueForm = z.object({
  pricing_units: z.array(z.object({ name: z.string() })).default([]),
  custom_field_keys: z
    .array(z.object({ entity: z.string(), key: z.string(), enforce_uniqueness: z.boolean() }))
    .default([]),
  metrics: z.array(metric).default([]),
  products: z.array(product).default([]),
  rate_cards: z.array(rateCard).default([]),
});

export type Catalogue = z.output<typeof catalogueForm>;
export type FileMetric = z.output<typeof metric>;
export type FileProduct = z.output<typeof product>;
export type FileCard = z.output<typeof rateCard>;
export type FileRate = z.output<typeof rate>;
export type Terms = Readonly<Record<string, unknown>>;

/** The custom field that holds the key of an object, and the kinds of objects that have keys. */
export const KEY_FIELD = 'key';
export const KEYED = {
  metric: 'billable_metric',
  product: 'contract_product',
  'rate card': 'rate_card',
} as const;
export type KeyedKind = keyof typeof KEYED;
export const KEYED_KINDS = ['metric', 'product', 'rate card'] as const satisfies readonly KeyedKind[];

/** Whether the declaration only serves to hold keys, which no file states. */
export function holdsKeys({ entity, key }: { readonly entity: string; readonly key: string }): boolean {
  return key === KEY_FIELD && Object.values<string>(KEYED).includes(entity);
}
