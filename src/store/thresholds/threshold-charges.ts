/** The commits that thresholds have bought, and which of their payments are pending. */
import { and, eq } from 'drizzle-orm';
import type { Decimal } from '../../core/decimal.ts';
import type { ThresholdKind } from '../../core/terms/thresholds.ts';
import { commits } from '../balances/commits.tables.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { thresholdCharges } from './threshold-charges.tables.ts';

export interface ThresholdCharge {
  readonly commitId: string;
  readonly contractId: string;
  readonly kind: ThresholdKind;
  /** The part of the invoiced amount at the discounted price. */
  readonly discountedAmount: Decimal;
  /** Whether the outcome of its payment is pending, or not yet processed. At most one per contract. */
  readonly isInFlight: boolean;
}

/** A second charge in flight violates `threshold_charges_one_in_flight`. */
export async function insertThresholdCharge(tx: Transaction, charge: ThresholdCharge): Promise<void> {
  await tx.insert(thresholdCharges).values(charge);
}

export async function loadThresholdCharges(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<ThresholdCharge[]> {
  if (contractIds.length === 0) return [];
  return db.select().from(thresholdCharges).where(isOneOf(thresholdCharges.contractId, contractIds));
}

/** Null if no threshold has bought the commit. */
export async function findThresholdCharge(
  db: Database | Transaction,
  commitId: string,
): Promise<ThresholdCharge | null> {
  const [row] = await db.select().from(thresholdCharges).where(eq(thresholdCharges.commitId, commitId));
  return row ?? null;
}

/** The threshold that bought each of these commits; other commits are absent. */
export async function loadKindsOfCharges(
  db: Database | Transaction,
  commitIds: readonly string[],
): Promise<Map<string, ThresholdKind>> {
  if (commitIds.length === 0) return new Map();
  const rows = await db
    .select({ commitId: thresholdCharges.commitId, kind: thresholdCharges.kind })
    .from(thresholdCharges)
    .where(isOneOf(thresholdCharges.commitId, commitIds));
  return new Map(rows.map(({ commitId, kind }) => [commitId, kind]));
}

/** Allows a further charge of the contract. */
export async function endThresholdCharge(tx: Transaction, commitId: string): Promise<void> {
  await tx.update(thresholdCharges).set({ isInFlight: false }).where(eq(thresholdCharges.commitId, commitId));
}

export interface ChargeInFlight extends ThresholdCharge {
  readonly customerId: string;
}

/** Charges in flight of these customers' contracts. */
export async function loadChargesInFlight(
  db: Database,
  customerIds: readonly string[],
): Promise<ChargeInFlight[]> {
  if (customerIds.length === 0) return [];
  const rows = await db
    .select({ charge: thresholdCharges, customerId: commits.customerId })
    .from(thresholdCharges)
    .innerJoin(commits, eq(commits.id, thresholdCharges.commitId))
    .where(and(thresholdCharges.isInFlight, isOneOf(commits.customerId, customerIds)));
  return rows.map(({ charge, customerId }) => ({ ...charge, customerId }));
}
