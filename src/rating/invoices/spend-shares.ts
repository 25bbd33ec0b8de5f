/**
 * Distributes the charges of invoice lines over the events of their usage (docs/spend-breakdowns.md). Pure.
 *
 * Each hour of a line is distributed on its own, in proportion to what events contribute to the metric in this hour. The
 * shares of an hour add up to it, to the last digit.
 */
import { type Decimal, divideTo20Places, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import {
  type InvoiceLine,
  isConversionLine,
  isUsageLine,
  type LineWindow,
  type UsageInvoiceLine,
} from '../../core/invoice.ts';
import type { Interval } from '../../core/time.ts';

/** Values of properties in turn, null for events without the property. Null as a whole: no events are known. */
export type ShareValues = readonly (string | null)[] | null;

export interface Weight {
  readonly shares: ShareValues;
  readonly value: Decimal;
}

/** The part of a line in one hour that belongs to these values. */
export interface SpendShare extends LineWindow {
  readonly shares: ShareValues;
}

/** The weights of the events in one hour of a line of a usage product. */
export type WeightsOf = (line: UsageInvoiceLine, hour: Interval) => readonly Weight[];

/**
 * The shares of hourly windows of lines (`beforeBalances`), without empty ones. A conversion is distributed like the lines in its unit in
 * the same hour. Charges of composites, minimums and schedules belong to no events.
 */
export function spendShares(
  lines: readonly InvoiceLine[],
  hours: readonly LineWindow[],
  weightsOf: WeightsOf,
): SpendShare[] {
  const spent = createHourlySpend();
  const lineOf = ({ position }: LineWindow) => {
    const line = lines[position];
    assert(line !== undefined, 'a recorded window belongs to a line of the invoice');
    return line;
  };
  const usage = hours.filter((hour) => !isConversionLine(lineOf(hour)));
  const shares = usage.flatMap((hour) => {
    const line = lineOf(hour);
    const own = distributed(hour, isMetered(line) ? weightsOf(line, hour.window) : []);
    for (const share of own) spent.add(line.creditTypeId, share);
    return own;
  });
  const conversions = hours.flatMap((hour) => {
    const line = lineOf(hour);
    if (!isConversionLine(line)) return [];
    return distributed(hour, spent.weightsOf(line.convertedCreditTypeId, hour.window));
  });
  return [...shares, ...conversions].filter(({ quantity, total }) => !quantity.eq(ZERO) || !total.eq(ZERO));
}

function isMetered(line: InvoiceLine): line is UsageInvoiceLine {
  return isUsageLine(line) && line.type !== 'minimum' && line.productType === 'USAGE';
}

/** One text per combination of values. */
export function shareKey(shares: ShareValues): string {
  return JSON.stringify(shares);
}

function distributed(hour: LineWindow, weights: readonly Weight[]): SpendShare[] {
  const sum = weights.reduce((total, { value }) => total.plus(value), ZERO);
  if (sum.eq(ZERO)) return [{ ...hour, shares: null }];
  // The largest one takes what division leaves over.
  const [first, ...others] = weights.toSorted((a, b) => b.value.abs().cmp(a.value.abs()) || byKey(a, b));
  assert(first !== undefined, 'a sum has a part');
  const parts = others.map(({ shares, value }) => ({
    ...hour,
    shares,
    quantity: divideTo20Places(hour.quantity.times(value), sum),
    total: divideTo20Places(hour.total.times(value), sum),
  }));
  const rest = parts.reduce(
    (left, part) => ({ quantity: left.quantity.minus(part.quantity), total: left.total.minus(part.total) }),
    { quantity: hour.quantity, total: hour.total },
  );
  return [{ ...hour, shares: first.shares, ...rest }, ...parts];
}

function byKey(a: Weight, b: Weight): number {
  return shareKey(a.shares) < shareKey(b.shares) ? -1 : 1;
}

/** The spend in each unit and hour, by values. */
function createHourlySpend() {
  const spent = new Map<string, Map<string, Weight>>();
  const keyOf = (creditTypeId: string, { start }: Interval) => `${creditTypeId} ${start}`;
  return {
    add(creditTypeId: string, { window, shares, total }: SpendShare): void {
      const key = keyOf(creditTypeId, window);
      const hour = spent.get(key) ?? new Map<string, Weight>();
      spent.set(key, hour);
      const before = hour.get(shareKey(shares))?.value ?? ZERO;
      hour.set(shareKey(shares), { shares, value: before.plus(total) });
    },
    weightsOf: (creditTypeId: string, window: Interval): Weight[] => [
      ...(spent.get(keyOf(creditTypeId, window))?.values() ?? []),
    ],
  };
}
