/** The past events that are still needed: those of periods that are not invoiced, or that may be invoiced again. */
import { addMonths, DAY_MS, floorToMonth, formatInstant, type Instant } from '../../core/time.ts';
import type { EventMonth } from '../../metering/events/old-months.ts';
import type { Transaction } from '../../store/base/database.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import { billedContractIds, firstRegenerable } from '../../store/erasure/event-retention.ts';
import { lastIssuedPeriodEnds } from '../../store/invoices/issued-periods.ts';
import { nextUnissuedPeriod } from '../invoice-queue/usage-periods.ts';

/** The work that needs the oldest events. */
export interface Need {
  readonly from: Instant;
  /** For the log. */
  readonly what: string;
}

const CONTRACTS_PER_PAGE = 1_000;

/** Null if nothing is to be invoiced. Drafts are the open periods, so that they are covered. */
export async function oldestNeed(tx: Transaction): Promise<Need | null> {
  const voided = await firstRegenerable(tx);
  const void_ = voided && { from: voided.countedFrom, what: `void invoice ${voided.id}` };
  return earlier(void_, await oldestOpenPeriod(tx));
}

async function oldestOpenPeriod(tx: Transaction): Promise<Need | null> {
  let oldest: Need | null = null;
  for (let after: string | null = null; ; ) {
    const ids: string[] = await billedContractIds(tx, after, CONTRACTS_PER_PAGE);
    const last = ids.at(-1);
    if (last === undefined) return oldest;
    const issuedUntil = await lastIssuedPeriodEnds(tx, ids);
    for (const contract of await loadContracts(tx, { ids })) {
      const period = nextUnissuedPeriod(contract, issuedUntil.get(contract.id));
      if (period === null) continue;
      const what = `the period from ${formatInstant(period.start)} of contract ${contract.id}`;
      oldest = earlier(oldest, { from: Math.min(period.countedFrom, period.start), what });
    }
    after = last;
  }
}

function earlier(a: Need | null, b: Need | null): Need | null {
  if (a === null || b === null) return a ?? b;
  return b.from < a.from ? b : a;
}

export interface RetentionRule {
  readonly months: number;
  readonly windowDays: number;
}

/**
 * The first instant of the first month that has to be kept: the number of whole months that the operator configures,
 * the months into which events can still be sent, and the needed ones.
 */
export function keptFromBy({ months, windowDays }: RetentionRule, now: Instant, need: Need | null): Instant {
  const wanted = addMonths(floorToMonth(now), -months);
  // A day more, so that no event that is being sent now is dated into a removed month.
  const sendable = floorToMonth(now - (windowDays + 1) * DAY_MS);
  return Math.min(wanted, sendable, need === null ? wanted : floorToMonth(need.from));
}

/** Whether no id of the month is remembered: ids of events dated ahead are remembered for a day longer. */
export function isForgotten({ lastAcceptedAt }: EventMonth, windowDays: number, now: Instant): boolean {
  return lastAcceptedAt < now - (windowDays + 2) * DAY_MS;
}

/** The end of the last of these months that may go, which are in their order; null if the first has to stay. */
export function endOfRemovable(
  months: readonly EventMonth[],
  windowDays: number,
  now: Instant,
): Instant | null {
  const kept = months.findIndex((month) => !isForgotten(month, windowDays, now));
  const last = (kept < 0 ? months : months.slice(0, kept)).at(-1);
  return last === undefined ? null : addMonths(last.start, 1);
}
