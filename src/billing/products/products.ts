/** Use cases of products. Products carry no prices: those are on rate cards and contracts. */
import type { ProductType } from '../../core/catalogue.ts';
import type { Clock } from '../../core/clock.ts';
import { invalid, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { findMetric } from '../../store/billable-metrics.ts';
import type { Database } from '../../store/database.ts';
import type { Page, PageRequest } from '../../store/keyset.ts';
import {
  type ArchiveFilter,
  findProduct,
  insertProduct,
  listProducts as listStoredProducts,
  loadProducts,
  type StoredProduct,
} from '../../store/products.ts';
import { requireDeclaredCustomFields } from '../custom-fields.ts';
import { checkGroupKeys, checkTermsOfType, type ProductTerms } from './product-definition.ts';

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
}

export interface CreateProductInput {
  readonly type: ProductType;
  readonly terms: ProductTerms;
  readonly customFields: Readonly<Record<string, string>>;
  readonly createdBy: string;
}

/** Refuses unsound terms and references to what does not exist or is archived (`invalid`, naming the field). */
export async function createProduct(deps: Deps, input: CreateProductInput): Promise<StoredProduct> {
  requireDeclaredCustomFields('contract_product', input.customFields);
  checkTermsOfType(input.type, input.terms);
  await checkReferences(deps, input.terms);
  const createdAt = deps.clock.now();
  const product: StoredProduct = {
    id: newId(),
    type: input.type,
    versions: [{ ...input.terms, startingAt: null, createdAt, createdBy: input.createdBy }],
    createdAt,
    archivedAt: null,
  };
  await deps.db.transaction((tx) => insertProduct(tx, product));
  return product;
}

/** The product, archived or not. Refuses an unknown one. */
export async function getProduct(deps: Pick<Deps, 'db'>, id: string): Promise<StoredProduct> {
  const product = await findProduct(deps.db, id);
  if (product === null) throw notFound('product', id);
  return product;
}

export function listProducts(
  deps: Pick<Deps, 'db'>,
  filter: ArchiveFilter,
  page: PageRequest,
): Promise<Page<StoredProduct>> {
  return listStoredProducts(deps.db, filter, page);
}

async function checkReferences(deps: Deps, terms: ProductTerms): Promise<void> {
  const { billableMetricId, compositeProductIds } = terms;
  if (billableMetricId !== null) {
    const metric = await findMetric(deps.db, billableMetricId);
    if (metric === null) throw invalid('billable_metric_id', `billable metric ${billableMetricId} not found`);
    if (metric.archivedAt !== null) {
      throw invalid('billable_metric_id', `billable metric ${billableMetricId} is archived`);
    }
    checkGroupKeys(terms, metric);
  }
  const parts = await loadProducts(deps.db, compositeProductIds);
  for (const [index, id] of compositeProductIds.entries()) {
    if (!parts.has(id)) throw invalid(`composite_product_ids[${index}]`, `product ${id} not found`);
  }
}
