/** The price of a line: list rate, override and tier. Pure. */
import type { Rate } from '../../core/catalogue.ts';
import { type Decimal, ONE, ZERO } from '../../core/decimal.ts';
import type { Override } from '../../core/terms/overrides.ts';
import type { LineTerms } from '../rates/line-terms.ts';
import type { OverrideDecision } from '../rates/overrides.ts';
import { oneBand, type PriceBands, percentageBands, priceBands } from '../rates/tiers.ts';
import type { AppliedOverride, ExplainedPrice } from './explanation.ts';

/** `level` is that of the line's tier; null for a rate without tiers. */
export function explainPrice(
  { listed, rate }: Pick<LineTerms, 'listed' | 'rate'>,
  decision: OverrideDecision,
  level: number | null,
  isCommitRate = false,
): ExplainedPrice {
  const bands = bandsOfRate(rate);
  const band = bands.find((one) => one.level === (level ?? 1)) ?? bands[0];
  const listPrice = listed === null ? null : priceAbove(bandsOfRate(listed.rate), band.startingAt);
  return {
    listed,
    listPrice,
    applied: appliedOverride(decision, listed?.rate ?? null, band.startingAt),
    rate,
    band,
    isCommitRate,
  };
}

/** The prices or percentages of a rate of any type. */
export function bandsOfRate(rate: Rate): PriceBands {
  if (rate.rateType === 'SUBSCRIPTION') return oneBand(rate.price);
  return rate.rateType === 'PERCENTAGE' || rate.rateType === 'TIERED_PERCENTAGE'
    ? percentageBands(rate)
    : priceBands(rate);
}

/** The price of the units just above a quantity. */
function priceAbove(bands: PriceBands, quantity: Decimal): Decimal {
  return (bands.find(({ end }) => end === null || quantity.lt(end)) ?? bands[0]).price;
}

/** The one that decides the price of the units just above a quantity. */
function appliedOverride(
  { prices }: OverrideDecision,
  listRate: Rate | null,
  quantity: Decimal,
): AppliedOverride | null {
  for (const { overwrite, multipliers } of prices) {
    if (overwrite !== null) return { override: overwrite, multiplier: null };
    if (multipliers.length === 0 || listRate === null) continue;
    return multipliers
      .map((override) => ({ override, multiplier: multiplierAbove(override, quantity) }))
      .reduce((smallest, one) => (one.multiplier.lt(smallest.multiplier) ? one : smallest));
  }
  return null;
}

/** Above the last sized tier of a TIERED override the list price applies. */
function multiplierAbove({ type, multiplier, tiers }: Override, quantity: Decimal): Decimal {
  if (type !== 'TIERED') return multiplier ?? ONE;
  let bound = ZERO;
  for (const tier of tiers) {
    if (tier.size === null) return tier.multiplier;
    bound = bound.plus(tier.size);
    if (quantity.lt(bound)) return tier.multiplier;
  }
  return ONE;
}
