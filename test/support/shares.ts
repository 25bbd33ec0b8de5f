/**
 * The share of each line of an invoice in one window, exact, as the common format for comparing invoices that have
 * composite products. Amounts are whole 10^-24ths as BigInt.
 */
import type { Decimal } from '../../src/core/decimal.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Charge } from './naive/charges.ts';
import { type NaiveCompositeCharge, PLACES } from './naive/composites.ts';

export interface Share {
  /** Everything that distinguishes the line but its time and its unit. */
  readonly line: string;
  /** The unit of what is shown: for a conversion, the unit that is converted. */
  readonly creditTypeId: string;
  readonly at: Instant;
  readonly quantity: bigint;
  readonly total: bigint;
}

const CONVERSION = 'conversion';
const FROM_HUNDREDTHS = 10n ** BigInt(PLACES - 2);
const FROM_MILLIONTHS = 10n ** BigInt(PLACES - 6);

export function atoms(value: Decimal): bigint {
  return BigInt(value.times(`1e${PLACES}`).toFixed());
}

/** The text of a line; `level` null for a minimum. */
export function lineText(
  productId: string,
  level: number | null,
  pricing = '[]',
  presentation = '[]',
): string {
  return [productId, pricing, presentation, level ?? 'minimum'].join(' ');
}

export const CONVERSION_LINE = lineText(CONVERSION, 0);

/** Charges of the naive engine without those that have no price. */
export function sharesOfCharges(charges: readonly Charge[]): Share[] {
  return charges.flatMap(({ productId, pricing, presentation, level, creditTypeId, at, quantity, total }) =>
    creditTypeId === null
      ? []
      : [
          {
            line: lineText(productId, level, pricing, presentation),
            creditTypeId,
            at,
            quantity: BigInt(quantity) * FROM_HUNDREDTHS,
            total: BigInt(total) * FROM_MILLIONTHS,
          },
        ],
  );
}

export function sharesOfComposites(charges: readonly NaiveCompositeCharge[]): Share[] {
  return charges.map(({ productId, level, ...amounts }) => ({
    line: lineText(productId, level),
    ...amounts,
  }));
}

/** The conversion of each share in a unit that has a worth, in hundredths of the currency. */
export function conversionsOfShares(shares: readonly Share[], worths: ReadonlyMap<string, number>): Share[] {
  return shares.flatMap(({ creditTypeId, at, total }) => {
    const worth = worths.get(creditTypeId);
    if (worth === undefined) return [];
    return [
      { line: CONVERSION_LINE, creditTypeId, at, quantity: total, total: (total * BigInt(worth)) / 100n },
    ];
  });
}

/** The total of an invoice: lines in the currency, and conversions. */
export function totalOfShares(shares: readonly Share[], currency: string): bigint {
  return shares
    .filter(({ line, creditTypeId }) => line === CONVERSION_LINE || creditTypeId === currency)
    .reduce((sum, { total }) => sum + total, 0n);
}

/** Sums by line and window as sorted text, without those of nothing. */
export function summedShares(shares: readonly Share[], windowOf: (at: Instant) => Instant): string[] {
  const sums = new Map<string, { quantity: bigint; total: bigint }>();
  for (const { line, creditTypeId, at, quantity, total } of shares) {
    const key = `${line} ${creditTypeId} ${new Date(windowOf(at)).toISOString()}`;
    const before = sums.get(key) ?? { quantity: 0n, total: 0n };
    sums.set(key, { quantity: before.quantity + quantity, total: before.total + total });
  }
  return [...sums]
    .filter(([, { quantity, total }]) => quantity !== 0n || total !== 0n)
    .map(([key, { quantity, total }]) => `${key}: ${quantity} for ${total}`)
    .sort();
}
