/** Checks that an invoice adds up in itself: prices to lines, hours to days to lines, lines to the total. Pure. */
import { type Decimal, decimal, sum, ZERO } from '../../../core/decimal.ts';
import { groupBy } from '../../../core/group-by.ts';
import {
  countsInTotal,
  type Invoice,
  type InvoiceLine,
  isAppliedLine,
  isConversionLine,
  isScheduledLine,
  isSubscriptionLine,
  isUsageLine,
  type LineWindow,
  type UsageInvoiceLine,
} from '../../../core/invoice.ts';
import { DAY_MS } from '../../../core/time.ts';
import type { LineRange } from '../../../metering/frozen-lines/frozen-lines.ts';
import { groupValuesKey } from '../../../rating/quantities/group-values.ts';
import { type Difference, differencesOf } from './difference.ts';

type Added = Pick<Invoice, 'id' | 'contractId' | 'creditTypeId' | 'total' | 'lines' | 'period'>;

/**
 * Quantity × unit price equals the total of every line without balances, and is within `PAID_PART_MAX` of it with
 * balances. Applied lines deduct from the line before them. The lines that count add up to the total of the invoice.
 */
export function checkTotals(invoice: Added): Difference[] {
  const difference = differencesOf(invoice);
  const { lines, creditTypeId } = invoice;
  const paid = paidKeys(lines);
  const found: Difference[] = [];
  for (const [position, line] of lines.entries()) {
    if (isAppliedLine(line)) {
      found.push(...checkApplied(invoice, line, position));
      continue;
    }
    const expected = line.quantity.times(line.unitPrice);
    const deviation = expected.minus(line.total).abs();
    if (deviation.gt(paid.has(paidKeyOf(line)) ? PAID_PART_MAX : ZERO)) {
      const numbers = { position, field: 'total', expected, found: line.total } as const;
      found.push(difference('line_total', 'quantity × unit price is not the total of the line', numbers));
    }
    found.push(...checkConversion(invoice, line, position));
  }
  const expected = totalIn(lines, creditTypeId);
  if (!expected.eq(invoice.total)) {
    const numbers = { field: 'total', expected, found: invoice.total } as const;
    found.push(difference('invoice_total', 'the lines do not add up to the total of the invoice', numbers));
  }
  return found;
}

/** Units that a balance covers have 20 decimal places; the rest moves to the next line of the same price. */
const PAID_PART_MAX = decimal('0.000000000000001');

function checkApplied(invoice: Added, line: InvoiceLine, position: number): Difference[] {
  const covered = invoice.lines[position - 1];
  const isItsLine = covered !== undefined && !isAppliedLine(covered) && payerOf(covered) === payerOf(line);
  const expected = isItsLine ? ZERO.minus(covered.total) : ZERO;
  if (isItsLine && expected.eq(line.total)) return [];
  const numbers = { position, field: 'total', expected, found: line.total } as const;
  const message = 'an applied line does not take back the line before it';
  return [differencesOf(invoice)('applied', message, numbers)];
}

function payerOf(line: InvoiceLine): string | null {
  return isScheduledLine(line) ? null : (line.payer?.segmentId ?? null);
}

/** Payments of balances for a key may move fractions between its lines. */
function paidKeyOf(line: InvoiceLine): string {
  if (isConversionLine(line)) return line.convertedCreditTypeId;
  if (isSubscriptionLine(line)) return line.scheduleItemId;
  return isUsageLine(line) ? usageKeyOf(line) : '';
}

function paidKeys(lines: readonly InvoiceLine[]): Set<string> {
  return new Set(lines.filter((line) => payerOf(line) !== null).map(paidKeyOf));
}

/** The product and the group values of a line. */
function usageKeyOf(line: UsageInvoiceLine): string {
  const { productId, productType, creditTypeId, pricingGroupValues, presentationGroupValues } = line;
  const groups = [pricingGroupValues, presentationGroupValues].map(groupValuesKey);
  return JSON.stringify([productId, ...groups, ...(productType === 'COMPOSITE' ? [creditTypeId] : [])]);
}

/** The converted amount is the total of the lines in the custom unit. */
function checkConversion(invoice: Added, line: InvoiceLine, position: number): Difference[] {
  if (line.type !== 'cpu_conversion') return [];
  const unit = line.convertedCreditTypeId;
  const ofUnit = invoice.lines.filter(
    (one) => one.type === 'cpu_conversion' && one.convertedCreditTypeId === unit,
  );
  // Balances may pay for parts of a conversion. The last part stands for all.
  if (ofUnit.at(-1) !== line) return [];
  const expected = totalIn(invoice.lines, unit);
  const found = sum(ofUnit.map(({ quantity }) => quantity));
  if (expected.eq(found)) return [];
  const numbers = { position, field: 'quantity', expected, found } as const;
  const message = 'the lines in the custom unit do not add up to what is converted';
  return [differencesOf(invoice)('conversion', message, numbers)];
}

function totalIn(lines: readonly InvoiceLine[], creditTypeId: string): Decimal {
  return sum(
    lines
      .filter((line) => line.creditTypeId === creditTypeId && countsInTotal(line))
      .map(({ total }) => total),
  );
}

/** The hours of the lines of a range add up to them, lie in the period, and belong to lines of the invoice. */
export function checkHours(
  invoice: Added,
  hours: readonly LineWindow[],
  { first, end }: LineRange,
): Difference[] {
  const difference = differencesOf(invoice);
  const byLine = groupBy(hours, ({ position }) => position);
  const found: Difference[] = [];
  for (const { position, window, total } of hours) {
    const isInside = window.start >= invoice.period.start && window.start < invoice.period.end;
    if (invoice.lines[position] !== undefined && isInside) continue;
    const message = isInside
      ? 'an hour belongs to no line of the invoice'
      : 'an hour lies outside the period of the invoice';
    found.push(difference('hours', message, { position, window, found: total, field: 'total' }));
  }
  for (const [index, line] of invoice.lines.slice(first, end).entries()) {
    const position = first + index;
    const own = byLine.get(position) ?? [];
    for (const field of ['quantity', 'total'] as const) {
      const added = sum(own.map((one) => one[field]));
      if (added.eq(line[field])) continue;
      const numbers = { position, field, expected: line[field], found: added } as const;
      found.push(difference('hours', 'the hours do not add up to the line', numbers));
    }
  }
  return found;
}

/** The days that the breakdown shows are those that the hours add up to. */
export function checkDays(
  invoice: Added,
  hours: readonly LineWindow[],
  days: readonly LineWindow[],
): Difference[] {
  const difference = differencesOf(invoice);
  const dayOf = ({ window }: LineWindow) => Math.floor(window.start / DAY_MS) * DAY_MS;
  const keyOf = (one: LineWindow) => `${one.position} ${dayOf(one)}`;
  const ofHours = groupBy(hours, keyOf);
  const ofDays = groupBy(days, keyOf);
  const found: Difference[] = [];
  for (const key of new Set([...ofHours.keys(), ...ofDays.keys()])) {
    const [summed, shown] = [ofHours.get(key) ?? [], ofDays.get(key) ?? []];
    const [one] = [...shown, ...summed];
    if (one === undefined) continue;
    for (const field of ['quantity', 'total'] as const) {
      const expected = sum(summed.map((hour) => hour[field]));
      const total = sum(shown.map((day) => day[field]));
      if (expected.eq(total)) continue;
      const start = dayOf(one);
      const window = { start, end: start + DAY_MS };
      const numbers = { position: one.position, window, field, expected, found: total } as const;
      found.push(difference('days', 'the hours do not add up to the day', numbers));
    }
  }
  return found;
}

/** Compares two sets of hours of the same lines. An hour without a change may be absent. */
export function checkSameHours(
  invoice: Added,
  expected: readonly LineWindow[],
  stored: readonly LineWindow[],
): Difference[] {
  const difference = differencesOf(invoice);
  const keyOf = ({ position, window }: LineWindow) => `${position} ${window.start}`;
  const now = new Map(expected.map((one) => [keyOf(one), one]));
  const then = new Map(stored.map((one) => [keyOf(one), one]));
  const found: Difference[] = [];
  for (const key of new Set([...now.keys(), ...then.keys()])) {
    const one = now.get(key) ?? then.get(key);
    if (one === undefined) continue;
    const { position, window } = one;
    for (const field of ['quantity', 'total'] as const) {
      const [wanted, frozen] = [now.get(key)?.[field] ?? ZERO, then.get(key)?.[field] ?? ZERO];
      if (wanted.eq(frozen)) continue;
      const numbers = { position, window, field, expected: wanted, found: frozen } as const;
      found.push(difference('recomputed_hour', 'the frozen hour is not that of the events', numbers));
    }
  }
  return found;
}
