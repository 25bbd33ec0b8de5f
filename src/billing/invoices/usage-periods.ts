/**
 * Which usage invoices a contract has: one per billing period, in order. Periods are finalized one after
 * the other, so everything from the end of the last issued period on is open.
 */
import { derivedId } from '../../core/ids.ts';
import { formatInstant, HOUR_MS, type Instant, type Interval } from '../../core/time.ts';
import {
  firstPeriod,
  nextPeriod,
  type PeriodTerms,
  periodContaining,
  periodsOverlapping,
} from '../../rating/periods/billing-periods.ts';
import type { Contract } from '../../store/contracts.ts';

/** One usage invoice to be computed. */
export interface InvoiceTarget {
  readonly contract: Contract;
  readonly period: Interval;
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
export function nextUnissuedPeriod(contract: Contract, issuedUntil: Instant | undefined): Interval | null {
  return issuedUntil === undefined ? firstBilledPeriod(contract) : periodFrom(contract, issuedUntil);
}

/** The contract's first period, or the first that starts when invoices are to be made. */
function firstBilledPeriod(contract: Contract): Interval | null {
  const terms = periodTerms(contract);
  const from = contract.invoiceGenerationStartingAt ?? contract.startingAt;
  if (from <= contract.startingAt) return firstPeriod(terms);
  const period = periodContaining(terms, from);
  return period === null || period.start === from ? period : nextPeriod(terms, period);
}

/**
 * What is left from `start` on of the period that it lies in. Periods are whole as a rule; the last one of
 * a contract that had ended and then went on was issued in part.
 */
export function periodFrom(contract: Contract, start: Instant): Interval | null {
  const period = periodContaining(periodTerms(contract), start);
  return period && { start, end: period.end };
}

/** The periods that have started and are not issued: those in their grace time, and the running one. */
export function openPeriods(contract: Contract, issuedUntil: Instant | undefined, now: Instant): Interval[] {
  if (!billsUsage(contract)) return [];
  const first = nextUnissuedPeriod(contract, issuedUntil);
  if (first === null || first.start > now) return [];
  const others = periodsOverlapping(periodTerms(contract), { start: first.end, end: now + 1 });
  return [first, ...others];
}
