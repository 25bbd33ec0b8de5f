/** Prices that are not saved yet: they are in the address, so that a proposal can be shared. Pure. */
import Big from 'big.js';
import { type Exact, numberOf } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';

/** A changed rate. Amounts are those of the API, as text. */
export interface DraftRate {
  readonly product: string;
  readonly values: Readonly<Record<string, string>>;
  readonly frequency?: Schemas['RateSegment']['billing_frequency'];
  readonly entitled: boolean;
  readonly type: Schemas['Rate']['rate_type'];
  readonly unit?: string;
  readonly price?: string;
  readonly tiers?: readonly DraftTier[];
  readonly tiersMode?: Schemas['Rate']['tiers_mode'];
  readonly quantity?: string;
  readonly isProrated?: boolean;
  readonly minimum?: string;
  /** The rate at which balances with commit rates are drawn down, unchanged. */
  readonly commit?: {
    readonly type: Schemas['CommitRate']['rate_type'];
    readonly price?: string;
    readonly tiers?: readonly DraftTier[];
    readonly tiersMode?: Schemas['CommitRate']['tiers_mode'];
  };
}

interface DraftTier {
  readonly size?: string;
  readonly price: string;
}

/** The same for every rate of one product, values and frequency. */
export function rateKey(rate: Pick<DraftRate, 'product' | 'values' | 'frequency'>): string {
  const values = Object.entries(rate.values).sort(([a], [b]) => a.localeCompare(b));
  return JSON.stringify([rate.product, values, rate.frequency ?? null]);
}

export function keyOfSegment(segment: Schemas['RateSegment']): string {
  const { product_id: product, pricing_group_values: values = {}, billing_frequency: frequency } = segment;
  return rateKey({ product, values, frequency });
}

/** The product, the values and the frequency of a key; null if it is invalid. */
export function placeOfKey(key: string): Pick<DraftRate, 'product' | 'values' | 'frequency'> | null {
  try {
    const [product, values, frequency] = JSON.parse(key) as [unknown, unknown, unknown];
    if (typeof product !== 'string' || !Array.isArray(values)) return null;
    return {
      product,
      values: Object.fromEntries(values as [string, string][]),
      ...(typeof frequency === 'string'
        ? { frequency: frequency as NonNullable<DraftRate['frequency']> }
        : {}),
    };
  } catch {
    return null;
  }
}

export function isPercentageType(type: DraftRate['type']): boolean {
  return type === 'PERCENTAGE' || type === 'TIERED_PERCENTAGE';
}

export function draftOfSegment(segment: Schemas['RateSegment']): DraftRate {
  const { rate, entitled, billing_frequency: frequency, commit_rate: commit } = segment;
  return {
    product: segment.product_id,
    values: segment.pricing_group_values ?? {},
    entitled,
    type: rate.rate_type,
    ...(frequency === undefined ? {} : { frequency }),
    ...(rate.credit_type === undefined ? {} : { unit: rate.credit_type.id }),
    ...(rate.price === undefined ? {} : { price: rate.price }),
    ...(rate.tiers === undefined ? {} : { tiers: rate.tiers.map(tierOf) }),
    ...(rate.tiers_mode === undefined ? {} : { tiersMode: rate.tiers_mode }),
    ...(rate.quantity === undefined ? {} : { quantity: rate.quantity }),
    ...(rate.is_prorated === undefined ? {} : { isProrated: rate.is_prorated }),
    ...(rate.minimum_config === undefined ? {} : { minimum: rate.minimum_config.minimum }),
    ...(commit === undefined ? {} : { commit: commitOf(commit) }),
  };
}

function commitOf({ rate_type: type, price, tiers, tiers_mode: tiersMode }: Schemas['CommitRate']) {
  return {
    type,
    ...(price === undefined ? {} : { price: price as string }),
    ...(tiers === undefined ? {} : { tiers: tiers.map(tierOf) }),
    ...(tiersMode === undefined ? {} : { tiersMode }),
  };
}

function tierOf({ size, price }: Schemas['Tier']) {
  return { ...(size === undefined ? {} : { size: size as string }), price: price as string };
}

/** The rate as it would be read again. */
export function rateOfDraft(draft: DraftRate, unit: Schemas['CreditType'] | undefined): Schemas['Rate'] {
  const { type, price, tiers } = draft;
  return {
    rate_type: type,
    ...(price === undefined ? {} : { price: price as Exact }),
    ...(tiers === undefined ? {} : { tiers: tiers as readonly Schemas['Tier'][] }),
    ...(draft.tiersMode === undefined ? {} : { tiers_mode: draft.tiersMode }),
    ...(unit === undefined ? {} : { credit_type: unit }),
    ...(draft.quantity === undefined ? {} : { quantity: draft.quantity as Exact }),
  };
}

/** The body for `addRates`. */
export function sentRate(draft: DraftRate, startingAt: string): Schemas['RateInput'] {
  const { type, price, tiers } = draft;
  return {
    product_id: draft.product,
    starting_at: startingAt,
    entitled: draft.entitled,
    rate_type: type,
    ...(Object.keys(draft.values).length === 0 ? {} : { pricing_group_values: draft.values }),
    ...(draft.frequency === undefined ? {} : { billing_frequency: draft.frequency }),
    ...(price === undefined ? {} : { price: numberOf(price) }),
    ...(tiers === undefined ? {} : { tiers: tiers.map(sentTier) }),
    ...(draft.tiersMode === undefined ? {} : { tiers_mode: draft.tiersMode }),
    ...(draft.unit === undefined || isPercentageType(type) ? {} : { credit_type_id: draft.unit }),
    ...(draft.quantity === undefined ? {} : { quantity: numberOf(draft.quantity) }),
    ...(draft.isProrated === undefined ? {} : { is_prorated: draft.isProrated }),
    ...(draft.minimum === undefined ? {} : { minimum_config: { minimum: numberOf(draft.minimum) } }),
    ...(draft.commit === undefined ? {} : { commit_rate: sentCommit(draft.commit) }),
  };
}

function sentTier({ size, price }: DraftTier) {
  return { price: numberOf(price), ...(size === undefined ? {} : { size: numberOf(size) }) };
}

function sentCommit({ type, price, tiers, tiersMode }: NonNullable<DraftRate['commit']>) {
  return {
    rate_type: type,
    ...(price === undefined ? {} : { price: numberOf(price) }),
    ...(tiers === undefined ? {} : { tiers: tiers.map(sentTier) }),
    ...(tiersMode === undefined ? {} : { tiers_mode: tiersMode }),
  };
}

/** The draft of an address, by the key of its rates. */
export function draftIn(text: string | undefined): ReadonlyMap<string, DraftRate> {
  if (text === undefined) return new Map();
  try {
    const parsed: unknown = JSON.parse(text);
    const rates = Array.isArray(parsed) ? parsed.filter(isDraftRate) : [];
    return new Map(rates.map((rate) => [rateKey(rate), rate]));
  } catch {
    return new Map();
  }
}

function isDraftRate(value: unknown): value is DraftRate {
  if (typeof value !== 'object' || value === null) return false;
  const { product, values, type, price, tiers = [], minimum, quantity, commit } = value as Partial<DraftRate>;
  const isWhole = typeof product === 'string' && typeof values === 'object' && typeof type === 'string';
  const all = [...tiers, ...(commit?.tiers ?? [])];
  const numbers = [
    price,
    minimum,
    quantity,
    commit?.price,
    ...all.flatMap((tier) => [tier.size, tier.price]),
  ];
  return isWhole && numbers.every((each) => each === undefined || isNumber(each));
}

function isNumber(text: unknown): boolean {
  try {
    return typeof text === 'string' && new Big(text).gte(0);
  } catch {
    return false;
  }
}

/** Empty for an empty draft. */
export function draftText(draft: ReadonlyMap<string, DraftRate>): string {
  return draft.size === 0 ? '' : JSON.stringify([...draft.values()]);
}
