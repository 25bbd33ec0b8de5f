/** Rate cards that the service manages by the catalogue of AI models, and their charges. */
import { and, asc, eq, gte, inArray, type SQL, sql } from 'drizzle-orm';
import type { Decimal } from '../../core/decimal.ts';
import { isUuid } from '../../core/ids.ts';
import type { Instant } from '../../core/time.ts';
import type { RepriceMode, TokenKind } from '../../core/token-billing.ts';
import type { Database, Transaction } from '../base/database.ts';
import { insertRows, rowsAsJson } from '../base/insert-rows.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { contracts } from '../contracts/contracts.tables.ts';
import { managedModels, managedRateCards } from './token-billing.tables.ts';

export interface ManagedCard {
  readonly rateCardId: string;
  /** A fraction; null: later models are not added. */
  readonly defaultMarkup: Decimal | null;
  /** Null: US cents. */
  readonly customCreditTypeId: string | null;
  readonly reprice: RepriceMode;
  readonly syncedAt: Instant;
}

/** One kind of tokens of a model on a managed card. */
export interface ManagedModel {
  readonly rateCardId: string;
  readonly provider: string;
  readonly model: string;
  readonly kind: TokenKind;
  readonly productId: string;
  readonly markup: Decimal;
  readonly usdPerToken: Decimal;
  readonly validFrom: Instant;
  /** When the current rate starts. */
  readonly ratesFrom: Instant;
  readonly names: readonly string[];
  readonly isRemoved: boolean;
}

/** Other requests are served between two reads of this many rows. */
const ROWS_PER_READ = 5_000;

export async function insertManagedCard(tx: Transaction, card: ManagedCard): Promise<void> {
  await tx.insert(managedRateCards).values(card);
}

export async function updateManagedCard(tx: Transaction, card: ManagedCard): Promise<void> {
  const { rateCardId, ...values } = card;
  await tx.update(managedRateCards).set(values).where(eq(managedRateCards.rateCardId, rateCardId));
}

/** The managed card; null if the id does not name one. */
export async function findManagedCard(
  db: Database | Transaction,
  rateCardId: string,
): Promise<ManagedCard | null> {
  if (!isUuid(rateCardId)) return null;
  const rows = await db.select().from(managedRateCards).where(eq(managedRateCards.rateCardId, rateCardId));
  return rows[0] ?? null;
}

/** All managed cards, in a fixed order. */
export async function loadManagedCards(db: Database | Transaction): Promise<ManagedCard[]> {
  return db.select().from(managedRateCards).orderBy(asc(managedRateCards.rateCardId));
}

/** The charges of the cards, removed models included. */
export async function loadManagedModels(
  db: Database | Transaction,
  rateCardIds: readonly string[],
): Promise<ManagedModel[]> {
  if (rateCardIds.length === 0) return [];
  const { provider, model, kind, rateCardId } = managedModels;
  const all: ManagedModel[] = [];
  let after: SQL | undefined;
  for (;;) {
    const rows = await db
      .select()
      .from(managedModels)
      .where(and(isOneOf(rateCardId, rateCardIds), after))
      .orderBy(asc(provider), asc(model), asc(kind), asc(rateCardId))
      .limit(ROWS_PER_READ);
    for (const row of rows) all.push(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_PER_READ) return all;
    after = sql`(${provider}, ${model}, ${kind}, ${rateCardId}) >
      (${last.provider}, ${last.model}, ${last.kind}, ${last.rateCardId}::uuid)`;
  }
}

/** The charges of these products; other products are absent. */
export async function loadModelsOfProducts(
  db: Database | Transaction,
  productIds: readonly string[],
): Promise<ManagedModel[]> {
  if (productIds.length === 0) return [];
  return db
    .select()
    .from(managedModels)
    .where(inArray(managedModels.productId, [...productIds]));
}

/**
 * The first two customers with a contract on a managed card, by id, starting at `from`. `customerId` null: any
 * customer.
 */
export async function customersOnManagedCards(
  db: Database | Transaction,
  customerId: string | null,
  from: string | null,
): Promise<string[]> {
  const rows = await db
    .selectDistinct({ customerId: contracts.customerId })
    .from(contracts)
    .innerJoin(managedRateCards, eq(managedRateCards.rateCardId, contracts.rateCardId))
    .where(
      and(
        customerId === null ? undefined : eq(contracts.customerId, customerId),
        from === null ? undefined : gte(contracts.customerId, from),
      ),
    )
    .orderBy(asc(contracts.customerId))
    .limit(2);
  return rows.map((row) => row.customerId);
}

export async function insertManagedModels(tx: Transaction, models: readonly ManagedModel[]): Promise<void> {
  await insertRows(
    tx,
    managedModels,
    models.map((row) => ({ ...row, names: [...row.names] })),
  );
}

/** Writes the current rate of models that the card has. */
export async function updateManagedModels(tx: Transaction, models: readonly ManagedModel[]): Promise<void> {
  const rows = models.map((row) => ({ ...row, names: [...row.names] }));
  for (const part of rowsAsJson(managedModels, rows)) {
    await tx.execute(sql`
      update ${managedModels} m set
        product_id = n.product_id, markup = n.markup, usd_per_token = n.usd_per_token,
        valid_from = n.valid_from, rates_from = n.rates_from, names = n.names, is_removed = n.is_removed
      from json_populate_recordset(null::${managedModels}, ${part}::json) n
      where (m.rate_card_id, m.provider, m.model, m.kind) = (n.rate_card_id, n.provider, n.model, n.kind)`);
  }
}
