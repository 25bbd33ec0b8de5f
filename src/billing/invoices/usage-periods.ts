/**
 * Which usage invoices a contract has: one per billing period, in order. Periods are finalized one after
 * the other, so everything from the end of the last issued period on is open.
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
import type { Contract } from '../../store/contracts.ts';

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

/** The same contract and period always give the same id: the draft's is the finalized invoice's. */
export function usageInvoiceId(contractId: string, periodStart: Instant): string {
  return derivedId('usage-invoice', contractId, formatInstant(periodStart));
}

/** A usage invoice is finalized when its period has ended and the grace time for late events is over. */
export function finalizationAt(period: Interval, gracePeriodHours: number): Instant {
  return period.end + gracePeriodHours * HOUR_MS;
}

/** A contract is billed for usage when it has prices, and as long as it is not archived. */
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

/** Begins with the contract, or where invoices are to be made from, even inside a billing period. */
function firstBilledPeriod(contract: Contract): BilledPeriod | null {
  const { startingAt, invoiceGenerationStartingAt: from } = contract;
  return periodFrom(contract, from === null ? startingAt : Math.max(startingAt, from));
}

/**
 * What is left from `start` on of the billing period that it lies in; its counters run from the start of
 * that period. Periods are whole as a rule. The first may begin where invoices are to be made from, and the
 * last one of a contract that had ended and then went on was issued in part.
 */
export function periodFrom(contract: Contract, start: Instant): BilledPeriod | null {
  const period = periodContaining(periodTerms(contract), start);
  return period && { start, end: period.end, countedFrom: period.start };
}

/** The periods that have started and are not issued: those in their grace time, and the running one. */
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
