/** The kinds of value in terms, with their forms in requests and answers. */
import { z } from 'zod';
import { formatInstant } from '../../core/time.ts';
import { decided, defaulted, described, type Field, kind, named } from './description.ts';
import {
  creditType,
  customFields as customFieldsSchema,
  endTimestamp,
  enumIn,
  exactNumber,
  exactValue,
  hourAlignedEnd,
  hourAlignedTimestamp,
  timestamp,
  uuid,
  wholeNumber,
} from './fields.ts';
import { within } from './record.ts';

export const text = kind(z.string().min(1), z.string());
export const anyText = kind(z.string(), z.string());
/** A text that is shown elsewhere, with at most so many characters. */
export const textUpTo = (max: number) => kind(z.string().max(max), z.string());
export const truth = kind(z.boolean(), z.boolean());
export const id = kind(uuid, uuid);
export const instant = kind(timestamp, endTimestamp, formatInstant);
/** The end of a term on a full hour, which may lie as far ahead as 2999. */
export const end = kind(hourAlignedEnd, endTimestamp, formatInstant);
/** An instant on a full hour. */
export const hour = kind(hourAlignedTimestamp, endTimestamp, formatInstant);

/** Default: false. In answers only when true. */
export const flag: Field<boolean> = {
  ...defaulted(truth, false),
  output: z.boolean().optional(),
  write: (value) => value || undefined,
};

export function exact(bounds: { readonly min?: string; readonly max?: string } = {}) {
  return kind(exactNumber(bounds), exactValue);
}

export function whole(min: number, max: number) {
  return kind(wholeNumber(min, max), z.int());
}

/** A whole number that answers show. */
export const integer = kind(z.int(), z.int());

export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return kind(enumIn(values), z.enum(values));
}

/** Text by name, such as group values. */
export const textMap = kind(z.record(z.string(), z.string()), z.record(z.string(), z.string()));

/** A reference to another object: `{id}`. */
export const reference = within('id', id);

/** A product by its id; answers add its name. */
export const product = {
  ...kind(uuid, z.object({ id: uuid, name: z.string() }), (productId: string, { products }) => ({
    id: productId,
    name: products.get(productId) ?? '',
  })),
  answeredAs: 'product',
};

/** A pricing unit by its id; answers add its name. */
export const pricingUnit = {
  ...kind(uuid, creditType, (creditTypeId: string, { creditTypes }) => ({
    id: creditTypeId,
    name: creditTypes.get(creditTypeId)?.name ?? '',
  })),
  answeredAs: 'credit_type',
};

export const customFields = defaulted(kind(customFieldsSchema, customFieldsSchema), {});

/** The pricing unit of a schedule. */
export const scheduleUnit = named(
  pricingUnit,
  described('Pricing unit. Default: US cents.', decided(pricingUnit)),
);
