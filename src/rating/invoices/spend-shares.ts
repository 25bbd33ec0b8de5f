/**
 * Distributes the charges of invoice lines over the events of their usage (docs/explanation/spend-breakdowns.md). Pure.
 *
 * Each hour of a line is distributed separately, in proportion to the contribution of events to the metric in that
 * hour. The shares of an hour add up to it, to the last digit.
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
import { sortedInSteps } from '../../core/sort-in-steps.ts';
import type { Interval } from '../../core/time.ts';

/** Values of properties in order, null for events without the property. Null as a whole: the events are unknown. */
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
 * the same hour. Charges of composites, minimums and schedules belong to no events. Yields after each step of its work.
 */
export function* spendSharesInSteps(
  lines: readonly InvoiceLine[],
  hours: readonly LineWindow[],
  weightsOf: WeightsOf,
): Generator<void, SpendShare[], undefined> {
  const spent = createHourlySpend();
  const lineOf = ({ position }: LineWindow) => {
    const line = lines[position];
    assert(line !== undefined, 'a recorded window belongs to a line of the invoice');
    return line;
  };
  const shares: SpendShare[] = [];
  const [conversions, others] = partition(hours, (hour) => isConversionLine(lineOf(hour)));
  for (const hour of others) {
    const line = lineOf(hour);
    for (const share of yield* distributed(hour, isMetered(line) ? weightsOf(line, hour.window) : [])) {
      spent.add(line.creditTypeId, share);
      shares.push(share);
      yield;
    }
  }
  for (const hour of conversions) {
    const line = lineOf(hour);
    assert(isConversionLine(line), 'the hours of conversions are those of conversions');
    for (const share of yield* distributed(hour, spent.weightsOf(line.convertedCreditTypeId, hour.window))) {
      shares.push(share);
    }
  }
  return yield* charged(shares);
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

function* charged(shares: readonly SpendShare[]): Generator<void, SpendShare[], undefined> {
  const kept: SpendShare[] = [];
  for (const share of shares) {
    if (isCharged(share)) kept.push(share);
    yield;
  }
  return kept;
}

function isCharged({ quantity, total }: SpendShare): boolean {
  return !quantity.eq(ZERO) || !total.eq(ZERO);
}

function isMetered(line: InvoiceLine): line is UsageInvoiceLine {
  return isUsageLine(line) && line.type !== 'minimum' && line.productType === 'USAGE';
}

/** One text per combination of values. */
export function shareKey(shares: ShareValues): string {
  return JSON.stringify(shares);
}

function* distributed(
  hour: LineWindow,
  weights: readonly Weight[],
): Generator<void, SpendShare[], undefined> {
  let sum = ZERO;
  for (const { value } of weights) {
    sum = sum.plus(value);
    yield;
  }
  if (sum.eq(ZERO)) return [{ ...hour, shares: null }];
  // The largest share receives the remainder of the division.
  const [first, ...others] = yield* sortedInSteps(yield* withKeys(weights), bySize);
  assert(first !== undefined, 'a sum has a part');
  let { quantity, total } = hour;
  const parts: SpendShare[] = [];
  for (const { shares, value } of others) {
    const part = {
      ...hour,
      shares,
      quantity: divideTo20Places(hour.quantity.times(value), sum),
      total: divideTo20Places(hour.total.times(value), sum),
    };
    quantity = quantity.minus(part.quantity);
    total = total.minus(part.total);
    parts.push(part);
    yield;
  }
  return [{ ...hour, shares: first.shares, quantity, total }, ...parts];
}

interface Sortable extends Weight {
  readonly size: Decimal;
  readonly key: string;
}

function* withKeys(weights: readonly Weight[]): Generator<void, Sortable[], undefined> {
  const sortable: Sortable[] = [];
  for (const weight of weights) {
    sortable.push({ ...weight, size: weight.value.abs(), key: shareKey(weight.shares) });
    yield;
  }
  return sortable;
}

/** The largest first; equal ones in the order of their values. */
function bySize(a: Sortable, b: Sortable): number {
  return b.size.cmp(a.size) || (a.key < b.key ? -1 : 1);
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
