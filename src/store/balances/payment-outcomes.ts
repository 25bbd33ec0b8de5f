/** Outcomes of payments collected outside this service. */
import type { PaymentOutcome } from '../../core/terms/payment-gate.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { paymentOutcomes } from './payment-outcomes.tables.ts';

export interface PaymentOutcomeRow {
  readonly commitId: string;
  readonly outcome: PaymentOutcome;
  readonly toldAt: Instant;
  readonly toldBy: string;
}

/**
 * Stores the outcome. Returns false, and stores nothing, if one is known already. If two transactions store an outcome
 * of one commit, the second waits for the first and then gets false.
 */
export async function insertPaymentOutcome(tx: Transaction, row: PaymentOutcomeRow): Promise<boolean> {
  const rows = await tx
    .insert(paymentOutcomes)
    .values(row)
    .onConflictDoNothing({ target: paymentOutcomes.commitId })
    .returning({ commitId: paymentOutcomes.commitId });
  return rows.length > 0;
}

/** The known outcomes of these commits. */
export async function loadPaymentOutcomes(
  db: Database | Transaction,
  commitIds: readonly string[],
): Promise<Map<string, PaymentOutcome>> {
  if (commitIds.length === 0) return new Map();
  const rows = await db.select().from(paymentOutcomes).where(isOneOf(paymentOutcomes.commitId, commitIds));
  return new Map(rows.map((row) => [row.commitId, row.outcome]));
}
