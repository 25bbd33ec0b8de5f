/**
 * Sums the charges of each product in each hour. Lines may be added in parts, so that an invoice whose lines do not fit
 * into memory can be rated in slices.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { Interval } from '../../core/time.ts';
import type { UsageLine } from '../lines/types.ts';

/** The fields of a line that composites count: a line of a usage product, or a charge of a subscription. */
export type SpentLine = Pick<UsageLine, 'productId' | 'creditTypeId' | 'total' | 'windows'>;

/** The charges of one product in one pricing unit. */
export interface ProductSpend {
  readonly productId: string;
  readonly creditTypeId: string;
  readonly total: Decimal;
  /** In no particular order; the totals add up to `total`. */
  readonly windows: readonly { readonly window: Interval; readonly total: Decimal }[];
}

export interface SpendCollector {
  /** Lines with hourly windows. */
  add(lines: readonly SpentLine[]): void;
  /** The spend of the products that `counts` accepts. */
  spends(counts: (productId: string) => boolean): ProductSpend[];
}

interface Collected extends Omit<ProductSpend, 'total' | 'windows'> {
  total: Decimal;
  readonly hours: Map<number, { readonly window: Interval; total: Decimal }>;
}

export function createSpendCollector(): SpendCollector {
  const collected = new Map<string, Collected>();
  const spendOf = ({ productId, creditTypeId }: SpentLine): Collected => {
    const key = `${productId} ${creditTypeId}`;
    const known = collected.get(key);
    if (known !== undefined) return known;
    const own: Collected = { productId, creditTypeId, total: ZERO, hours: new Map() };
    collected.set(key, own);
    return own;
  };
  return {
    add(lines) {
      for (const line of lines) {
        const own = spendOf(line);
        own.total = own.total.plus(line.total);
        for (const { window, total } of line.windows) {
          const hour = own.hours.get(window.start);
          if (hour === undefined) own.hours.set(window.start, { window, total });
          else hour.total = hour.total.plus(total);
        }
      }
    },
    spends: (counts) =>
      [...collected.values()]
        .filter(({ productId }) => counts(productId))
        .map(({ hours, ...rest }) => ({ ...rest, windows: [...hours.values()] })),
  };
}
