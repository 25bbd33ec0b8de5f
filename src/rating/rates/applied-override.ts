/** The override that sets a price, among those that apply to it. Pure. */
import type { Rate } from '../../core/catalogue.ts';
import { type Decimal, ONE, ZERO } from '../../core/decimal.ts';
import type { Override } from '../../core/terms/overrides.ts';
import type { LineTerms } from './line-terms.ts';
import type { OverrideDecision } from './overrides.ts';
import { listedBands } from './tiers.ts';

/** An override that decides a price. */
export interface AppliedOverride {
  readonly override: Override;
  /** The multiplier of the list price of this tier; null: it replaces the price. */
  readonly multiplier: Decimal | null;
}

/** The overrides that set the price in at least one of its tiers, without duplicates, from the lowest tier upwards. */
export function appliedOverrides(
  decision: OverrideDecision,
  { listed, rate }: Pick<LineTerms, 'listed' | 'rate'>,
): Override[] {
  const applied = listedBands(rate).flatMap(
    ({ startingAt }) => appliedOverride(decision, listed?.rate ?? null, startingAt)?.override ?? [],
  );
  return [...new Set(applied)];
}

/** The override that decides the price of the units just above a quantity. */
export function appliedOverride(
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
