/** Which lines of an invoice count in its total, and which of their figures are rounded for display. */
import Big from 'big.js';
import type { Exact } from '../api/exact.ts';
import { type CreditType, currencyOf, DOCUMENT_PLACES_MAX, inUnits } from '../format/money.ts';

interface BilledLine {
  readonly name: string;
  readonly type: string;
  readonly commit_type?: string | undefined;
  readonly quantity?: Exact | undefined;
  readonly total: Exact;
  readonly credit_type: CreditType;
}

export function isApplied({ type }: Pick<BilledLine, 'type'>): boolean {
  return type === 'applied_commit_or_credit';
}

/** Usage that a postpaid commit covers is due nevertheless: its applied line is not in the total. */
export function countsInTotal(line: Pick<BilledLine, 'type' | 'commit_type'>): boolean {
  return !isApplied(line) || line.commit_type !== 'PostpaidCommit';
}

/** The name of the commit in a line that the API calls `… applied`. */
export function balanceName({ name }: Pick<BilledLine, 'name'>): string {
  return name.replace(/ applied$/, '');
}

/** Whether a line's quantity or amount has more places than are shown. */
export function isRounded({ quantity, total, credit_type }: BilledLine): boolean {
  const currency = currencyOf(credit_type);
  const amount = currency === null ? new Big(total) : inUnits(total, currency);
  return [amount, new Big(quantity ?? 0)].some((value) => !value.round(DOCUMENT_PLACES_MAX).eq(value));
}
