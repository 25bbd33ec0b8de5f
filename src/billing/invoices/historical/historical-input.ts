/** A client's input for historical invoices, and the checks that need no prices. Pure. */
import { type Decimal, sum } from '../../../core/decimal.ts';
import { type FieldPath, invalid, words } from '../../../core/errors.ts';
import { floorToDay, floorToHour, formatInstant, type Instant, type Interval } from '../../../core/time.ts';
import type { HistoricalPart, HistoricalUsage } from '../../../rating/historical/historical-lines.ts';
import type { ProductOnCard } from '../../../rating/lines/types.ts';
import { type GroupValues, sortedKeys } from '../../../rating/quantities/group-values.ts';
import { versionAt } from '../../../rating/quantities/product-spans.ts';

interface Dates {
  readonly inclusiveStartDate: Instant;
  readonly exclusiveEndDate: Instant;
}

/** One of `quantity` and `subtotalsWithQuantity` is set, or both with the same sum. */
export interface HistoricalLineInput extends Dates {
  readonly productId: string;
  readonly quantity: Decimal | null;
  readonly pricingGroupValues: GroupValues;
  readonly presentationGroupValues: GroupValues;
  readonly subtotalsWithQuantity: readonly (Dates & { readonly quantity: Decimal })[];
}

export interface HistoricalInvoiceInput extends Dates {
  readonly customerId: string;
  readonly contractId: string;
  readonly creditTypeId: string;
  readonly issueDate: Instant;
  /** Null: without subtotals. */
  readonly breakdownGranularity: 'HOUR' | 'DAY' | null;
  readonly usageLineItems: readonly HistoricalLineInput[];
  readonly customFields: Readonly<Record<string, string>>;
}

export function intervalOf({ inclusiveStartDate: start, exclusiveEndDate: end }: Dates): Interval {
  return { start, end };
}

/** Refuses (`invalid`) an empty interval, and one outside `within`, which `what` names. */
export function requireInterval(dates: Dates, path: FieldPath, within: Interval, what: string): Interval {
  const { start, end } = intervalOf(dates);
  if (end <= start) {
    throw invalid([...path, 'exclusiveEndDate'], words`must be after ${['inclusiveStartDate']}`);
  }
  if (start < within.start) {
    const from = formatInstant(within.start);
    throw invalid([...path, 'inclusiveStartDate'], `must not be before ${what} starts, ${from}`);
  }
  if (end > within.end) {
    throw invalid(
      [...path, 'exclusiveEndDate'],
      `must not be after ${what} ends, ${formatInstant(within.end)}`,
    );
  }
  return { start, end };
}

/** Refuses (`invalid`) the first invalid field of a line, whose place in the request is `path`. */
export function usageOf(
  line: HistoricalLineInput,
  path: FieldPath,
  { breakdownGranularity, ...invoice }: HistoricalInvoiceInput,
  products: ReadonlyMap<string, ProductOnCard>,
): HistoricalUsage {
  const interval = requireInterval(line, path, intervalOf(invoice), 'the invoice');
  const onCard = products.get(line.productId);
  if (onCard === undefined) {
    throw invalid(
      [...path, 'productId'],
      `the rate card of the contract has no usage product ${line.productId}`,
    );
  }
  const version = versionAt(onCard.product, interval.start);
  for (const [name, keys] of [
    ['pricingGroupValues', version.pricingGroupKey],
    ['presentationGroupValues', version.presentationGroupKey],
  ] as const) {
    requireNames(line[name], keys, [...path, name]);
  }
  const { pricingGroupValues, presentationGroupValues } = line;
  const parts = partsOf(line, path, interval, breakdownGranularity);
  return { onCard, pricingGroupValues, presentationGroupValues, interval, parts };
}

function requireNames(values: GroupValues, names: readonly string[], path: FieldPath): void {
  const wanted = JSON.stringify(sortedKeys(names));
  if (JSON.stringify(sortedKeys(Object.keys(values))) === wanted) return;
  throw invalid(path, `must have a value for each of the product's group keys: ${wanted}`);
}

function partsOf(
  line: HistoricalLineInput,
  path: FieldPath,
  interval: Interval,
  granularity: HistoricalInvoiceInput['breakdownGranularity'],
): HistoricalPart[] {
  const { quantity, subtotalsWithQuantity: subtotals } = line;
  if (subtotals.length === 0) {
    if (quantity === null) {
      throw invalid([...path, 'quantity'], words`is required without ${['subtotalsWithQuantity']}`);
    }
    return [{ interval, quantity }];
  }
  const parts: HistoricalPart[] = [];
  for (const [index, subtotal] of subtotals.entries()) {
    const place = [...path, 'subtotalsWithQuantity', index];
    const part = requireInterval(subtotal, place, interval, 'the line');
    requireOneUnit(part, granularity, place);
    const before = parts.at(-1);
    if (before !== undefined && part.start < before.interval.end) {
      throw invalid([...place, 'inclusiveStartDate'], 'must not be before the end of the subtotal before it');
    }
    parts.push({ interval: part, quantity: subtotal.quantity });
  }
  if (quantity !== null && !sum(parts.map((part) => part.quantity)).eq(quantity)) {
    throw invalid([...path, 'quantity'], words`must be the sum of ${['subtotalsWithQuantity']}`);
  }
  return parts;
}

/** A subtotal must be within one hour, or one day, of the UTC grid. */
function requireOneUnit(
  { start, end }: Interval,
  granularity: HistoricalInvoiceInput['breakdownGranularity'],
  path: FieldPath,
): void {
  if (granularity === null) {
    throw invalid([...path.slice(0, 2), 'breakdownGranularity'], 'is required with subtotals');
  }
  const floor = granularity === 'HOUR' ? floorToHour : floorToDay;
  if (floor(start) === floor(end - 1)) return;
  const unit = granularity === 'HOUR' ? 'hour' : 'day';
  throw invalid(
    [...path, 'exclusiveEndDate'],
    `must lie within the ${unit} (UTC) in which the subtotal starts`,
  );
}
