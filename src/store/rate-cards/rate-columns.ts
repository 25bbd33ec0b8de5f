/** Maps the value of a rate to the columns of its row. */
import { z } from 'zod';
import { type Rate, TIERS_MODES, type Tier, type TiersMode, type UsageRate } from '../../core/catalogue.ts';
import { type Decimal, decimal } from '../../core/decimal.ts';
import { assert, unreachable } from '../../core/errors.ts';
import type { rates } from './rate-cards.tables.ts';

type RateRow = Pick<
  typeof rates.$inferSelect,
  'id' | 'rateType' | 'price' | 'tiers' | 'tiersMode' | 'minimum' | 'quantity' | 'isProrated'
>;

const tiersColumn = z.array(
  z.object({ size: z.string().nullable(), price: z.string() }).transform(
    (tier): Tier => ({
      size: tier.size === null ? null : decimal(tier.size),
      price: decimal(tier.price),
    }),
  ),
);

const usageRateColumn = z.discriminatedUnion('rate_type', [
  z
    .object({ rate_type: z.literal('FLAT'), price: z.string() })
    .transform((rate): UsageRate => ({ rateType: 'FLAT', price: decimal(rate.price) })),
  z
    .object({
      rate_type: z.literal('TIERED'),
      tiers: tiersColumn,
      tiers_mode: z.enum(TIERS_MODES).nullish(),
    })
    .transform((rate): UsageRate => ({ rateType: 'TIERED', tiers: rate.tiers, ...modeOf(rate.tiers_mode) })),
]);

/** The columns that hold a rate; those that its type does not use are null. */
export function rateToColumns(rate: Rate) {
  return {
    rateType: rate.rateType,
    price: 'price' in rate ? rate.price : null,
    tiers: 'tiers' in rate ? tiersToColumn(rate.tiers) : null,
    tiersMode: 'tiersMode' in rate ? (rate.tiersMode ?? null) : null,
    minimum: 'minimum' in rate ? rate.minimum : null,
    quantity: 'quantity' in rate ? rate.quantity : null,
    isProrated: 'isProrated' in rate ? rate.isProrated : null,
  };
}

export function rateFromColumns(row: RateRow): Rate {
  switch (row.rateType) {
    case 'FLAT':
      return { rateType: 'FLAT', price: priceOf(row) };
    case 'TIERED':
      return { rateType: 'TIERED', tiers: tiersColumn.parse(row.tiers), ...modeOf(row.tiersMode) };
    case 'PERCENTAGE':
      return { rateType: 'PERCENTAGE', price: priceOf(row), minimum: row.minimum };
    case 'TIERED_PERCENTAGE':
      return {
        rateType: 'TIERED_PERCENTAGE',
        tiers: tiersColumn.parse(row.tiers),
        minimum: row.minimum,
        ...modeOf(row.tiersMode),
      };
    case 'SUBSCRIPTION':
      return {
        rateType: 'SUBSCRIPTION',
        price: priceOf(row),
        quantity: row.quantity,
        isProrated: row.isProrated,
      };
    default:
      return unreachable(row.rateType);
  }
}

/** Decimals inside jsonb are text, so that no digit passes through a binary float. */
export function usageRateToColumn(rate: UsageRate | null): unknown {
  if (rate === null) return null;
  return rate.rateType === 'FLAT'
    ? { rate_type: rate.rateType, price: rate.price.toFixed() }
    : { rate_type: rate.rateType, tiers: tiersToColumn(rate.tiers), tiers_mode: rate.tiersMode };
}

export function usageRateFromColumn(column: unknown): UsageRate | null {
  return column === null ? null : usageRateColumn.parse(column);
}

function tiersToColumn(tiers: readonly Tier[]): { size: string | null; price: string }[] {
  return tiers.map(({ size, price }) => ({ size: size?.toFixed() ?? null, price: price.toFixed() }));
}

/** Graduated is the absence of a mode. */
function modeOf(stored: TiersMode | null | undefined): { readonly tiersMode?: TiersMode } {
  return stored === 'volume' ? { tiersMode: stored } : {};
}

function priceOf(row: RateRow): Decimal {
  assert(row.price !== null, `rate ${row.id} of type ${row.rateType} has a price`);
  return row.price;
}
