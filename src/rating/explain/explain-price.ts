/** The price of a line: list rate, override and tier. Pure. */
import type { Decimal } from '../../core/decimal.ts';
import { appliedOverride } from '../rates/applied-override.ts';
import type { LineTerms } from '../rates/line-terms.ts';
import type { OverrideDecision } from '../rates/overrides.ts';
import { listedBands, type PriceBands } from '../rates/tiers.ts';
import type { ExplainedPrice } from './explanation.ts';

/** `level` is that of the line's tier; null for a rate without tiers. */
export function explainPrice(
  { listed, rate }: Pick<LineTerms, 'listed' | 'rate'>,
  decision: OverrideDecision,
  level: number | null,
  isCommitRate = false,
): ExplainedPrice {
  const bands = listedBands(rate);
  const band = bands.find((one) => one.level === (level ?? 1)) ?? bands[0];
  const listPrice = listed === null ? null : priceAbove(listedBands(listed.rate), band.startingAt);
  return {
    listed,
    listPrice,
    applied: appliedOverride(decision, listed?.rate ?? null, band.startingAt),
    rate,
    band,
    isCommitRate,
  };
}

/** The price of the units just above a quantity. */
function priceAbove(bands: PriceBands, quantity: Decimal): Decimal {
  return (bands.find(({ end }) => end === null || quantity.lt(end)) ?? bands[0]).price;
}
