/**
 * Late usage of an issued invoice: by how much a computation of today's events under the terms of the
 * invoice differs from what was frozen (docs/invoices.md, "Late usage").
 *
 * Compared are whole line keys: a late event moves the counter, and with it tiers and segments that it does
 * not lie in, so the difference of single lines says nothing that anyone could act on.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { InvoiceLine, InvoiceWarning } from '../../core/invoice.ts';
import { groupValuesKey } from '../usage/group-values.ts';

/** Lines and warnings of one invoice. */
export interface InvoiceUsage {
  readonly lines: readonly InvoiceLine[];
  readonly warnings: readonly InvoiceWarning[];
}

export interface LateUsage {
  readonly productId: string;
  readonly productName: string;
  readonly pricingGroupValues: Readonly<Record<string, string>>;
  readonly presentationGroupValues: Readonly<Record<string, string>>;
  /** Negative where late events lower the usage. */
  readonly quantity: Decimal;
  /** What it would have cost in time, before commits and credits; null where it has no rate. */
  readonly price: { readonly creditTypeId: string; readonly total: Decimal } | null;
}

/** In the order in which the recomputed lines stand, then what has no rate. Empty where nothing is late. */
export function lateUsage(now: InvoiceUsage, frozen: InvoiceUsage): LateUsage[] {
  const late = new Map<string, LateUsage>();
  for (const usage of usagesOf(now)) add(late, usage);
  for (const usage of usagesOf(frozen)) add(late, negated(usage));
  return [...late.values()].filter(
    ({ quantity, price }) => !quantity.eq(ZERO) || !(price?.total ?? ZERO).eq(ZERO),
  );
}

function usagesOf({ lines, warnings }: InvoiceUsage): LateUsage[] {
  const billed = lines.flatMap((line): LateUsage[] =>
    line.type === 'usage'
      ? [{ ...line, productName: line.name, price: { creditTypeId: line.creditTypeId, total: line.total } }]
      : [],
  );
  return [...billed, ...warnings.map((warning) => ({ ...warning, price: null }))];
}

/** The name is that of the first: the recomputed one, where there is one. */
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

/** Both have one, in the same unit, or neither does: the unit is part of the key. */
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
