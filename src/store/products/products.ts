/** Products, their initial state and their updates. */
import { and, arrayOverlaps, asc, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Product } from '../../core/catalogue.ts';
import { assert } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import { isUuid } from '../../core/ids.ts';
import { mapInChunks } from '../../core/in-chunks.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { behind, keysetPage } from '../base/keyset.ts';
import { LOCKS } from '../base/lock-numbers.ts';
import {
  type ProductTerms,
  type ProductUpdate,
  pickTerms,
  type StoredProductVersion,
  versionsOf,
} from './product-versions.ts';
import { products, productVersions } from './products.tables.ts';

export interface StoredProduct extends Product {
  readonly versions: readonly StoredProductVersion[];
  /** By start, and in order of addition for equal starts. */
  readonly updates: readonly ProductUpdate[];
  readonly createdAt: Instant;
}

/** Stores new products in their initial state. */
export async function insertProducts(tx: Transaction, added: readonly StoredProduct[]): Promise<void> {
  assert(
    added.every(({ updates }) => updates.length === 0),
    'a new product has no updates',
  );
  await insertRows(
    tx,
    products,
    added.map(({ versions, updates, ...head }) => head),
  );
  await insertRows(
    tx,
    productVersions,
    added.flatMap(({ id, versions }) =>
      versions.map((version) => ({
        ...termsToColumns(version),
        ...madeOf(version),
        startingAt: version.startingAt,
        productId: id,
      })),
    ),
  );
}

/** Adds an update to a locked product. */
export async function insertProductUpdate(
  tx: Transaction,
  product: StoredProduct,
  update: ProductUpdate,
): Promise<void> {
  const [initial] = product.versions;
  assert(initial !== undefined, `product ${product.id} has an initial version`);
  const { changes, ...made } = update;
  await tx.insert(productVersions).values({
    ...termsToColumns({ ...initial, ...changes }),
    ...made,
    productId: product.id,
    changed: Object.keys(changes),
  });
}

export async function archiveProduct(tx: Transaction, id: string, now: Instant): Promise<void> {
  await tx.update(products).set({ archivedAt: now }).where(eq(products.id, id));
}

/** Locks a product until the transaction ends, so that changes of one product follow one another. */
export async function lockProduct(tx: Transaction, id: string): Promise<StoredProduct | null> {
  const locked = await tx
    .select({ id: products.id })
    .from(products)
    .where(eq(products.id, id))
    .for('no key update');
  return locked.length === 0 ? null : findProduct(tx, id);
}

/** Serializes changes of composite products, because two concurrent changes could create a cycle. */
export async function lockComposites(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.composites})`);
}

/** Every composite product, archived ones too: those may still be on rate cards. */
export async function loadComposites(db: Database | Transaction): Promise<StoredProduct[]> {
  return withVersions(db, await db.select().from(products).where(eq(products.type, 'COMPOSITE')));
}

/** The products that are not archived and have one of the tags in some version. */
export async function loadTaggedProducts(
  db: Database | Transaction,
  tags: readonly string[],
): Promise<StoredProduct[]> {
  if (tags.length === 0) return [];
  const tagged = db
    .select({ id: productVersions.productId })
    .from(productVersions)
    .where(arrayOverlaps(productVersions.tags, [...tags]));
  const rows = await db
    .select()
    .from(products)
    .where(and(isNull(products.archivedAt), inArray(products.id, tagged)));
  return withVersions(db, rows);
}

/** The product, archived or not; null if the id is unknown or not a UUID. */
export async function findProduct(db: Database | Transaction, id: string): Promise<StoredProduct | null> {
  return (await loadProducts(db, isUuid(id) ? [id] : [])).get(id.toLowerCase()) ?? null;
}

/** Products read by one statement: other work of the process waits while their rows are read. */
const PRODUCTS_PER_PART = 500;

/** The products by id, each with all its versions; unknown ids are absent. */
export async function loadProducts(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, StoredProduct>> {
  const found = new Map<string, StoredProduct>();
  for (let from = 0; from < ids.length; from += PRODUCTS_PER_PART) {
    const part = ids.slice(from, from + PRODUCTS_PER_PART);
    const rows = await db.select().from(products).where(isOneOf(products.id, part));
    for (const product of await withVersions(db, rows)) found.set(product.id, product);
  }
  return found;
}

export type ArchiveFilter = 'ARCHIVED' | 'NOT_ARCHIVED' | 'ALL';

export async function listProducts(
  db: Database | Transaction,
  filter: ArchiveFilter,
  page: PageRequest,
): Promise<Page<StoredProduct>> {
  const archived = { ARCHIVED: isNotNull, NOT_ARCHIVED: isNull, ALL: () => undefined }[filter];
  const rows = await db
    .select()
    .from(products)
    .where(and(archived(products.archivedAt), behind(products, page.after)))
    .orderBy(asc(products.createdAt), asc(products.id))
    .limit(page.limit + 1);
  return keysetPage(await withVersions(db, rows), page.limit);
}

async function withVersions(
  db: Database | Transaction,
  rows: readonly (typeof products.$inferSelect)[],
): Promise<StoredProduct[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const versionRows = await db
    .select()
    .from(productVersions)
    .where(isOneOf(productVersions.productId, ids))
    .orderBy(asc(productVersions.sequence));
  const byProduct = groupBy(versionRows, (version) => version.productId);
  return await mapInChunks(rows, (row) => ({
    ...row,
    ...historyFromRows(row.id, byProduct.get(row.id) ?? []),
  }));
}

function historyFromRows(
  productId: string,
  rows: readonly (typeof productVersions.$inferSelect)[],
): Pick<StoredProduct, 'versions' | 'updates'> {
  const [first] = rows.filter(({ startingAt }) => startingAt === null);
  assert(first !== undefined, `product ${productId} has an initial version`);
  const initial = { ...termsFromRow(first), ...madeOf(first), startingAt: null };
  const updates = rows.flatMap((row): ProductUpdate[] =>
    row.startingAt === null
      ? []
      : [
          {
            ...madeOf(row),
            startingAt: row.startingAt,
            changes: pickTerms(termsFromRow(row), row.changed ?? []),
          },
        ],
  );
  const byStart = updates.toSorted((a, b) => a.startingAt - b.startingAt);
  return { versions: versionsOf(initial, byStart), updates: byStart };
}

function madeOf({ createdAt, createdBy }: Pick<ProductUpdate, 'createdAt' | 'createdBy'>) {
  return { createdAt, createdBy };
}

function termsToColumns(terms: ProductTerms) {
  const { quantityConversion, quantityRounding } = terms;
  return {
    name: terms.name,
    tags: [...terms.tags],
    billableMetricId: terms.billableMetricId,
    sqlBreakdownGranularity: terms.sqlBreakdownGranularity,
    conversionName: quantityConversion?.name ?? null,
    conversionOperation: quantityConversion?.operation ?? null,
    conversionFactor: quantityConversion?.conversionFactor ?? null,
    roundingMethod: quantityRounding?.method ?? null,
    roundingDecimalPlaces: quantityRounding?.decimalPlaces ?? null,
    pricingGroupKey: [...terms.pricingGroupKey],
    presentationGroupKey: [...terms.presentationGroupKey],
    compositeProductIds: [...terms.compositeProductIds],
    compositeTags: [...terms.compositeTags],
    excludeFreeUsage: terms.excludeFreeUsage,
    includeCompositeSpend: terms.includeCompositeSpend,
  };
}

function termsFromRow(row: typeof productVersions.$inferSelect): ProductTerms {
  const { conversionName, conversionOperation, conversionFactor, roundingMethod, roundingDecimalPlaces } =
    row;
  return {
    name: row.name,
    tags: row.tags,
    billableMetricId: row.billableMetricId,
    sqlBreakdownGranularity: row.sqlBreakdownGranularity,
    quantityConversion:
      conversionOperation === null || conversionFactor === null
        ? null
        : { name: conversionName, operation: conversionOperation, conversionFactor },
    quantityRounding:
      roundingMethod === null || roundingDecimalPlaces === null
        ? null
        : { method: roundingMethod, decimalPlaces: roundingDecimalPlaces },
    pricingGroupKey: row.pricingGroupKey,
    presentationGroupKey: row.presentationGroupKey,
    compositeProductIds: row.compositeProductIds,
    compositeTags: row.compositeTags,
    excludeFreeUsage: row.excludeFreeUsage,
    includeCompositeSpend: row.includeCompositeSpend,
  };
}
