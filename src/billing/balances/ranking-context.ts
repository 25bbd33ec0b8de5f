/** Loads the input of the burn-down order besides the terms. */
import type { Commit } from '../../core/terms/commits.ts';
import type { Instant } from '../../core/time.ts';
import type { RankingContext } from '../../rating/balances/burn-down-order.ts';
import { versionAt } from '../../rating/quantities/product-spans.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadTaggedProducts } from '../../store/products/products.ts';

/** The tags of products as of `now`. No query if no commit names a tag. */
export async function loadProductTags(
  db: Database | Transaction,
  commits: readonly Commit[],
  now: Instant,
): Promise<RankingContext['productTags']> {
  const tags = commits.flatMap(({ applicability: { productTags, specifiers } }) => [
    ...productTags,
    ...specifiers.flatMap((specifier) => [specifier, ...specifier.exclude]).flatMap((one) => one.productTags),
  ]);
  const products = await loadTaggedProducts(db, [...new Set(tags)]);
  return new Map(products.map((product) => [product.id, versionAt(product, now).tags]));
}
