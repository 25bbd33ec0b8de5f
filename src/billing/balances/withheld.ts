/** Commits that are withheld because their payment is outstanding. */
import type { Commit } from '../../core/terms/commits.ts';
import { isWithheld } from '../../core/terms/payment-gate.ts';
import { loadPaymentOutcomes } from '../../store/balances/payment-outcomes.ts';
import type { Database, Transaction } from '../../store/base/database.ts';

export type Withheld = (commit: Commit) => boolean;

/** The current payment state of these commits. One query if any of them has a gate, else none. */
export async function loadWithheld(
  db: Database | Transaction,
  commits: readonly Commit[],
): Promise<Withheld> {
  const gated = commits.filter((commit) => isWithheld(commit.paymentGate, null));
  const outcomes = await loadPaymentOutcomes(db, [...new Set(gated.map(({ id }) => id))]);
  return (commit) => isWithheld(commit.paymentGate, outcomes.get(commit.id) ?? null);
}
