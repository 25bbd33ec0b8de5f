/** Charges by window, the common format for comparing both engines. */
import type { Instant } from '../../../src/core/time.ts';

/** A part of the usage of one hour or of a larger window. */
export interface Charge {
  readonly productId: string;
  /** Pairs of names and values as one text (`naivePairs`). */
  readonly pricing: string;
  readonly presentation: string;
  /** Start of the window. */
  readonly at: Instant;
  /** The level of the tier; 0 where the price has no tiers. */
  readonly level: number;
  /** Null where the usage has no price. */
  readonly creditTypeId: string | null;
  /** In hundredths. */
  readonly quantity: number;
  /** In millionths of the pricing unit. */
  readonly total: number;
}

/** The amount, in the currency, of the usage in one custom pricing unit. */
export interface Conversion {
  readonly creditTypeId: string;
  readonly at: Instant;
  /** In millionths of the unit. */
  readonly quantity: number;
  /** In hundred-millionths of the currency's denomination. */
  readonly total: number;
}

/** Sums per line and window, as sorted lines of text; nothing where quantity and total are 0. */
export function summedBy(
  charges: readonly (Charge | Conversion)[],
  windowOf: (at: Instant) => Instant,
): string[] {
  const sums = new Map<string, { quantity: number; total: number }>();
  for (const { quantity, total, at, ...line } of charges) {
    const key = `${Object.values(line).join(' ')} ${new Date(windowOf(at)).toISOString()}`;
    const sum = sums.get(key) ?? { quantity: 0, total: 0 };
    sums.set(key, { quantity: sum.quantity + quantity, total: sum.total + total });
  }
  return [...sums]
    .filter(([, { quantity, total }]) => quantity !== 0 || total !== 0)
    .map(([key, { quantity, total }]) => `${key}: ${quantity} for ${total}`)
    .sort();
}
