/** The amounts that issued invoices took from the balances of commits and credits. */
import { and, eq, inArray, isNull, notInArray, sql } from 'drizzle-orm';
import type { Decimal } from '../../core/decimal.ts';
import type { BalanceDeduction } from '../../core/terms/ledger.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { LOCK_FAMILIES } from '../base/lock-numbers.ts';
import { balanceDeductions, invoices } from './invoices.tables.ts';

export type NewDeduction = Pick<
  BalanceDeduction,
  'invoiceId' | 'commitId' | 'segmentId' | 'amount' | 'timestamp'
>;

/** Stores the deductions of invoices that are issued in this transaction. */
export async function insertDeductions(tx: Transaction, deductions: readonly NewDeduction[]): Promise<void> {
  await insertRows(tx, balanceDeductions, deductions);
}

/** By segment, the amounts that invoices took, without voided invoices and those excluded. */
export async function loadDeductedAmounts(
  db: Database | Transaction,
  commitIds: readonly string[],
  exceptInvoices: readonly string[] = [],
): Promise<Map<string, Decimal>> {
  if (commitIds.length === 0) return new Map();
  const { segmentId, amount, commitId, creditedAt, invoiceId } = balanceDeductions;
  const rows = await db
    .select({ segmentId, total: sql`sum(${amount})`.mapWith(amount) })
    .from(balanceDeductions)
    .where(
      and(
        inArray(commitId, [...commitIds]),
        isNull(creditedAt),
        exceptInvoices.length === 0 ? undefined : notInArray(invoiceId, [...exceptInvoices]),
      ),
    )
    .groupBy(segmentId);
  return new Map(rows.map((row) => [row.segmentId, row.total]));
}

/** The amounts that an issued invoice took from segments, even if it is voided. */
export async function loadInvoiceDeductions(
  db: Database | Transaction,
  invoiceId: string,
): Promise<Pick<BalanceDeduction, 'commitId' | 'segmentId' | 'amount'>[]> {
  const { commitId, segmentId, amount } = balanceDeductions;
  return db
    .select({ commitId, segmentId, amount })
    .from(balanceDeductions)
    .where(eq(balanceDeductions.invoiceId, invoiceId));
}

/** Every deduction of the commits by issued invoices, voided ones included. */
export async function loadIssuedDeductions(
  db: Database | Transaction,
  commitIds: readonly string[],
): Promise<BalanceDeduction[]> {
  if (commitIds.length === 0) return [];
  const rows = await db
    .select({ deduction: balanceDeductions, contractId: invoices.contractId })
    .from(balanceDeductions)
    .innerJoin(invoices, eq(invoices.id, balanceDeductions.invoiceId))
    .where(isOneOf(balanceDeductions.commitId, commitIds));
  return rows.map(({ deduction, contractId }) => ({ ...deduction, contractId, isFinal: true }));
}

/**
 * Locks the balances that invoices of these customers draw on, until the transaction ends. Every change of a balance
 * other than by a change of its contract takes this lock. In the order of the ids, so that two transactions cannot
 * deadlock.
 */
export async function lockBalances(tx: Transaction, customerIds: readonly string[]): Promise<void> {
  const inOrder = [...new Set(customerIds)].sort();
  if (inOrder.length === 0) return;
  // `unnest` keeps the order of the list.
  await tx.execute(sql`
    select pg_advisory_xact_lock(${LOCK_FAMILIES.balances}, hashtext(id)) from unnest(${`{${inOrder.join(',')}}`}::text[]) as id`);
}

/** Gives back the amounts that voided invoices took. */
export async function creditDeductions(
  tx: Transaction,
  invoiceIds: readonly string[],
  creditedAt: Instant,
): Promise<void> {
  if (invoiceIds.length === 0) return;
  await tx
    .update(balanceDeductions)
    .set({ creditedAt })
    .where(and(isOneOf(balanceDeductions.invoiceId, invoiceIds), isNull(balanceDeductions.creditedAt)));
}
