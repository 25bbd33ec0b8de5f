/** The price of a rate under a contract's overrides, and the time for which it is constant. Pure. */
import type { RateEntry } from '../../core/catalogue.ts';
import type { Override } from '../../core/terms/overrides.ts';
import type { Instant, OpenInterval } from '../../core/time.ts';
import { appliedOverrides } from './applied-override.ts';
import { type KeyOverrides, type LineTerms, overridesOfKey, type PricedKey, termsAt } from './line-terms.ts';
import type { OverrideIndex } from './override-index.ts';
import { sameRate } from './rate-schedule.ts';

export interface PricedSegment {
  readonly terms: LineTerms;
  /** True if an override decides the price, even if it changes nothing. */
  readonly isOverridden: boolean;
  /** The overrides that set the price at the instant, each in some range of quantities. */
  readonly overrides: readonly Override[];
  /** The time around the instant in which price and entitlement do not change. */
  readonly interval: OpenInterval;
}

/** A stretch of time with one rate of the card; null: with none. */
export interface ListedSegment {
  readonly listed: RateEntry | null;
  readonly interval: OpenInterval;
}

/**
 * The terms of usage that no commit pays for, at an instant in the segment; null if it has no price or is not entitled.
 */
export function pricedSegment(
  contract: OverrideIndex,
  key: PricedKey,
  { listed, interval }: ListedSegment,
  at: Instant,
): PricedSegment | null {
  const overrides = overridesOfKey(contract, key);
  const terms = termsAt(overrides, key, at, listed);
  if (terms === null || !terms.entitled) return null;
  const holdsAt = (instant: Instant) => sameTerms(terms, termsAt(overrides, key, instant, listed));
  return {
    terms,
    isOverridden: isOverridden(terms),
    overrides: appliedOverrides(overrides.decisionAt(at), terms),
    interval: stretchAround(at, interval, overrides, holdsAt),
  };
}

/** The part of `within` around `at` in which `holdsAt` is true. It can change only when the overrides do. */
function stretchAround(
  at: Instant,
  within: OpenInterval,
  overrides: KeyOverrides,
  holdsAt: (instant: Instant) => boolean,
): OpenInterval {
  let start = Math.max(within.start, overrides.previousChange(at) ?? within.start);
  while (start > within.start && holdsAt(start - 1)) {
    start = Math.max(within.start, overrides.previousChange(start - 1) ?? within.start);
  }
  let end = overrides.nextChange(at);
  while (end !== null && (within.end === null || end < within.end) && holdsAt(end)) {
    end = overrides.nextChange(end);
  }
  return { start, end: end === null || (within.end !== null && within.end < end) ? within.end : end };
}

/** Compares identity: resolution returns the listed rate object itself if no override applies. */
function isOverridden({ rate, listed }: LineTerms): boolean {
  return rate !== listed?.rate;
}

function sameTerms(a: LineTerms, b: LineTerms | null): boolean {
  return (
    b !== null &&
    a.entitled === b.entitled &&
    a.creditTypeId === b.creditTypeId &&
    isOverridden(a) === isOverridden(b) &&
    sameRate(a.rate, b.rate)
  );
}
