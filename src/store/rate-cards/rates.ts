/** Rates as they were added, and their identities. rating/rates/rate-schedule.ts derives which one is in force. */
import { and, asc, eq, gt, gte, inArray, not, or, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { BillingFrequency, RateEntry, RateIdentity } from '../../core/catalogue.ts';
import { assert } from '../../core/errors.ts';
import { derivedId } from '../../core/ids.ts';
import { eachInChunks, mapInChunks } from '../../core/in-chunks.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { rateIdentities, rates } from './rate-cards.tables.ts';
import { rateFromColumns, rateToColumns, usageRateFromColumn, usageRateToColumn } from './rate-columns.ts';

/** An added rate with all stored attributes. `sequence` is assigned by the database. */
export interface StoredRateEntry extends RateEntry {
  readonly createdAt: Instant;
  readonly createdBy: string;
}

export type NewRateEntry = Omit<StoredRateEntry, 'sequence'>;

/** An identity on a card. `sequence` is its place in lists: the order in which identities were added to cards. */
export interface StoredRateIdentity extends RateIdentity {
  readonly sequence: number;
}

/** An identity and all rates that were ever added for it, in order of addition. */
export interface RatesOfIdentity {
  readonly identity: StoredRateIdentity;
  readonly entries: readonly StoredRateEntry[];
}

/** The search conditions; all given ones must hold. */
export interface RateSelection {
  readonly productIds?: readonly string[];
  readonly billingFrequency?: BillingFrequency;
  /** Exactly these pairs. */
  readonly pricingGroupValues?: Readonly<Record<string, string>>;
  /** At least these pairs. */
  readonly partialPricingGroupValues?: Readonly<Record<string, string>>;
}

/** Adds rates in their order to one locked card. The products must be on it (`claimProductUnits`). */
export async function insertRates(tx: Transaction, entries: readonly NewRateEntry[]): Promise<void> {
  const [first] = entries;
  if (first === undefined) return;
  assert(
    entries.every(({ rateCardId }) => rateCardId === first.rateCardId),
    'rates are added to one card at a time',
  );
  const keyed = await mapInChunks(entries, (entry) => ({ entry, key: rateIdentityKey(entry) }));
  const identities = await claimIdentities(tx, first.rateCardId, keyed);
  const rows = await mapInChunks(keyed, ({ entry, key }) => toRow(entry, identities.get(key) ?? 0));
  await insertRows(tx, rates, rows);
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
    .innerJoin(rateIdentities, eq(rates.identity, rateIdentities.sequence))
    .where(
      and(
        rateCardIds.length === 1
          ? eq(rateIdentities.rateCardId, rateCardIds[0] ?? '')
          : inArray(rateIdentities.rateCardId, [...rateCardIds]),
        productIds === undefined ? undefined : isOneOf(rateIdentities.productId, productIds),
      ),
    )
    .orderBy(asc(rates.sequence));
  const byCard = new Map<string, StoredRateEntry[]>();
  for (const row of rows) {
    const { rateCardId } = row.rate_identities;
    const entries = byCard.get(rateCardId) ?? [];
    entries.push(fromRow(row.rates, row.rate_identities));
    byCard.set(rateCardId, entries);
  }
  return byCard;
}

/** Rates read by one statement: other work of the process waits while their rows are read. */
const RATES_PER_PART = 1_000;

/** The rates of a card with very many, part by part: by identity, each in the order of addition. */
export async function* loadRatesInParts(
  db: Database | Transaction,
  rateCardId: string,
): AsyncGenerator<readonly RateEntry[], void, undefined> {
  for (let after = 0; ; ) {
    const identities = await db
      .select()
      .from(rateIdentities)
      .where(and(eq(rateIdentities.rateCardId, rateCardId), gt(rateIdentities.sequence, after)))
      .orderBy(asc(rateIdentities.sequence))
      .limit(RATES_PER_PART);
    const found = await withEntries(db, identities);
    yield found.flatMap(({ entries }) => entries);
    if (identities.length < RATES_PER_PART) return;
    after = identities.at(-1)?.sequence ?? after;
  }
}

/** Identities of all cards after one, at most `limit`, with all their rates. */
export async function listRatesOfCards(
  db: Database | Transaction,
  after: number,
  limit: number,
): Promise<RatesOfIdentity[]> {
  const identities = await db
    .select()
    .from(rateIdentities)
    .where(gt(rateIdentities.sequence, after))
    .orderBy(asc(rateIdentities.sequence))
    .limit(limit);
  return withEntries(db, identities);
}

/** The rates of a card added after another one, in the order of addition; at most `limit`. */
export async function loadRatesAfter(
  db: Database | Transaction,
  rateCardId: string,
  after: number,
  limit: number,
): Promise<RateEntry[]> {
  const rows = await db
    .select()
    .from(rates)
    .innerJoin(rateIdentities, eq(rates.identity, rateIdentities.sequence))
    .where(and(gt(rates.sequence, after), eq(rateIdentities.rateCardId, rateCardId)))
    .orderBy(asc(rates.sequence))
    .limit(limit);
  return rows.map((row) => fromRow(row.rates, row.rate_identities));
}

export interface RateIdentityQuery {
  readonly rateCardId: string;
  /** Identities that match one of these; null: all. */
  readonly anyOf: readonly RateSelection[] | null;
  /** Identities of these products, and those with a rate that is entitled at some time; null: all. */
  readonly entitledOrOf: readonly string[] | null;
  /** The first place to read. */
  readonly fromSequence: number;
  readonly limit: number;
}

/** The identities of a card that match, in their order, each with all its rates in order of addition. */
export async function loadRatesByIdentity(
  db: Database | Transaction,
  query: RateIdentityQuery,
): Promise<RatesOfIdentity[]> {
  const identities = await db
    .select()
    .from(rateIdentities)
    .where(
      and(
        eq(rateIdentities.rateCardId, query.rateCardId),
        gte(rateIdentities.sequence, query.fromSequence),
        query.anyOf === null ? undefined : (or(...query.anyOf.map(selectionCondition)) ?? sql`false`),
        query.entitledOrOf === null ? undefined : entitledCondition(query.entitledOrOf),
      ),
    )
    .orderBy(asc(rateIdentities.sequence))
    .limit(query.limit);
  return await withEntries(db, identities);
}

/**
 * The subset of the identities that the card has, each with all its rates in order of addition, by `rateIdentityKey`.
 */
export async function loadRatesOfIdentities(
  db: Database | Transaction,
  rateCardId: string,
  wanted: readonly RateIdentity[],
): Promise<Map<string, readonly StoredRateEntry[]>> {
  if (wanted.length === 0) return new Map();
  const keys = [...new Set(wanted.map(rateIdentityKey))];
  const identities = await db
    .select()
    .from(rateIdentities)
    .where(and(eq(rateIdentities.rateCardId, rateCardId), inArray(rateIdentities.key, keys)));
  const found = await withEntries(db, identities);
  return new Map(found.map(({ identity, entries }) => [rateIdentityKey(identity), entries]));
}

/** In the order of `identities`. */
async function withEntries(
  db: Database | Transaction,
  identities: readonly (typeof rateIdentities.$inferSelect)[],
): Promise<RatesOfIdentity[]> {
  if (identities.length === 0) return [];
  const found = identities.map((row) => {
    const entries: StoredRateEntry[] = [];
    return { row, identity: identityFromRow(row), entries };
  });
  const bySequence = new Map(found.map((one) => [one.row.sequence, one]));
  const rows = await db
    .select()
    .from(rates)
    .where(sql`${rates.identity} = any(${`{${[...bySequence.keys()].join(',')}}`}::bigint[])`)
    .orderBy(asc(rates.sequence));
  for (const row of rows) {
    const one = bySequence.get(row.identity);
    one?.entries.push(fromRow(row, one.row));
  }
  return found;
}

function entitledCondition(productIds: readonly string[]): SQL | undefined {
  return or(
    rateIdentities.everEntitled,
    productIds.length === 0 ? undefined : isOneOf(rateIdentities.productId, productIds),
  );
}

function selectionCondition(selection: RateSelection): SQL {
  const { productIds, billingFrequency, pricingGroupValues, partialPricingGroupValues } = selection;
  const { pricingGroupValues: column } = rateIdentities;
  const jsonb = (values: Readonly<Record<string, string>>) => sql`${JSON.stringify(values)}::jsonb`;
  return (
    and(
      productIds === undefined
        ? undefined
        : productIds.length === 0
          ? sql`false`
          : isOneOf(rateIdentities.productId, productIds),
      billingFrequency === undefined ? undefined : eq(rateIdentities.billingFrequency, billingFrequency),
      pricingGroupValues === undefined ? undefined : sql`${column} = ${jsonb(pricingGroupValues)}`,
      partialPricingGroupValues === undefined
        ? undefined
        : sql`${column} @> ${jsonb(partialPricingGroupValues)}`,
    ) ?? sql`true`
  );
}

/** The same product, group values (in any order) and frequency always give the same key. */
export function rateIdentityKey({ productId, pricingGroupValues, billingFrequency }: RateIdentity): string {
  const pairs = Object.entries(pricingGroupValues).sort(([a], [b]) => (a < b ? -1 : 1));
  return derivedId('rate-identity', productId, billingFrequency ?? '', ...pairs.flat());
}

interface KeyedEntry {
  readonly entry: NewRateEntry;
  /** The key of its identity. */
  readonly key: string;
}

/** The places of the identities of the entries, by key; new ones are added after all others, in order. */
async function claimIdentities(
  tx: Transaction,
  rateCardId: string,
  entries: readonly KeyedEntry[],
): Promise<ReadonlyMap<string, number>> {
  const wanted = new Map<string, NewRateEntry>();
  const entitled = new Set<string>();
  await eachInChunks(entries, ({ key, entry }) => {
    wanted.set(key, entry);
    if (entry.entitled) entitled.add(key);
  });
  const known = new Map<string, number>();
  const remember = (rows: readonly { key: string; sequence: number }[]): Promise<void> =>
    eachInChunks(rows, ({ key, sequence }) => known.set(key, sequence));
  const columns = { key: rateIdentities.key, sequence: rateIdentities.sequence };
  const keys = [...wanted.keys()];
  for (let from = 0; from < keys.length; from += RATES_PER_PART) {
    const part = keys.slice(from, from + RATES_PER_PART);
    await remember(
      await tx
        .select(columns)
        .from(rateIdentities)
        .where(and(eq(rateIdentities.rateCardId, rateCardId), isOneOf(rateIdentities.key, part))),
    );
  }
  const nowEntitled: number[] = [];
  const added: (typeof rateIdentities.$inferInsert)[] = [];
  await eachInChunks(wanted, ([key, { productId, pricingGroupValues, billingFrequency }]) => {
    const everEntitled = entitled.has(key);
    const sequence = known.get(key);
    if (sequence === undefined) {
      added.push({ rateCardId, productId, pricingGroupValues, billingFrequency, key, everEntitled });
    } else if (everEntitled) nowEntitled.push(sequence);
  });
  if (nowEntitled.length > 0) {
    await tx
      .update(rateIdentities)
      .set({ everEntitled: true })
      .where(
        and(
          sql`${rateIdentities.sequence} = any(${`{${nowEntitled.join(',')}}`}::bigint[])`,
          not(rateIdentities.everEntitled),
        ),
      );
  }
  const placed = await insertRows<typeof rateIdentities, { key: string; sequence: string }>(
    tx,
    rateIdentities,
    added,
    sql`returning key, sequence`,
  );
  await remember(placed.map(({ key, sequence }) => ({ key, sequence: Number(sequence) })));
  return known;
}

const pricingGroupValuesColumn = z.record(z.string(), z.string());

function identityFromRow(row: typeof rateIdentities.$inferSelect): StoredRateIdentity {
  return {
    sequence: row.sequence,
    productId: row.productId,
    pricingGroupValues: pricingGroupValuesColumn.parse(row.pricingGroupValues),
    billingFrequency: row.billingFrequency,
  };
}

function toRow(entry: NewRateEntry, identity: number): typeof rates.$inferInsert {
  return {
    id: entry.id,
    identity,
    startingAt: entry.startingAt,
    endingBefore: entry.endingBefore,
    entitled: entry.entitled,
    ...rateToColumns(entry.rate),
    commitRate: usageRateToColumn(entry.commitRate),
    creditTypeId: entry.creditTypeId,
    createdAt: entry.createdAt,
    createdBy: entry.createdBy,
  };
}

function fromRow(
  row: typeof rates.$inferSelect,
  identity: typeof rateIdentities.$inferSelect,
): StoredRateEntry {
  return {
    id: row.id,
    rateCardId: identity.rateCardId,
    productId: identity.productId,
    pricingGroupValues: pricingGroupValuesColumn.parse(identity.pricingGroupValues),
    billingFrequency: identity.billingFrequency,
    startingAt: row.startingAt,
    endingBefore: row.endingBefore,
    entitled: row.entitled,
    rate: rateFromColumns(row),
    commitRate: usageRateFromColumn(row.commitRate),
    creditTypeId: row.creditTypeId,
    sequence: row.sequence,
    createdAt: row.createdAt,
    createdBy: row.createdBy,
  };
}
