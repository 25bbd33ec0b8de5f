/** Rates as they were added. What is in force at an instant is derived by rating/rate-schedule.ts. */
import { and, asc, eq, inArray } from 'drizzle-orm';
import { z } from 'zod';
import type { Rate, RateEntry, Tier } from '../core/catalogue.ts';
import { decimal } from '../core/decimal.ts';
import { assert } from '../core/errors.ts';
import type { Instant } from '../core/time.ts';
import type { Database, Transaction } from './database.ts';
import { rates } from './schema/rate-cards.ts';

export const BILLING_FREQUENCIES = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'] as const;
export type BillingFrequency = (typeof BILLING_FREQUENCIES)[number];

/** An added rate with everything that is kept about it. `sequence` is given by the database. */
export interface StoredRateEntry extends RateEntry {
  /** Set for rates of SUBSCRIPTION products only. */
  readonly billingFrequency: BillingFrequency | null;
  /** The second price, for usage that draws on a commit or credit with commit rates. */
  readonly commitRate: Rate | null;
  readonly createdAt: Instant;
  readonly createdBy: string;
}

export type NewRateEntry = Omit<StoredRateEntry, 'sequence'>;

/** 15 columns a row: far below PostgreSQL's limit of 65,535 parameters. */
const RATES_PER_INSERT = 1_000;

/** Adds rates in their order. The products must be on the card (`claimProductUnits`). */
export async function insertRates(tx: Transaction, entries: readonly NewRateEntry[]): Promise<void> {
  for (let from = 0; from < entries.length; from += RATES_PER_INSERT) {
    await tx.insert(rates).values(entries.slice(from, from + RATES_PER_INSERT).map(toRow));
  }
}

/** All rates of the cards, in the order in which they were added to each. Cards without rates are absent. */
export async function loadRateEntries(
  db: Database | Transaction,
  rateCardIds: readonly string[],
  productIds?: readonly string[],
): Promise<Map<string, StoredRateEntry[]>> {
  if (rateCardIds.length === 0 || productIds?.length === 0) return new Map();
  const rows = await db
    .select()
    .from(rates)
    .where(
      and(
        rateCardIds.length === 1
          ? eq(rates.rateCardId, rateCardIds[0] ?? '')
          : inArray(rates.rateCardId, [...rateCardIds]),
        productIds === undefined ? undefined : inArray(rates.productId, [...productIds]),
      ),
    )
    .orderBy(asc(rates.sequence));
  const byCard = new Map<string, StoredRateEntry[]>();
  for (const row of rows) {
    const entries = byCard.get(row.rateCardId) ?? [];
    entries.push(fromRow(row));
    byCard.set(row.rateCardId, entries);
  }
  return byCard;
}

const pricingGroupValuesColumn = z.record(z.string(), z.string());

const tiersColumn = z.array(
  z.object({ size: z.string().nullable(), price: z.string() }).transform(
    (tier): Tier => ({
      size: tier.size === null ? null : decimal(tier.size),
      price: decimal(tier.price),
    }),
  ),
);

const commitRateColumn = z.discriminatedUnion('rate_type', [
  z
    .object({ rate_type: z.literal('FLAT'), price: z.string() })
    .transform((rate): Rate => ({ rateType: 'FLAT', price: decimal(rate.price) })),
  z
    .object({ rate_type: z.literal('TIERED'), tiers: tiersColumn })
    .transform((rate): Rate => ({ rateType: 'TIERED', tiers: rate.tiers })),
]);

function toRow(entry: NewRateEntry): typeof rates.$inferInsert {
  const { rate, commitRate, ...rest } = entry;
  return {
    ...rest,
    rateType: rate.rateType,
    price: rate.rateType === 'FLAT' ? rate.price : null,
    tiers: rate.rateType === 'TIERED' ? tiersToColumn(rate.tiers) : null,
    commitRate: commitRate === null ? null : commitRateToColumn(commitRate),
  };
}

/** Decimals inside jsonb are text, so that no digit passes through a binary float. */
function tiersToColumn(tiers: readonly Tier[]): { size: string | null; price: string }[] {
  return tiers.map(({ size, price }) => ({ size: size?.toFixed() ?? null, price: price.toFixed() }));
}

function commitRateToColumn(rate: Rate): unknown {
  return rate.rateType === 'FLAT'
    ? { rate_type: rate.rateType, price: rate.price.toFixed() }
    : { rate_type: rate.rateType, tiers: tiersToColumn(rate.tiers) };
}

function fromRow(row: typeof rates.$inferSelect): StoredRateEntry {
  return {
    id: row.id,
    rateCardId: row.rateCardId,
    productId: row.productId,
    pricingGroupValues: pricingGroupValuesColumn.parse(row.pricingGroupValues),
    billingFrequency: row.billingFrequency,
    startingAt: row.startingAt,
    endingBefore: row.endingBefore,
    entitled: row.entitled,
    rate: rateFromRow(row),
    commitRate: row.commitRate === null ? null : commitRateColumn.parse(row.commitRate),
    creditTypeId: row.creditTypeId,
    sequence: row.sequence,
    createdAt: row.createdAt,
    createdBy: row.createdBy,
  };
}

function rateFromRow(row: typeof rates.$inferSelect): Rate {
  if (row.rateType === 'TIERED') return { rateType: 'TIERED', tiers: tiersColumn.parse(row.tiers) };
  assert(
    row.rateType === 'FLAT' && row.price !== null,
    `rate ${row.id} of type ${row.rateType} has no price`,
  );
  return { rateType: 'FLAT', price: row.price };
}
