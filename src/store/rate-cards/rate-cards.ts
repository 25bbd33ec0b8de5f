/** Rate cards without their rates: header, conversions, alias assignments, and the products on a card. */
import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Decimal } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import { isUuid } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import { builtOnce } from '../base/built-once.ts';
import type { Database, Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { isInList, isOneOf, uuidList } from '../base/is-one-of.ts';
import { behind, keysetPage } from '../base/keyset.ts';
import { sentTogether } from '../base/sent-together.ts';
import { rateCardAliases, rateCardConversions, rateCardProducts, rateCards } from './rate-cards.tables.ts';

/** The assignment of an alias to a card, as it was submitted. */
export interface AliasAssignment {
  readonly name: string;
  readonly rateCardId: string;
  /** Null: from the beginning of time. */
  readonly startingAt: Instant | null;
  readonly endingBefore: Instant | null;
  /** Order of assignment over all cards; the later one takes the alias over. */
  readonly sequence: number;
  /**
   * Set when the card's aliases were replaced: the assignment is no longer in force, but assignments that it ended
   * stay ended.
   */
  readonly withdrawnAt: Instant | null;
}

export interface CreditTypeConversion {
  readonly customCreditTypeId: string;
  /** Amount of the card's currency, in its own denomination, for one custom unit. */
  readonly fiatPerCustomCredit: Decimal;
}

export interface RateCard {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly fiatCreditTypeId: string;
  readonly conversions: readonly CreditTypeConversion[];
  readonly createdAt: Instant;
  readonly createdBy: string;
  readonly archivedAt: Instant | null;
}

export type NewAlias = Omit<AliasAssignment, 'rateCardId' | 'sequence' | 'withdrawnAt'>;

/** Stores a rate card with its conversions and the assignments of its aliases. */
export async function insertRateCard(
  tx: Transaction,
  card: RateCard,
  aliases: readonly NewAlias[],
): Promise<void> {
  const { conversions, ...head } = card;
  await tx.insert(rateCards).values(head);
  await insertConversions(tx, card.id, conversions);
  await insertAliases(tx, card.id, aliases, card.createdAt);
}

/** Adds conversions of units that the card has none for yet. */
export async function insertConversions(
  tx: Transaction,
  rateCardId: string,
  conversions: readonly CreditTypeConversion[],
): Promise<void> {
  if (conversions.length === 0) return;
  await tx
    .insert(rateCardConversions)
    .values(conversions.map((conversion) => ({ ...conversion, rateCardId })));
}

/** Replaces the card's aliases; assignments that earlier ones ended stay ended. */
export async function replaceAliases(
  tx: Transaction,
  rateCardId: string,
  aliases: readonly NewAlias[],
  now: Instant,
): Promise<void> {
  await tx
    .update(rateCardAliases)
    .set({ withdrawnAt: now })
    .where(and(eq(rateCardAliases.rateCardId, rateCardId), isNull(rateCardAliases.withdrawnAt)));
  await insertAliases(tx, rateCardId, aliases, now);
}

async function insertAliases(
  tx: Transaction,
  rateCardId: string,
  aliases: readonly NewAlias[],
  createdAt: Instant,
): Promise<void> {
  if (aliases.length === 0) return;
  await tx.insert(rateCardAliases).values(aliases.map((alias) => ({ ...alias, rateCardId, createdAt })));
}

/** Changes the header of a card. */
export async function updateRateCard(
  tx: Transaction,
  id: string,
  changes: {
    readonly name?: string;
    readonly description?: string | null;
    readonly archivedAt?: Instant;
  },
): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  await tx.update(rateCards).set(changes).where(eq(rateCards.id, id));
}

/** The rate card, archived or not; null if the id is unknown or not a UUID. */
export async function findRateCard(db: Database | Transaction, id: string): Promise<RateCard | null> {
  return (await loadRateCards(db, isUuid(id) ? [id] : [])).get(id.toLowerCase()) ?? null;
}

/** The rate cards by id; unknown ids are absent. */
export async function loadRateCards(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, RateCard>> {
  if (ids.length === 0) return new Map();
  const [rows, conversions] = await sentTogether(
    () => cardsWithIds(db, { ids: uuidList(ids) }),
    () => loadConversions(db, ids),
  );
  return new Map(withConversions(rows, conversions).map((card) => [card.id, card]));
}

const cardsWithIds = builtOnce((db) =>
  db
    .select()
    .from(rateCards)
    .where(isInList(rateCards.id, sql.placeholder('ids')))
    .prepare(''),
);

/** Rate cards that are not archived. */
export async function listRateCards(db: Database | Transaction, page: PageRequest): Promise<Page<RateCard>> {
  const rows = await db
    .select()
    .from(rateCards)
    .where(and(isNull(rateCards.archivedAt), behind(rateCards, page.after)))
    .orderBy(asc(rateCards.createdAt), asc(rateCards.id))
    .limit(page.limit + 1);
  const conversions = await loadConversions(
    db,
    rows.map((row) => row.id),
  );
  return keysetPage(withConversions(rows, conversions), page.limit);
}

type ConversionRow = typeof rateCardConversions.$inferSelect;

async function loadConversions(db: Database | Transaction, ids: readonly string[]): Promise<ConversionRow[]> {
  if (ids.length === 0) return [];
  return conversionsOf(db, { ids: uuidList(ids) });
}

const conversionsOf = builtOnce((db) =>
  db
    .select()
    .from(rateCardConversions)
    .where(isInList(rateCardConversions.rateCardId, sql.placeholder('ids')))
    .orderBy(asc(rateCardConversions.customCreditTypeId))
    .prepare(''),
);

function withConversions(
  rows: readonly (typeof rateCards.$inferSelect)[],
  conversions: readonly ConversionRow[],
): RateCard[] {
  const byCard = groupBy(conversions, (row) => row.rateCardId);
  return rows.map((row) => ({
    ...row,
    conversions: (byCard.get(row.id) ?? []).map(({ customCreditTypeId, fiatPerCustomCredit }) => ({
      customCreditTypeId,
      fiatPerCustomCredit,
    })),
  }));
}

/** Every assignment of the aliases with these names, to any card, in the order of assignment. */
export async function loadAliasAssignments(
  db: Database | Transaction,
  names: readonly string[],
): Promise<AliasAssignment[]> {
  if (names.length === 0) return [];
  return db
    .select()
    .from(rateCardAliases)
    .where(inArray(rateCardAliases.name, [...names]))
    .orderBy(asc(rateCardAliases.sequence));
}

/** The names of all aliases that were ever assigned to these cards. */
export async function aliasNamesOfCards(
  db: Database | Transaction,
  rateCardIds: readonly string[],
): Promise<string[]> {
  if (rateCardIds.length === 0) return [];
  const rows = await db
    .selectDistinct({ name: rateCardAliases.name })
    .from(rateCardAliases)
    .where(inArray(rateCardAliases.rateCardId, [...rateCardIds]));
  return rows.map((row) => row.name);
}

export interface ProductUnit {
  readonly productId: string;
  readonly creditTypeId: string;
}

/** Locks a card until the transaction ends, which serializes changes of one card. */
export async function lockRateCard(tx: Transaction, id: string): Promise<RateCard | null> {
  const locked = await tx
    .select({ id: rateCards.id })
    .from(rateCards)
    .where(eq(rateCards.id, id))
    .for('no key update');
  return locked.length === 0 ? null : findRateCard(tx, id);
}

/**
 * Adds products to a locked card in the order given, and fixes the pricing unit of each; existing ones stay as they
 * are. Returns the unit that then holds for each product.
 */
export async function claimProductUnits(
  tx: Transaction,
  rateCardId: string,
  units: readonly ProductUnit[],
): Promise<Map<string, string>> {
  const known = await unitsOfProducts(
    tx,
    rateCardId,
    units.map(({ productId }) => productId),
  );
  const added = units.filter((unit) => !known.has(unit.productId));
  await insertRows(
    tx,
    rateCardProducts,
    added.map((unit) => ({ ...unit, rateCardId })),
  );
  for (const unit of added) known.set(unit.productId, unit.creditTypeId);
  return known;
}

/** The pricing units of those of the products that are on the card. */
export async function unitsOfProducts(
  tx: Transaction,
  rateCardId: string,
  productIds: readonly string[],
): Promise<Map<string, string>> {
  if (productIds.length === 0) return new Map();
  const rows = await tx
    .select({ productId: rateCardProducts.productId, creditTypeId: rateCardProducts.creditTypeId })
    .from(rateCardProducts)
    .where(and(eq(rateCardProducts.rateCardId, rateCardId), isOneOf(rateCardProducts.productId, productIds)));
  return new Map(rows.map((row) => [row.productId, row.creditTypeId]));
}

/** Sets the order of the products of a locked card; `productIds` are all that are on it. */
export async function setProductOrder(
  tx: Transaction,
  rateCardId: string,
  productIds: readonly string[],
): Promise<void> {
  if (productIds.length === 0) return;
  const places = productIds.map((productId, position) => ({ product_id: productId, position }));
  await tx.execute(sql`
    update ${rateCardProducts} set position = ordered.position
    from jsonb_to_recordset(${JSON.stringify(places)}::jsonb) as ordered(product_id uuid, position integer)
    where ${rateCardProducts.rateCardId} = ${rateCardId} and ${rateCardProducts.productId} = ordered.product_id`);
}

/**
 * The products of each card in the order in which invoices list them: those with a set position first, then the others
 * in the order in which they were added to the card. Cards without products are absent.
 */
export async function rateCardProductOrder(
  db: Database | Transaction,
  rateCardIds: readonly string[],
): Promise<Map<string, string[]>> {
  if (rateCardIds.length === 0) return new Map();
  const rows = await db
    .select({ rateCardId: rateCardProducts.rateCardId, productId: rateCardProducts.productId })
    .from(rateCardProducts)
    .where(inArray(rateCardProducts.rateCardId, [...rateCardIds]))
    .orderBy(
      asc(rateCardProducts.rateCardId),
      sql`${rateCardProducts.position} asc nulls last`,
      asc(rateCardProducts.sequence),
    );
  const order = new Map<string, string[]>();
  for (const [id, products] of groupBy(rows, (row) => row.rateCardId)) {
    order.set(
      id,
      products.map((row) => row.productId),
    );
  }
  return order;
}

/** The cards with the product. */
export async function rateCardsOfProduct(db: Database | Transaction, productId: string): Promise<string[]> {
  const rows = await db
    .select({ rateCardId: rateCardProducts.rateCardId })
    .from(rateCardProducts)
    .where(eq(rateCardProducts.productId, productId));
  return rows.map(({ rateCardId }) => rateCardId);
}
