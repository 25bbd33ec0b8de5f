/**
 * The month of an invoice (docs/explanation/invoices.md, "Months"): each invoice is in exactly one. `timeConditions` in
 * store/invoices/invoice-lists.ts is the same rule for PostgreSQL.
 */
import type { InvoiceType } from './invoice.ts';
import { floorToMonth, formatInstant, type Instant, type Interval } from './time.ts';

/** The times of an invoice, or of a draft, that decide its place in lists by time. */
export interface InvoiceTimes {
  readonly type: InvoiceType;
  /** Start and end; both are the date of the schedule for SCHEDULED invoices. */
  readonly period: Interval;
  /** When the invoice was issued, or when a draft is expected to be. */
  readonly issuedAt: Instant;
}

export interface InvoiceTimeFilter {
  /** Only billing periods that start at or after this instant, or scheduled invoices dated at or after it. */
  readonly startingOn?: Instant | undefined;
  /** Only billing periods that end at or before this instant, or scheduled invoices dated before it. */
  readonly endingBefore?: Instant | undefined;
  /** The first instant of a month: only invoices of this month. */
  readonly month?: Instant | undefined;
}

/**
 * The first instant of the month, in UTC, that the invoice belongs to: the month in which its period ends, so an end at
 * midnight of the first belongs to the month before. A SCHEDULED invoice has no period, and belongs to the month of its
 * issue.
 */
export function monthOfInvoice({ type, period, issuedAt }: InvoiceTimes): Instant {
  return floorToMonth(type === 'SCHEDULED' ? issuedAt : period.end - 1);
}

export function isInTime(
  times: InvoiceTimes,
  { startingOn, endingBefore, month }: InvoiceTimeFilter,
): boolean {
  const { start, end } = times.period;
  if (startingOn !== undefined && start < startingOn) return false;
  if (endingBefore !== undefined && (times.type === 'SCHEDULED' ? end >= endingBefore : end > endingBefore)) {
    return false;
  }
  return month === undefined || monthOfInvoice(times) === month;
}

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

/** Parses `2026-11` as the first instant of the month; null for other text. */
export function parseMonth(text: string): Instant | null {
  return MONTH.test(text) ? Date.parse(`${text}-01T00:00:00Z`) : null;
}

/** `2026-11` */
export function formatMonth(month: Instant): string {
  return formatInstant(month).slice(0, 7);
}
