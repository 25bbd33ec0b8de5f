/** Rates for people: the price of a unit, tier by tier. */
import Big from 'big.js';
import type { Exact } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { type CreditType, currencyOf, inUnits, priceText, quantityText } from '../../format/money.ts';
import { isPercentageType } from './price-draft.ts';

export type Rate = Schemas['Rate'];

const NO_UNIT: CreditType = { id: '', name: '' };

/** A price, and the quantity up to which it applies; null: without end. */
export interface RatePart {
  readonly price: string;
  readonly upTo: string | null;
}

/** The tiers of a rate, or its one price. */
export function rateParts(rate: Rate): RatePart[] {
  const unit = rate.credit_type ?? NO_UNIT;
  const times = rate.quantity === undefined ? '' : ` × ${quantityText(rate.quantity)}`;
  const one = (price: Exact) =>
    (isPercentageType(rate.rate_type)
      ? `${quantityText(new Big(price).times(100))} %`
      : priceText(price, unit)) + times;
  if (rate.tiers === undefined) return [{ price: one(rate.price ?? ('0' as Exact)), upTo: null }];
  let bound = new Big(0);
  return rate.tiers.map(({ price, size }) => {
    bound = bound.plus(size ?? 0);
    return { price: one(price), upTo: size === undefined ? null : quantityText(bound) };
  });
}

/** `$0.03`, `$0.03 up to 1,000, then $0.02`, `all units: $0.03 up to 1,000, above $0.02`, `10 %`. */
export function rateText(rate: Rate): string {
  const parts = rateParts(rate).map(({ price, upTo }) => (upTo === null ? price : `${price} up to ${upTo}`));
  return rate.tiers_mode === 'volume' ? `all units: ${parts.join(', above ')}` : parts.join(', then ');
}

/** `model large, region eu` */
export function valuesText(values: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(values ?? {})
    .map(([key, value]) => `${key} ${value}`)
    .join(', ');
}

/** Whole units of a currency, as people write them: dollars for US cents. */
export function shownAmount(amount: Exact | Big, unit: CreditType | undefined): string {
  const currency = unit === undefined ? null : currencyOf(unit);
  return (currency === null ? new Big(amount) : inUnits(amount, currency)).toFixed();
}

/** The API's number for an amount written by a person; null if it is not a number. */
export function sentAmount(text: string, unit: CreditType | undefined): Big | null {
  if (!/^\d+(?:\.\d+)?$/.test(text.trim())) return null;
  const { sentPlaces = 0 } = (unit === undefined ? null : currencyOf(unit)) ?? {};
  return new Big(text.trim()).times(new Big(10).pow(sentPlaces));
}

/** A fraction as a percentage: `5` for 0.05. */
export function shownShare(fraction: Exact): string {
  return new Big(fraction).times(100).toFixed();
}

/** The fraction for a percentage written by a person. */
export function sentShare(text: string): Big | null {
  return sentAmount(text, undefined)?.times('0.01') ?? null;
}
