/**
 * Warnings of usage invoices about terms: those that they do not bill yet (rating/unrated-terms.ts), and subscriptions
 * without a rate.
 */
import type { BilledPeriod, UnpricedSubscription, UnratedTerms } from '../../core/invoice.ts';
import { contains } from '../../core/time.ts';
import type { UnpricedPeriod } from '../../rating/subscriptions/unpriced-periods.ts';
import { type UnratedTerm, unratedIn, unratedTerms } from '../../rating/unrated-terms.ts';
import type { Contract } from '../../store/contracts.ts';

/** By contract; contracts without any are absent. */
export function unratedTermsOf(contracts: readonly Contract[]): Map<string, UnratedTerm[]> {
  const found = contracts.map((contract): [string, UnratedTerm[]] => [contract.id, unratedTerms(contract)]);
  return new Map(found.filter(([, terms]) => terms.length > 0));
}

/** Of the terms of one kind, the ids of so many are told. */
const NAMED_TERMS_MAX = 100;

/** One warning for each kind of term that would have an effect in the period. `unrated` is by contract. */
export function unratedWarnings(
  unrated: ReadonlyMap<string, readonly UnratedTerm[]>,
  { contract, period }: { readonly contract: Pick<Contract, 'id'>; readonly period: BilledPeriod },
): UnratedTerms[] {
  const interval = { start: period.start, end: period.end };
  return [...unratedIn(unrated.get(contract.id) ?? [], interval)].map(([termKind, ids]) => ({
    kind: 'unrated_terms',
    termKind,
    termIds: ids.slice(0, NAMED_TERMS_MAX),
    termCount: ids.length,
    interval,
  }));
}

/** One for each billing period of a subscription that begins in that of the invoice. `unpriced` is by contract. */
export function unpricedWarnings(
  unpriced: ReadonlyMap<string, readonly UnpricedPeriod[]>,
  { contract, period }: { readonly contract: Pick<Contract, 'id'>; readonly period: BilledPeriod },
): UnpricedSubscription[] {
  return (unpriced.get(contract.id) ?? [])
    .filter(({ interval }) => contains(period, interval.start))
    .map((one) => ({ kind: 'unpriced_subscription', ...one }));
}
