/**
 * The usage invoices of a contract: one per billing period. Periods are finalized in order, so all periods after
 * the end of the last issued one are open.
 */

import { derivedId } from '../../core/ids.ts';
import type { BilledPeriod } from '../../core/invoice.ts';
import { formatInstant, HOUR_MS, type Instant, type Interval } from '../../core/time.ts';
import {
  type PeriodTerms,
  periodContaining,
  periodsOverlapping,
  wholePeriod,
} from '../../rating/periods/billing-periods.ts';
import type { Contract } from '../../store/contracts/contracts.ts';

/** One usage invoice to be computed. */
export interface InvoiceTarget {
  readonly contract: Contract;
  readonly period: BilledPeriod;
}

export function periodTerms(contract: Contract): PeriodTerms {
  return {
    schedule: contract.statementSchedule,
    contract: { start: contract.startingAt, end: contract.endingBefore },
  };
}

/** Derived from contract and period, so that a draft and its finalized invoice have the same id. */
export function usageInvoiceId(contractId: string, periodStart: Instant): string {
  return derivedId('usage-invoice', contractId, formatInstant(periodStart));
}

/** A usage invoice is finalized after the end of its period and of the grace period for late events. */
export function finalizationAt(period: Interval, gracePeriodHours: number): Instant {
  return period.end + gracePeriodHours * HOUR_MS;
}

/** A contract is billed for usage if it has a rate card and is not archived. */
export function billsUsage(contract: Contract): boolean {
  return contract.rateCardId !== null && contract.archivedAt === null;
}

/** The period whose finalization is due first: the first that is billed, or the one after `issuedUntil`. */
export function nextUnissuedPeriod(
  contract: Contract,
  issuedUntil: Instant | undefined,
): BilledPeriod | null {
  return issuedUntil === undefined ? firstBilledPeriod(contract) : periodFrom(contract, issuedUntil);
}

/** Begins with the contract, or when invoicing begins, even inside a billing period. */
function firstBilledPeriod(contract: Contract): BilledPeriod | null {
  const { startingAt, invoiceGenerationStartingAt: from } = contract;
  return periodFrom(contract, from === null ? startingAt : Math.max(startingAt, from));
}

/**
 * The part from `start` on of the billing period that contains it. Counters run from the start of that billing period.
 * A part is billed in two cases: invoices start inside the first period, or a contract was extended after the invoice
 * of its last, shorter period was issued.
 */
export function periodFrom(contract: Contract, start: Instant): BilledPeriod | null {
  const period = periodContaining(periodTerms(contract), start);
  return period && { start, end: period.end, countedFrom: period.start };
}

/** The periods that have started and are not issued: those in their grace period, and the current one. */
export function openPeriods(
  contract: Contract,
  issuedUntil: Instant | undefined,
  now: Instant,
): BilledPeriod[] {
  if (!billsUsage(contract)) return [];
  const first = nextUnissuedPeriod(contract, issuedUntil);
  if (first === null || first.start > now) return [];
  const others = periodsOverlapping(periodTerms(contract), { start: first.end, end: now + 1 });
  return [first, ...others.map(wholePeriod)];
}
