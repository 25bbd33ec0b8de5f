/** The catalogue of AI models: prices and other ids of models, and the metrics that count tokens. */
import { and, asc, inArray, type SQL, sql } from 'drizzle-orm';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { PricedModel, TokenKind, TokenPrice } from '../../core/token-billing.ts';
import type { Database, Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { LOCKS } from '../base/lock-numbers.ts';
import { tokenMetrics, tokenModelAliases, tokenPrices } from './token-billing.tables.ts';

/** A price with the instant at which it was added to the catalogue. */
export interface StoredTokenPrice extends TokenPrice {
  readonly recordedAt: Instant;
}

export interface StoredModel extends PricedModel {
  /** By `validFrom`. */
  readonly prices: readonly StoredTokenPrice[];
}

export interface NewTokenPrice extends StoredTokenPrice {
  readonly provider: string;
  readonly model: string;
}

export interface ModelAlias {
  readonly provider: string;
  readonly alias: string;
  readonly model: string;
}

/** Serializes changes of the catalogue and of managed cards until the transaction ends. */
export async function lockTokenCatalogue(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.tokenCatalogue})`);
}

/** Identifies a model of a provider in maps. */
export function modelKey({ provider, model }: Pick<PricedModel, 'provider' | 'model'>): string {
  return JSON.stringify([provider, model]);
}

/** Models by provider and id, by `modelKey`. `providers` null: all. */
export async function loadTokenModels(
  db: Database | Transaction,
  providers: readonly string[] | null = null,
): Promise<Map<string, StoredModel>> {
  if (providers?.length === 0) return new Map();
  const of = (column: typeof tokenPrices.provider | typeof tokenModelAliases.provider) =>
    providers === null ? undefined : inArray(column, [...providers]);
  const rows = await pricesWhere(db, of(tokenPrices.provider));
  const aliasRows = await db
    .select()
    .from(tokenModelAliases)
    .where(of(tokenModelAliases.provider))
    .orderBy(asc(tokenModelAliases.alias));
  const models = new Map<string, StoredModel & { prices: StoredTokenPrice[]; aliases: string[] }>();
  for (const { provider, model, ...price } of rows) {
    const key = modelKey({ provider, model });
    const own = models.get(key);
    if (own === undefined) models.set(key, { provider, model, aliases: [], prices: [price] });
    else own.prices.push(price);
  }
  for (const row of aliasRows) models.get(modelKey(row))?.aliases.push(row.alias);
  return models;
}

/** Other requests are served between two reads of this many rows. */
const ROWS_PER_READ = 5_000;

/** Prices by provider and model, those of a model by time. */
async function pricesWhere(
  db: Database | Transaction,
  condition: SQL | undefined,
): Promise<(typeof tokenPrices.$inferSelect)[]> {
  const { provider, model, validFrom, kind } = tokenPrices;
  const all: (typeof tokenPrices.$inferSelect)[] = [];
  let after: SQL | undefined;
  for (;;) {
    const rows = await db
      .select()
      .from(tokenPrices)
      .where(and(condition, after))
      .orderBy(asc(provider), asc(model), asc(validFrom), asc(kind))
      .limit(ROWS_PER_READ);
    for (const row of rows) all.push(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_PER_READ) return all;
    after = sql`(${provider}, ${model}, ${validFrom}, ${kind}) >
      (${last.provider}, ${last.model}, ${formatInstant(last.validFrom)}::timestamptz, ${last.kind})`;
  }
}

/** Adds prices that the catalogue does not have. */
export async function insertTokenPrices(tx: Transaction, prices: readonly NewTokenPrice[]): Promise<void> {
  await insertRows(tx, tokenPrices, prices);
}

/** Adds aliases that the catalogue does not have. */
export async function insertModelAliases(tx: Transaction, aliases: readonly ModelAlias[]): Promise<void> {
  await insertRows(tx, tokenModelAliases, aliases);
}

/** Whether the catalogue has any price. */
export async function hasTokenPrices(db: Database | Transaction): Promise<boolean> {
  const rows = await db.select({ model: tokenPrices.model }).from(tokenPrices).limit(1);
  return rows.length > 0;
}

/** The metrics that managed cards use, by kind of tokens. */
export async function loadTokenMetrics(db: Database | Transaction): Promise<Map<TokenKind, string>> {
  const rows = await db.select().from(tokenMetrics);
  return new Map(rows.map(({ kind, billableMetricId }) => [kind, billableMetricId]));
}

export async function insertTokenMetric(
  tx: Transaction,
  kind: TokenKind,
  billableMetricId: string,
): Promise<void> {
  await tx.insert(tokenMetrics).values({ kind, billableMetricId });
}
