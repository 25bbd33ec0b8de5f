/**
 * Late usage of an issued invoice: the difference between a recomputation from the current events, under the invoice's
 * terms, and the issued lines (docs/explanation/invoices.md, "Late usage").
 *
 * Compares whole line keys. A late event moves the counter and so changes later tiers and segments too, so differences
 * of single lines are meaningless.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import {
  type InvoiceLine,
  isAppliedLine,
  isUsageLine,
  type UnpricedUsage,
  type UsageInvoiceLine,
} from '../../core/invoice.ts';
import { groupValuesKey } from '../quantities/group-values.ts';

/** Lines and warnings of one invoice. */
export interface InvoiceUsage {
  readonly lines: readonly InvoiceLine[];
  readonly warnings: readonly UnpricedUsage[];
}

export interface LateUsage {
  readonly productId: string;
  readonly productName: string;
  readonly pricingGroupValues: Readonly<Record<string, string>>;
  readonly presentationGroupValues: Readonly<Record<string, string>>;
  /** Negative if late events lower the usage. */
  readonly quantity: Decimal;
  /** The price if it had been on time, before commits and credits; null without a rate. */
  readonly price: { readonly creditTypeId: string; readonly total: Decimal } | null;
}

/**
 * In the order of the recomputed lines, followed by usage without a rate. Empty if nothing is late. Yields after each
 * line and warning.
 */
export function* lateUsage(now: InvoiceUsage, frozen: InvoiceUsage): Generator<void, LateUsage[], undefined> {
  const late = new Map<string, LateUsage>();
  for (const usage of usagesOf(now)) {
    add(late, usage);
    yield;
  }
  for (const usage of usagesOf(frozen)) {
    add(late, negated(usage));
    yield;
  }
  return [...late.values()].filter(
    ({ quantity, price }) => !quantity.eq(ZERO) || !(price?.total ?? ZERO).eq(ZERO),
  );
}

function* usagesOf({ lines, warnings }: InvoiceUsage): Generator<LateUsage, void, undefined> {
  for (const line of lines) {
    if (isUsageLine(line) && !isAppliedLine(line)) yield usageOf(line);
  }
  for (const warning of warnings) yield { ...warning, price: null };
}

/** The minimum of a composite changes its price and is no quantity. */
function usageOf(line: UsageInvoiceLine): LateUsage {
  const { name, creditTypeId, total } = line;
  const quantity = line.type === 'minimum' ? ZERO : line.quantity;
  return { ...line, productName: name, quantity, price: { creditTypeId, total } };
}

/** Keeps the first name, which is the recomputed line's if it exists. */
function add(late: Map<string, LateUsage>, usage: LateUsage): void {
  const key = keyOf(usage);
  const { productId, productName, pricingGroupValues, presentationGroupValues, quantity, price } = usage;
  const before = late.get(key);
  late.set(
    key,
    before === undefined
      ? { productId, productName, pricingGroupValues, presentationGroupValues, quantity, price }
      : { ...before, quantity: before.quantity.plus(quantity), price: addedPrice(before.price, price) },
  );
}

/** Both have a price in the same unit, or neither does, because the unit is part of the key. */
function addedPrice(a: LateUsage['price'], b: LateUsage['price']): LateUsage['price'] {
  return a === null || b === null ? null : { ...a, total: a.total.plus(b.total) };
}

function negated(usage: LateUsage): LateUsage {
  const { quantity, price } = usage;
  return {
    ...usage,
    quantity: ZERO.minus(quantity),
    price: price === null ? null : { ...price, total: ZERO.minus(price.total) },
  };
}

function keyOf({ productId, pricingGroupValues, presentationGroupValues, price }: LateUsage): string {
  return [
    productId,
    groupValuesKey(pricingGroupValues),
    groupValuesKey(presentationGroupValues),
    price?.creditTypeId ?? '',
  ].join('|');
}
