/**
 * Applies overrides to a price (docs/explanation/rating.md, "Overrides"). override-index.ts selects them.
 *
 * Overrides do not stack. Precedence, highest first: commit-specific OVERWRITE, commit-specific multipliers,
 * contract-level OVERWRITE, contract-level multipliers.
 */
import type { Rate, Tier, TiersMode } from '../../core/catalogue.ts';
import { type Decimal, ONE, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { MultiplierPrioritization, Override, OverrideTier } from '../../core/terms/overrides.ts';
import { hasVolumePrices } from './tiers.ts';

export interface ContractOverrides {
  /** In the order of addition: the later one wins a tie. */
  readonly overrides: readonly Override[];
  readonly prioritization: MultiplierPrioritization;
}

export const NO_OVERRIDES: ContractOverrides = { overrides: [], prioritization: 'LOWEST_MULTIPLIER' };

/** The overrides of a contract that decide at one instant (override-index.ts). */
export interface OverrideDecision {
  /** By precedence: commit-specific overrides before those of the contract. */
  readonly prices: readonly DecidingOverrides[];
  /** Null: no override sets the entitlement, so the card's applies. */
  readonly entitled: boolean | null;
}

export interface DecidingOverrides {
  /** The OVERWRITE that sets the price. Null: the multipliers apply. */
  readonly overwrite: Override | null;
  /** The smallest applies, in each range of quantities. */
  readonly multipliers: readonly Override[];
}

/** A price after overrides. */
export interface OverriddenRate {
  readonly rate: Rate;
  /** Null: the unit of the rate that was overridden. */
  readonly creditTypeId: string | null;
}

/**
 * The price after overrides; null if none changes `listRate`. If the card has no rate (`listRate` null), only an
 * OVERWRITE sets a price.
 */
export function overriddenRate({ prices }: OverrideDecision, listRate: Rate | null): OverriddenRate | null {
  for (const { overwrite, multipliers } of prices) {
    if (overwrite !== null) return overwrittenRate(overwrite);
    if (multipliers.length > 0 && listRate !== null) {
      return { rate: multiplied(listRate, multipliers), creditTypeId: null };
    }
  }
  return null;
}

function overwrittenRate({ overwriteRate }: Override): OverriddenRate {
  assert(overwriteRate !== null, 'an OVERWRITE has a rate');
  return { rate: overwriteRate.rate, creditTypeId: overwriteRate.creditTypeId };
}

/**
 * Applies the smallest candidate multiplier to each range of quantities. If the tiers of the price or of one of the
 * multipliers are for the whole quantity, it decides both.
 */
function multiplied(rate: Rate, multipliers: readonly Override[]): Rate {
  const schedules = multipliers.map(multiplierTiers);
  const isVolume = multipliers.some(({ tiersMode }) => tiersMode === 'volume') || hasVolumePrices(rate);
  const mode: { readonly tiersMode?: TiersMode } = isVolume ? { tiersMode: 'volume' } : {};
  switch (rate.rateType) {
    case 'FLAT': {
      const tiers = multipliedTiers([{ size: null, price: rate.price }], schedules);
      const [only] = tiers;
      return tiers.length === 1 && only !== undefined
        ? { rateType: 'FLAT', price: only.price }
        : { rateType: 'TIERED', tiers, ...mode };
    }
    case 'TIERED':
      return { rateType: 'TIERED', tiers: multipliedTiers(rate.tiers, schedules), ...mode };
    case 'PERCENTAGE': {
      const tiers = multipliedTiers([{ size: null, price: rate.price }], schedules);
      const [only] = tiers;
      return tiers.length === 1 && only !== undefined
        ? { ...rate, price: only.price }
        : { rateType: 'TIERED_PERCENTAGE', tiers, minimum: rate.minimum, ...mode };
    }
    case 'TIERED_PERCENTAGE':
      return { ...rate, tiers: multipliedTiers(rate.tiers, schedules), ...mode };
    case 'SUBSCRIPTION':
      return {
        ...rate,
        price: rate.price.times(smallestOf(schedules.map((tiers) => ascent(tiers)(ZERO).multiplier))),
      };
  }
}

/** A MULTIPLIER is one unbounded tier. Beyond the last sized tier of a TIERED override the list price applies. */
function multiplierTiers(one: Override): readonly OverrideTier[] {
  if (one.type === 'TIERED') {
    const last = one.tiers.at(-1);
    return last?.size === null ? one.tiers : [...one.tiers, { size: null, multiplier: ONE }];
  }
  assert(one.multiplier !== null, 'a MULTIPLIER has a multiplier');
  return [{ size: null, multiplier: one.multiplier }];
}

/** Splits the tiers wherever a multiplier changes. One pass over the bounds, from the lowest upwards. */
function multipliedTiers(tiers: readonly Tier[], schedules: readonly (readonly OverrideTier[])[]): Tier[] {
  const bounds = ascending([...boundsOf(tiers), ...schedules.flatMap(boundsOf)]);
  const priceAfter = ascent(tiers);
  const multipliersAfter = schedules.map(ascent);
  return [ZERO, ...bounds].map((start, index) => {
    const end = bounds[index] ?? null;
    const smallest = smallestOf(multipliersAfter.map((after) => after(start).multiplier));
    return {
      size: end === null ? null : end.minus(start),
      price: priceAfter(start).price.times(smallest),
    };
  });
}

function smallestOf(multipliers: readonly Decimal[]): Decimal {
  return multipliers.reduce((smallest, multiplier) => (multiplier.lt(smallest) ? multiplier : smallest));
}

/**
 * The tier of the units just above a quantity: its lower bound is at or below, its upper bound above. Must be
 * called with ascending quantities.
 */
function ascent<T extends { readonly size: Decimal | null }>(tiers: readonly T[]): (quantity: Decimal) => T {
  const bounds = boundsOf(tiers);
  let index = 0;
  return (quantity) => {
    while (index < bounds.length && !quantity.lt(bounds[index] ?? quantity)) index += 1;
    const tier = tiers[index];
    assert(tier !== undefined, 'the last tier has no size');
    return tier;
  };
}

/** Upper bounds of the sized tiers. */
function boundsOf(tiers: readonly { readonly size: Decimal | null }[]): Decimal[] {
  const bounds: Decimal[] = [];
  let bound = ZERO;
  for (const { size } of tiers) {
    if (size === null) break;
    bound = bound.plus(size);
    bounds.push(bound);
  }
  return bounds;
}

function ascending(bounds: readonly Decimal[]): Decimal[] {
  const sorted = [...bounds].sort((a, b) => a.cmp(b));
  return sorted.filter((bound, index) => index === 0 || !bound.eq(sorted[index - 1] ?? ZERO));
}
