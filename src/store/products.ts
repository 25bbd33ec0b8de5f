/** Products and their versions. */
import { and, asc, inArray, isNotNull, isNull } from 'drizzle-orm';
import type { Product, ProductVersion } from '../core/catalogue.ts';
import { assert } from '../core/errors.ts';
import { groupBy } from '../core/group-by.ts';
import { isUuid } from '../core/ids.ts';
import type { Instant } from '../core/time.ts';
import type { Database, Transaction } from './database.ts';
import { behind, cutPage, type Page, type PageRequest } from './keyset.ts';
import { products, productVersions } from './schema/products.ts';

/** A version with everything that is kept about it; rating so far needs what `ProductVersion` names. */
export interface StoredProductVersion extends ProductVersion {
  /** Set for products on a SQL metric only. */
  readonly sqlBreakdownGranularity: 'HOUR' | 'SERVICE_PERIOD' | null;
  readonly compositeProductIds: readonly string[];
  readonly compositeTags: readonly string[];
  readonly excludeFreeUsage: boolean;
  readonly includeCompositeSpend: boolean;
}

export interface StoredProduct extends Product {
  readonly versions: readonly StoredProductVersion[];
  readonly createdAt: Instant;
}

/** Stores a new product with its initial version. */
export async function insertProduct(tx: Transaction, product: StoredProduct): Promise<void> {
  const { versions, ...head } = product;
  await tx.insert(products).values(head);
  await tx.insert(productVersions).values(versions.map((version) => versionToRow(product.id, version)));
}

/** The product, archived or not; null where the id is unknown or not a UUID. */
export async function findProduct(db: Database | Transaction, id: string): Promise<StoredProduct | null> {
  return (await loadProducts(db, isUuid(id) ? [id] : [])).get(id.toLowerCase()) ?? null;
}

/** The products by id, each with all its versions; unknown ids are absent. */
export async function loadProducts(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, StoredProduct>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select()
    .from(products)
    .where(inArray(products.id, [...ids]));
  return new Map((await withVersions(db, rows)).map((product) => [product.id, product]));
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
  return cutPage(await withVersions(db, rows), page.limit);
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
    .where(inArray(productVersions.productId, ids))
    .orderBy(asc(productVersions.sequence));
  const byProduct = groupBy(versionRows, (version) => version.productId);
  return rows.map((row) => ({ ...row, versions: versionsInOrder(row.id, byProduct.get(row.id) ?? []) }));
}

/** The initial version first, then by start; of versions with one start only the one added last counts. */
function versionsInOrder(
  productId: string,
  rows: readonly (typeof productVersions.$inferSelect)[],
): StoredProductVersion[] {
  const byStart = new Map(rows.map((row) => [row.startingAt, versionFromRow(row)]));
  const versions = [...byStart.values()].sort((a, b) => startOf(a) - startOf(b));
  assert(versions[0]?.startingAt === null, `product ${productId} has no initial version`);
  return versions;
}

function startOf(version: ProductVersion): number {
  return version.startingAt ?? Number.NEGATIVE_INFINITY;
}

function versionToRow(productId: string, version: StoredProductVersion): typeof productVersions.$inferInsert {
  const { quantityConversion, quantityRounding, ...rest } = version;
  return {
    ...rest,
    productId,
    tags: [...version.tags],
    pricingGroupKey: [...version.pricingGroupKey],
    presentationGroupKey: [...version.presentationGroupKey],
    compositeProductIds: [...version.compositeProductIds],
    compositeTags: [...version.compositeTags],
    conversionName: quantityConversion?.name ?? null,
    conversionOperation: quantityConversion?.operation ?? null,
    conversionFactor: quantityConversion?.conversionFactor ?? null,
    roundingMethod: quantityRounding?.method ?? null,
    roundingDecimalPlaces: quantityRounding?.decimalPlaces ?? null,
  };
}

function versionFromRow(row: typeof productVersions.$inferSelect): StoredProductVersion {
  const { conversionName, conversionOperation, conversionFactor, roundingMethod, roundingDecimalPlaces } =
    row;
  return {
    startingAt: row.startingAt,
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
    createdAt: row.createdAt,
    createdBy: row.createdBy,
  };
}
