/**
 * The terms of a contract that are stored but have no effect on its usage invoices yet. Invoices name them in
 * warnings, so that nobody takes an invoice for complete that is not (docs/invoices.md, "Terms that are not billed
 * yet"). A kind of term that is billed is removed here, and nowhere else. Pure.
 */
import { UNRATED_TERM_KINDS, type UnratedTermKind } from '../core/invoice.ts';
import type { Contract } from '../core/terms/contract.ts';
import { type Interval, intersect, type OpenInterval } from '../core/time.ts';

/** A term with the time in which it would have an effect. */
export interface UnratedTerm {
  readonly kind: UnratedTermKind;
  /** Of the term; of a consolidation, that of the parent. */
  readonly id: string;
  /** Ascending; empty for a term without an effect. */
  readonly inForce: readonly OpenInterval[];
}

/** By kind, and within a kind in the order of addition. */
export function unratedTerms(
  contract: Pick<Contract, 'startingAt' | 'endingBefore' | 'parent'>,
): UnratedTerm[] {
  const whole = { start: contract.startingAt, end: contract.endingBefore };
  const found = [
    // The usage of a child that is to be on the invoice of its parent.
    ...(contract.parent?.usageStatementBehavior === 'CONSOLIDATE'
      ? [{ kind: 'consolidation' as const, id: contract.parent.contractId, inForce: [whole] }]
      : []),
  ];
  return UNRATED_TERM_KINDS.flatMap((kind) => found.filter((one) => one.kind === kind));
}

/** The ids of the terms that would have an effect in `period`, by kind; kinds without any are absent. */
export function unratedIn(
  terms: readonly UnratedTerm[],
  period: Interval,
): ReadonlyMap<UnratedTermKind, readonly string[]> {
  const ids = new Map<UnratedTermKind, string[]>();
  for (const { kind, id, inForce } of terms) {
    if (!inForce.some((interval) => intersect(period, interval) !== null)) continue;
    const own = ids.get(kind);
    if (own === undefined) ids.set(kind, [id]);
    else own.push(id);
  }
  return ids;
}
