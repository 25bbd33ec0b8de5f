/** The charges of an invoice hour by hour: the base of composite products. */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { Interval } from '../../core/time.ts';
import type { ProductSpend } from './spend-collector.ts';

/** A charge of one product in one hour. */
export interface Spend {
  readonly productId: string;
  readonly creditTypeId: string;
  readonly amount: Decimal;
  /** True if all charges of the product add up to zero in every unit. */
  readonly isFree: boolean;
}

export interface HourlySpend {
  readonly window: Interval;
  readonly spends: Spend[];
}

/**
 * One entry for each of `windows`, and for each window with a charge, ascending. `invoices` are the charges of the
 * invoices of the billing period; whether a product is free is decided on each separately.
 */
export function hourlySpend(
  invoices: readonly (readonly ProductSpend[])[],
  windows: readonly Interval[],
): HourlySpend[] {
  const hours = new Map<number, HourlySpend>(
    windows.map((window) => [window.start, { window, spends: [] }] as const),
  );
  for (const spends of invoices) {
    const free = freeProducts(spends);
    for (const { productId, creditTypeId, windows: own } of spends) {
      const isFree = free.has(productId);
      for (const { window, total: amount } of own) {
        const hour = hours.get(window.start) ?? { window, spends: [] };
        hours.set(window.start, hour);
        hour.spends.push({ productId, creditTypeId, amount, isFree });
      }
    }
  }
  return [...hours.values()].sort((a, b) => a.window.start - b.window.start);
}

function freeProducts(spends: readonly ProductSpend[]): Set<string> {
  const charges = new Map<string, Map<string, Decimal>>();
  for (const { productId, creditTypeId, total } of spends) {
    const units = charges.get(productId) ?? new Map<string, Decimal>();
    charges.set(productId, units.set(creditTypeId, (units.get(creditTypeId) ?? ZERO).plus(total)));
  }
  const free = [...charges].filter(([, units]) => [...units.values()].every((total) => total.eq(ZERO)));
  return new Set(free.map(([productId]) => productId));
}
