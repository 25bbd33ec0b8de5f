/**
 * The grants of recurring terms, by a second and naive computation: boundaries are written down one after the other,
 * and time is counted hour by hour.
 */
import { type Decimal, decimal, divideTo20Places } from '../../../src/core/decimal.ts';
import type { Contract } from '../../../src/core/terms/contract.ts';
import type { RecurringCommit } from '../../../src/core/terms/recurring-commits.ts';

const HOUR = 3_600_000;
const STEPS = { DAILY: 24, WEEKLY: 168 } as const;
const MONTHS = { MONTHLY: 1, QUARTERLY: 3, ANNUAL: 12 } as const;

export interface NaiveGrant {
  readonly from: number;
  readonly until: number;
  readonly amount: Decimal;
}

/** All children whose period starts before `until`. */
export function naiveGrants(term: RecurringCommit, contract: Contract, until: number): NaiveGrant[] {
  const frequency = term.recurrenceFrequency ?? contract.statementSchedule.frequency;
  const isOwn = term.recurrenceFrequency !== null;
  const anchor = isOwn ? term.startingAt : statementStart(contract);
  const boundaries = boundariesFrom(anchor, frequency, until + term.commitDurationPeriods * 366 * 24 * HOUR);
  const found: NaiveGrant[] = [];
  for (const [index, start] of boundaries.entries()) {
    const end = boundaries[index + 1];
    if (end === undefined) break;
    const from = Math.max(start, term.startingAt);
    if (from >= end || from >= until || !isInForce(term, contract, from)) continue;
    const last = boundaries[index + term.commitDurationPeriods] ?? Number.NaN;
    const hours = hoursGranted(term, contract, start, end);
    const full = term.accessAmount.unitPrice.times(term.accessAmount.quantity ?? decimal('0'));
    const whole = (end - start) / HOUR;
    const amount =
      hours === whole ? full : divideTo20Places(full.times(decimal(String(hours))), decimal(String(whole)));
    found.push({ from, until: Math.min(last, contract.endingBefore ?? last), amount });
  }
  return found;
}

function isInForce(term: RecurringCommit, contract: Contract, at: number): boolean {
  const ends = [term.endingBefore, contract.endingBefore].filter((end) => end !== null);
  return at >= term.startingAt && ends.every((end) => at < end);
}

/** The hours of the period that count, one by one. */
function hoursGranted(term: RecurringCommit, contract: Contract, start: number, end: number): number {
  const { proration, startingAt } = term;
  const isFirst = start <= startingAt;
  let hours = 0;
  for (let at = start; at < end; at += HOUR) {
    const isBefore = at < startingAt;
    const isAfter = at >= startingAt && !isInForce(term, contract, at);
    const isCut = contract.endingBefore !== null && at >= contract.endingBefore;
    if (isBefore && proration.startsWith('FIRST')) continue;
    if (isAfter && proration.endsWith('LAST')) continue;
    if (isFirst && isCut && proration === 'FIRST') continue;
    hours += 1;
  }
  return hours;
}

/** A boundary of the usage invoices that is not after the contract's start. */
function statementStart({ startingAt, statementSchedule: { day, frequency } }: Contract): number {
  if (day === 'CONTRACT_START') return startingAt;
  const date = new Date(startingAt);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (frequency === 'WEEKLY') return Date.UTC(year, month, date.getUTCDate());
  return Date.UTC(year, Math.floor(month / MONTHS[frequency]) * MONTHS[frequency], 1);
}

function boundariesFrom(anchor: number, frequency: keyof typeof STEPS | keyof typeof MONTHS, until: number) {
  const boundaries: number[] = [];
  for (let count = 0; (boundaries.at(-1) ?? anchor) <= until; count += 1) {
    boundaries.push(
      frequency === 'DAILY' || frequency === 'WEEKLY'
        ? anchor + count * STEPS[frequency] * HOUR
        : monthsLater(anchor, count * MONTHS[frequency]),
    );
  }
  return boundaries;
}

/** The same day and hour, or the last day of a shorter month. */
function monthsLater(at: number, months: number): number {
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(date.getUTCDate(), lastDay)) + (at % (24 * HOUR));
}
