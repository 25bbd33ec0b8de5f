/** Which billing periods of contracts are issued. */
import { and, asc, eq, gt, gte, inArray, lt, max, notExists, or } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Instant, Interval } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { invoices } from './invoices.tables.ts';

const regenerated = alias(invoices, 'regenerated');

/**
 * For each contract with issued usage invoices, the end of the last issued period. Historical invoices do not count:
 * billing from events starts after them, at the date set on the contract. If an invoice was regenerated, only the new
 * one counts: its period is shorter if the contract now ends within it.
 */
export async function lastIssuedPeriodEnds(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, Instant>> {
  if (contractIds.length === 0) return new Map();
  const rows = await db
    .select({ contractId: invoices.contractId, end: max(invoices.periodEnd) })
    .from(invoices)
    .where(
      and(
        isOneOf(invoices.contractId, contractIds),
        eq(invoices.type, 'USAGE'),
        eq(invoices.isHistorical, false),
        notExists(
          db
            .select({ id: regenerated.id })
            .from(regenerated)
            .where(eq(regenerated.regeneratedFromInvoiceId, invoices.id)),
        ),
      ),
    )
    .groupBy(invoices.contractId);
  return new Map(rows.flatMap(({ contractId, end }) => (end === null ? [] : [[contractId, end]])));
}

/** Usage that an invoice billed without drawing on balances. */
export interface UndrawnPeriod {
  readonly customerId: string;
  readonly contractId: string;
  readonly interval: Interval;
}

/** Periods of usage invoices issued by versions that did not draw down balances; without voided and historical ones. */
export async function undrawnPeriods(
  db: Database | Transaction,
  customerIds: readonly string[],
): Promise<UndrawnPeriod[]> {
  if (customerIds.length === 0) return [];
  const { customerId, contractId, periodStart, periodEnd } = invoices;
  const rows = await db
    .select({ customerId, contractId, periodStart, periodEnd })
    .from(invoices)
    .where(
      and(
        inArray(customerId, [...customerIds]),
        eq(invoices.type, 'USAGE'),
        eq(invoices.status, 'FINALIZED'),
        eq(invoices.isHistorical, false),
        eq(invoices.drawsOnBalances, false),
      ),
    );
  return rows.map(({ periodStart: start, periodEnd: end, ...rest }) => ({
    ...rest,
    interval: { start, end },
  }));
}

/**
 * The first finalized usage invoice of the contract that bills time from `at` on, without voided ones; null if there is
 * none.
 */
export async function finalizedInvoiceBeyond(
  tx: Transaction,
  contractId: string,
  at: Instant,
): Promise<{ readonly id: string; readonly periodEnd: Instant } | null> {
  const rows = await tx
    .select({ id: invoices.id, periodEnd: invoices.periodEnd })
    .from(invoices)
    .where(
      and(
        eq(invoices.contractId, contractId),
        eq(invoices.type, 'USAGE'),
        eq(invoices.status, 'FINALIZED'),
        gt(invoices.periodEnd, at),
      ),
    )
    .orderBy(asc(invoices.periodStart))
    .limit(1);
  return rows[0] ?? null;
}

/** A usage invoice of the contract that bills some of `period` and is not voided; null if there is none. */
export async function usageInvoiceIn(
  tx: Transaction,
  contractId: string,
  period: Interval,
): Promise<string | null> {
  const rows = await tx
    .select({ id: invoices.id })
    .from(invoices)
    .where(
      and(
        eq(invoices.contractId, contractId),
        eq(invoices.type, 'USAGE'),
        eq(invoices.status, 'FINALIZED'),
        lt(invoices.periodStart, period.end),
        gt(invoices.periodEnd, period.start),
      ),
    )
    .limit(1);
  return rows[0]?.id ?? null;
}

/**
 * Whether anything was invoiced since a renewal began, and not voided: for the newer contract, any invoice; for the
 * older one, an invoice that reaches the renewal or is dated later. Historical invoices were issued elsewhere.
 */
export async function hasInvoiceSince(
  tx: Transaction,
  {
    renewedId,
    renewalId,
    startingAt,
  }: { readonly renewedId: string; readonly renewalId: string; readonly startingAt: Instant },
): Promise<boolean> {
  const isLate = or(gte(invoices.periodEnd, startingAt), gte(invoices.issuedAt, startingAt));
  const rows = await tx
    .select({ id: invoices.id })
    .from(invoices)
    .where(
      and(
        eq(invoices.status, 'FINALIZED'),
        eq(invoices.isHistorical, false),
        or(eq(invoices.contractId, renewalId), and(eq(invoices.contractId, renewedId), isLate)),
      ),
    )
    .limit(1);
  return rows.length > 0;
}

/** Whether the contract has a finalized invoice of usage from events that has not been voided. */
export async function hasFinalizedInvoice(tx: Transaction, contractId: string): Promise<boolean> {
  const rows = await tx
    .select({ id: invoices.id })
    .from(invoices)
    .where(
      and(
        eq(invoices.contractId, contractId),
        eq(invoices.type, 'USAGE'),
        eq(invoices.isHistorical, false),
        eq(invoices.status, 'FINALIZED'),
      ),
    )
    .limit(1);
  return rows.length > 0;
}

/** The subset of these invoices that exists already: a repeated invoice run skips them. */
export async function existingInvoiceIds(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.select({ id: invoices.id }).from(invoices).where(isOneOf(invoices.id, ids));
  return new Set(rows.map((row) => row.id));
}
