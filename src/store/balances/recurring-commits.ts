/** Recurring commits and credits. */
import { asc, eq } from 'drizzle-orm';
import type { RecurringCommit } from '../../core/terms/recurring-commits.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import {
  allOrNone,
  applicabilityToColumns,
  hierarchyToColumns,
  withScope,
} from '../contracts/applicability.ts';
import { recurringCommits } from './commits.tables.ts';

/** Stores recurring terms in their order. A second DAILY term of a contract violates `recurring_commits_daily_once`. */
export async function insertRecurringCommits(
  tx: Transaction,
  added: readonly RecurringCommit[],
): Promise<void> {
  for (const chunk of rowsPerInsert(added)) await tx.insert(recurringCommits).values(chunk.map(toRow));
}

/** Writes a recurring term that exists. */
export async function updateRecurringCommit(tx: Transaction, changed: RecurringCommit): Promise<void> {
  await tx.update(recurringCommits).set(toRow(changed)).where(eq(recurringCommits.id, changed.id));
}

/** The recurring terms of the contracts, in the order of addition. */
export async function loadRecurringCommits(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<RecurringCommit[]> {
  if (contractIds.length === 0) return [];
  const rows = await db
    .select()
    .from(recurringCommits)
    .where(isOneOf(recurringCommits.contractId, contractIds))
    .orderBy(asc(recurringCommits.sequence));
  return rows.map(fromRow);
}

function toRow(from: RecurringCommit): typeof recurringCommits.$inferInsert {
  const { accessAmount, invoiceAmount, applicability, hierarchyAccess, ...others } = from;
  const { accessRounding, invoiceRounding, subscription, ...rest } = others;
  return {
    ...rest,
    ...applicabilityToColumns(applicability),
    ...hierarchyToColumns(hierarchyAccess),
    accessUnitPrice: accessAmount.unitPrice,
    accessQuantity: accessAmount.quantity,
    accessCreditTypeId: accessAmount.creditTypeId,
    invoiceUnitPrice: invoiceAmount?.unitPrice ?? null,
    invoiceQuantity: invoiceAmount?.quantity ?? null,
    invoiceCreditTypeId: invoiceAmount?.creditTypeId ?? null,
    accessRoundingMethod: accessRounding?.roundingMethod ?? null,
    accessRoundingPlaces: accessRounding?.decimalPlaces ?? null,
    invoiceRoundingMethod: invoiceRounding?.roundingMethod ?? null,
    invoiceRoundingPlaces: invoiceRounding?.decimalPlaces ?? null,
    subscriptionId: subscription?.subscriptionId ?? null,
    allocation: subscription?.allocation ?? null,
    prorateSeatIncreases: subscription?.prorateSeatIncreases ?? null,
  };
}

function fromRow(row: typeof recurringCommits.$inferSelect): RecurringCommit {
  const {
    sequence: _,
    accessUnitPrice,
    accessQuantity,
    accessCreditTypeId,
    invoiceUnitPrice,
    invoiceQuantity,
    invoiceCreditTypeId,
    accessRoundingMethod,
    accessRoundingPlaces,
    invoiceRoundingMethod,
    invoiceRoundingPlaces,
    subscriptionId,
    allocation,
    prorateSeatIncreases,
    ...rest
  } = row;
  return {
    ...withScope(rest),
    accessAmount: {
      unitPrice: accessUnitPrice,
      quantity: accessQuantity,
      creditTypeId: accessCreditTypeId,
    },
    invoiceAmount: allOrNone({
      unitPrice: invoiceUnitPrice,
      quantity: invoiceQuantity,
      creditTypeId: invoiceCreditTypeId,
    }),
    accessRounding: allOrNone({ roundingMethod: accessRoundingMethod, decimalPlaces: accessRoundingPlaces }),
    invoiceRounding: allOrNone({
      roundingMethod: invoiceRoundingMethod,
      decimalPlaces: invoiceRoundingPlaces,
    }),
    subscription: allOrNone({ subscriptionId, allocation, prorateSeatIncreases }),
  };
}
