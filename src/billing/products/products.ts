/** Use cases of products. Products carry no prices: those are on rate cards and contracts. */
import type { ProductType } from '../../core/catalogue.ts';
import { assert, invalid, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import {
  type ProductChanges,
  type ProductTerms,
  type ProductUpdate,
  versionsOf,
} from '../../store/products/product-versions.ts';
import {
  type ArchiveFilter,
  archiveProduct as archiveStoredProduct,
  findProduct,
  insertProducts,
  insertProductUpdate,
  listProducts as listStoredProducts,
  lockProduct,
  type StoredProduct,
} from '../../store/products/products.ts';
import { rateCardsOfProduct } from '../../store/rate-cards/rate-cards.ts';
import type { RowContext } from '../billing-context.ts';
import { storeCustomFields } from '../custom-fields/store-fields.ts';
import {
  oneWithCustomFields,
  pageWithCustomFields,
  type WithCustomFields,
} from '../custom-fields/with-fields.ts';
import { checkTermsOfType } from './product-definition.ts';
import { checkCycles, checkKeysOfVersions, checkNamedEntities, keyField } from './product-references.ts';
import { checkFiltersOfCards } from './usage-filters.ts';

export interface CreateProductInput {
  readonly type: ProductType;
  readonly terms: ProductTerms;
  readonly customFields: Readonly<Record<string, string>>;
  readonly createdBy: string;
}

/**
 * Refuses unsound terms, references to what does not exist or is archived, undeclared custom fields
 * (`invalid`, naming the field), and the value of a custom field that another product holds (`conflict`).
 */
export async function createProduct(context: RowContext, input: CreateProductInput): Promise<StoredProduct> {
  const [product] = await context.db.transaction((tx) => createProductsIn(tx, context, [input]));
  assert(product !== undefined, 'one input makes one product');
  return product;
}

/** Creates products within a transaction, in the order of the inputs. Refuses the same as `createProduct`. */
export async function createProductsIn(
  tx: Transaction,
  { clock }: Pick<RowContext, 'clock'>,
  inputs: readonly CreateProductInput[],
): Promise<StoredProduct[]> {
  const createdAt = clock.now();
  const products = inputs.map(({ type, terms, createdBy }): StoredProduct => {
    checkTermsOfType(type, terms);
    return {
      id: newId(),
      type,
      versions: [{ ...terms, startingAt: null, createdAt, createdBy }],
      updates: [],
      createdAt,
      archivedAt: null,
    };
  });
  const checked = new Set<string>();
  for (const [index, product] of products.entries()) {
    const { terms } = inputs[index] ?? {};
    assert(terms !== undefined, 'each product has its input');
    // Products with the same references are as sound as the first of them.
    const references = referencesOf(terms);
    if (!checked.has(references)) {
      await checkNamedEntities(tx, terms);
      await checkKeysOfVersions(tx, product.versions, terms);
      checked.add(references);
    }
    await checkCycles(tx, product, terms);
  }
  await insertProducts(tx, products);
  await storeCustomFields(
    tx,
    products.map(({ id }, index) => ({
      entity: 'contract_product',
      entityId: id,
      fields: inputs[index]?.customFields ?? {},
      path: [],
    })),
  );
  return products;
}

function referencesOf(terms: ProductTerms): string {
  return JSON.stringify([
    terms.billableMetricId,
    terms.pricingGroupKey,
    terms.presentationGroupKey,
    terms.compositeProductIds,
  ]);
}

export interface UpdateProductInput {
  readonly productId: string;
  /** On a full hour; in the past, it changes drafts, but not issued invoices. */
  readonly startingAt: Instant;
  /** Omitted terms continue unchanged. */
  readonly changes: ProductChanges;
  readonly createdBy: string;
}

/**
 * Sets terms from an instant on. Refuses an unknown product (`not_found`), an archived one, and changes
 * that make the product unsound at any time from then on (`invalid`, naming the field).
 */
export async function updateProduct(context: RowContext, input: UpdateProductInput): Promise<void> {
  const { startingAt, changes, createdBy } = input;
  await context.db.transaction(async (tx) => {
    const product = await requireActiveProduct(tx, input.productId);
    const update: ProductUpdate = { startingAt, changes, createdAt: context.clock.now(), createdBy };
    const [initial] = product.versions;
    assert(initial !== undefined, `product ${product.id} has an initial version`);
    const versions = versionsOf(initial, [...product.updates, update]);
    const affected = versions.filter((version) => (version.startingAt ?? startingAt - 1) >= startingAt);
    for (const version of affected) checkTermsOfType(product.type, version);
    await checkNamedEntities(tx, changes);
    await checkKeysOfVersions(tx, affected, changes);
    await checkFilters(tx, { ...product, versions }, input, update.createdAt);
    await checkCycles(tx, { ...product, versions }, changes);
    await insertProductUpdate(tx, product, update);
  });
}

/** A change of the metric or of the keys must suit the usage filters of contracts that have the product. */
async function checkFilters(
  tx: Transaction,
  product: Pick<StoredProduct, 'id' | 'versions'>,
  { changes, startingAt }: UpdateProductInput,
  now: Instant,
): Promise<void> {
  const { billableMetricId, pricingGroupKey, presentationGroupKey } = changes;
  if (billableMetricId == null && pricingGroupKey === undefined && presentationGroupKey === undefined) return;
  const cards = await rateCardsOfProduct(tx, product.id);
  await checkFiltersOfCards(tx, cards, [product], { now, from: startingAt }, () => [keyField(changes)]);
}

/**
 * Withdraws a product permanently: rate cards that have it continue, it gets no new rates. Refuses an
 * unknown product (`not_found`) and one that is already archived (`invalid`).
 */
export async function archiveProduct(context: RowContext, id: string): Promise<void> {
  await context.db.transaction(async (tx) => {
    const product = await lockProduct(tx, id);
    if (product === null) throw notFound('product', id);
    if (product.archivedAt !== null) throw invalid(['productId'], `product ${id} is already archived`);
    await archiveStoredProduct(tx, product.id, context.clock.now());
  });
}

/** The product, archived or not. Refuses an unknown one. */
export async function getProduct(
  context: Pick<RowContext, 'db'>,
  id: string,
): Promise<WithCustomFields<StoredProduct>> {
  const product = await findProduct(context.db, id);
  if (product === null) throw notFound('product', id);
  return oneWithCustomFields(context.db, product);
}

export async function listProducts(
  context: Pick<RowContext, 'db'>,
  filter: ArchiveFilter,
  page: PageRequest,
): Promise<Page<WithCustomFields<StoredProduct>>> {
  return pageWithCustomFields(context.db, await listStoredProducts(context.db, filter, page));
}

/** Locks the product. */
async function requireActiveProduct(tx: Transaction, id: string): Promise<StoredProduct> {
  const product = await lockProduct(tx, id);
  if (product === null) throw notFound('product', id);
  if (product.archivedAt !== null) {
    throw invalid(['productId'], `product ${id} is archived`);
  }
  return product;
}
