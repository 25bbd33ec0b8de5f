/** A rate as edited by a person: texts of fields, for every type of rate; and back. Pure. */
import type Big from 'big.js';
import type { Exact } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { type DraftRate, isPercentageType } from './price-draft.ts';
import { sentAmount, sentShare, shownAmount, shownShare } from './rate-text.ts';

type RateType = DraftRate['type'];
type Unit = Schemas['CreditType'];

interface EditedTier {
  /** The number of units; empty in the last tier. */
  readonly size: string;
  readonly price: string;
}

export interface EditedRate {
  readonly type: RateType;
  /** One for a rate without tiers. */
  readonly tiers: readonly EditedTier[];
  /** The mode of the tiers, unchanged. */
  readonly tiersMode?: DraftRate['tiersMode'];
  readonly minimum: string;
  readonly quantity: string;
  /** The id of the unit of the price. */
  readonly unit: string;
  readonly entitled: boolean;
}

/** The types that a product can have, as the API allows them. */
export const TYPES: Readonly<Record<Schemas['Product']['type'], readonly RateType[]>> = {
  USAGE: ['FLAT', 'TIERED'],
  SUBSCRIPTION: ['FLAT', 'SUBSCRIPTION'],
  COMPOSITE: ['PERCENTAGE', 'TIERED_PERCENTAGE'],
  FIXED: [],
  PRO_SERVICE: [],
};

export const TYPE_NAMES: Readonly<Record<RateType, string>> = {
  FLAT: 'one price',
  TIERED: 'tiers',
  PERCENTAGE: 'percentage',
  TIERED_PERCENTAGE: 'percentage by tiers',
  SUBSCRIPTION: 'price of a period',
  CUSTOM: 'custom',
};

export function hasTiers(type: RateType): boolean {
  return type === 'TIERED' || type === 'TIERED_PERCENTAGE';
}

/** The units of the amounts of the rate: `unit` of its price, `fiat` of the card. */
export interface EditUnits {
  unit(id: string): Unit | undefined;
  readonly fiat: Unit;
}

/** The fields of a rate. */
export function editedOf(rate: DraftRate, { unit, fiat }: EditUnits): EditedRate {
  const id = rate.unit ?? fiat.id;
  const shown = (price: string) =>
    isPercentageType(rate.type) ? shownShare(price as Exact) : shownAmount(price as Exact, unit(id));
  const tiers = rate.tiers ?? [{ price: rate.price ?? '0' }];
  return {
    type: rate.type,
    tiers: tiers.map(({ size = '', price }) => ({ size, price: shown(price) })),
    ...(rate.tiersMode === undefined ? {} : { tiersMode: rate.tiersMode }),
    minimum: rate.minimum === undefined ? '' : shownAmount(rate.minimum as Exact, fiat),
    quantity: rate.quantity ?? '',
    unit: id,
    entitled: rate.entitled,
  };
}

/** The fields with another type: the first price is kept, and tiers begin with two. */
export function withType(edited: EditedRate, type: RateType): EditedRate {
  const [first = { size: '', price: '0' }] = edited.tiers;
  const tiers = !hasTiers(type)
    ? [{ size: '', price: first.price }]
    : edited.tiers.length > 1
      ? edited.tiers
      : [
          { size: '', price: first.price },
          { size: '', price: first.price },
        ];
  return { ...edited, type, tiers };
}

/** Adds a tier before the last one, which has no end. */
export function withTier(edited: EditedRate): EditedRate {
  const last = edited.tiers.at(-1) ?? { size: '', price: '0' };
  return { ...edited, tiers: [...edited.tiers.slice(0, -1), { size: '', price: last.price }, last] };
}

/** Removes the tier at this index. The last remaining one has no end. */
export function withoutTier(edited: EditedRate, at: number): EditedRate {
  const kept = edited.tiers.filter((_, index) => index !== at);
  const last = kept.length - 1;
  return { ...edited, tiers: kept.map((tier, index) => (index === last ? { ...tier, size: '' } : tier)) };
}

export interface Place {
  readonly product: string;
  readonly values: Readonly<Record<string, string>>;
  readonly frequency?: DraftRate['frequency'];
  /** The rate at which balances with commit rates are drawn down, unchanged. */
  readonly commit?: DraftRate['commit'];
}

const PRICE_PROBLEM = 'A price is a number that is not negative, such as 0.03.';
const SIZE_PROBLEM = 'Each tier but the last holds a number of units above 0.';

/** The rate of the draft, or the problem of the fields. */
export function rateOf(
  edited: EditedRate,
  { product, values, frequency, commit }: Place,
  { unit, fiat }: EditUnits,
): DraftRate | string {
  const { type } = edited;
  const isShare = isPercentageType(type);
  const prices = edited.tiers.map(({ price }) =>
    isShare ? sentShare(price) : sentAmount(price, unit(edited.unit)),
  );
  if (prices.some((price) => price === null)) return PRICE_PROBLEM;
  const texts = prices.map((price) => price?.toFixed() ?? '0');
  const last = edited.tiers.length - 1;
  const sizes = edited.tiers.map(({ size }) => sentAmount(size, undefined));
  if (hasTiers(type) && sizes.some((size, at) => at < last && (size === null || size.eq(0)))) {
    return SIZE_PROBLEM;
  }
  const minimum = isShare && edited.minimum !== '' ? sentAmount(edited.minimum, fiat) : undefined;
  const quantity =
    type === 'SUBSCRIPTION' && edited.quantity !== '' ? sentAmount(edited.quantity, undefined) : undefined;
  if (minimum === null || quantity === null)
    return 'The minimum and the quantity are numbers that are not negative.';
  return {
    product,
    values,
    ...(frequency === undefined ? {} : { frequency }),
    entitled: edited.entitled,
    type,
    ...(isShare ? {} : { unit: edited.unit }),
    ...(hasTiers(type)
      ? {
          tiers: texts.map((price, at) => tierAt(sizes, at, last, price)),
          ...(edited.tiersMode === undefined ? {} : { tiersMode: edited.tiersMode }),
        }
      : { price: texts[0] ?? '0' }),
    ...(minimum === undefined ? {} : { minimum: minimum.toFixed() }),
    ...(quantity === undefined ? {} : { quantity: quantity.toFixed() }),
    ...(type === 'SUBSCRIPTION' ? { isProrated: true } : {}),
    ...(commit === undefined ? {} : { commit }),
  };
}

function tierAt(sizes: readonly (Big | null)[], at: number, last: number, price: string) {
  const size = sizes[at];
  return at === last || size == null ? { price } : { size: size.toFixed(), price };
}
