/** Finds the terms that usage invoices do not bill yet, and makes their warnings (rating/unrated-terms.ts). */
import type { BilledPeriod, UnratedTerms } from '../../core/invoice.ts';
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
