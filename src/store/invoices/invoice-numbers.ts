/** Numbers of issued invoices: their job, and the rows. The rule is in billing/invoices/issue/numbering.ts. */
import { and, asc, eq, gte, inArray, isNull, max, sql } from 'drizzle-orm';
import type { NumberPosition } from '../../core/invoice-number.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { LOCKS } from '../base/lock-numbers.ts';
import { enqueueJobs } from '../jobs/jobs.ts';
import { invoiceNumbers } from './invoice-numbers.tables.ts';
import { invoices } from './invoices.tables.ts';

/** The kind of the job that numbers invoices issued at `issued_from` or later. */
export const NUMBERING_JOB = 'number_invoices';

interface Issued {
  readonly id: string;
  readonly issuedAt: Instant;
}

/**
 * Queues the numbering of invoices that this transaction issues. Every transaction queues a separate job, so that
 * concurrent invoice runs do not wait for each other here.
 */
export async function queueNumbering(tx: Transaction, issued: readonly Issued[]): Promise<void> {
  const [first] = issued;
  if (first === undefined) return;
  const issuedFrom = issued.reduce((earliest, { issuedAt }) => Math.min(earliest, issuedAt), first.issuedAt);
  await queueNumberingFrom(tx, first.id, issuedFrom);
}

/** `key` is unique among the queued jobs. */
export async function queueNumberingFrom(tx: Transaction, key: string, issuedFrom: Instant): Promise<void> {
  await enqueueJobs(tx, [
    { kind: NUMBERING_JOB, key, subject: null, runAt: issuedFrom, payload: { issued_from: issuedFrom } },
  ]);
}

/** Serializes the assignment of numbers until the transaction ends. */
export async function lockInvoiceNumbers(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.invoiceNumbers})`);
}

/** The first `limit` invoices without a number that were issued at `from` or later, by issue date and id. */
export async function unnumberedInvoices(tx: Transaction, from: Instant, limit: number): Promise<Issued[]> {
  return tx
    .select({ id: invoices.id, issuedAt: invoices.issuedAt })
    .from(invoices)
    .leftJoin(invoiceNumbers, eq(invoiceNumbers.invoiceId, invoices.id))
    .where(and(gte(invoices.issuedAt, from), isNull(invoiceNumbers.invoiceId)))
    .orderBy(asc(invoices.issuedAt), asc(invoices.id))
    .limit(limit);
}

/** The last used position in each year; years without numbers are absent. */
export async function lastNumberPositions(
  tx: Transaction,
  years: readonly number[],
): Promise<Map<number, number>> {
  if (years.length === 0) return new Map();
  const rows = await tx
    .select({ year: invoiceNumbers.year, last: max(invoiceNumbers.position) })
    .from(invoiceNumbers)
    .where(inArray(invoiceNumbers.year, [...years]))
    .groupBy(invoiceNumbers.year);
  return new Map(rows.flatMap(({ year, last }) => (last === null ? [] : [[year, last]])));
}

export interface AssignedNumber extends NumberPosition {
  readonly invoiceId: string;
  readonly number: string;
}

export async function insertInvoiceNumbers(
  tx: Transaction,
  assigned: readonly AssignedNumber[],
): Promise<void> {
  await insertRows(tx, invoiceNumbers, assigned);
}

/** Numbers by invoice; drafts and invoices without a number yet are absent. */
export async function loadInvoiceNumbers(
  db: Database | Transaction,
  invoiceIds: readonly string[],
): Promise<Map<string, string>> {
  if (invoiceIds.length === 0) return new Map();
  const rows = await db
    .select({ invoiceId: invoiceNumbers.invoiceId, number: invoiceNumbers.number })
    .from(invoiceNumbers)
    .where(inArray(invoiceNumbers.invoiceId, [...new Set(invoiceIds)]));
  return new Map(rows.map(({ invoiceId, number }) => [invoiceId, number]));
}
