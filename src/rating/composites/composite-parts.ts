/**
 * Which products a composite product counts, and the order of dependency between composites
 * (docs/explanation/rating.md, "Composite products"). Pure.
 */
import type { CompositeProduct, CompositeTerms, Product } from '../../core/catalogue.ts';
import { assert } from '../../core/errors.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { versionAt } from '../quantities/product-spans.ts';

/** A product that a composite may count. */
interface Part {
  readonly id: string;
  readonly tags: readonly string[];
  readonly isComposite: boolean;
}

/** Whether a composite with these terms counts the charges of the product. */
export function countsProduct(
  composite: Omit<CompositeTerms, 'excludeFreeUsage'>,
  { id, tags, isComposite }: Part,
): boolean {
  if (isComposite && !composite.includeCompositeSpend) return false;
  return (
    composite.compositeProductIds.includes(id) || composite.compositeTags.some((tag) => tags.includes(tag))
  );
}

/** A composite with the products that it counts in a stretch of time. */
export interface CountingComposite {
  readonly compositeId: string;
  readonly excludesFreeUsage: boolean;
  /** Ids of the counted products. */
  readonly parts: ReadonlySet<string>;
}

/** A stretch of time in which no composite changes the products that it counts. */
export interface CountingStretch {
  readonly start: Instant;
  /** Every composite follows those that it counts. */
  readonly order: readonly CountingComposite[];
}

/**
 * The stretches of `interval`, ascending. `products` are those on the card that have charges.
 *
 * The order may differ between stretches, so no order of the composites suits a whole billing period.
 */
export function countingStretches(
  composites: readonly CompositeProduct[],
  products: readonly Product[],
  interval: Interval,
): CountingStretch[] {
  const changes = [...composites, ...products].flatMap(({ versions }) =>
    versions.flatMap(({ startingAt }) => startingAt ?? []),
  );
  const inside = changes.filter((at) => interval.start < at && at < interval.end);
  const starts = [...new Set([interval.start, ...inside])].sort((a, b) => a - b);
  return starts.map((start) => ({ start, order: orderAt(composites, products, start) }));
}

/** The stretch that `at` lies in. */
export function stretchAt(stretches: readonly CountingStretch[], at: Instant): CountingStretch {
  const stretch = stretches.findLast(({ start }) => start <= at);
  assert(stretch !== undefined, 'charges lie in the time that is counted');
  return stretch;
}

/** Depth first. There are no cycles, because products that would form one are refused. */
function orderAt(
  composites: readonly CompositeProduct[],
  products: readonly Product[],
  at: Instant,
): CountingComposite[] {
  const parts = [
    ...composites.map((one) => partAt(one, at, true)),
    ...products.map((one) => partAt(one, at, false)),
  ];
  const byId = new Map(composites.map((one) => [one.id, countingAt(one, parts, at)]));
  const order = new Set<CountingComposite>();
  const open = new Set<CountingComposite>();
  const visit = (one: CountingComposite) => {
    if (order.has(one)) return;
    assert(!open.has(one), `composite product ${one.compositeId} does not count itself`);
    open.add(one);
    for (const id of one.parts) {
      const part = byId.get(id);
      if (part !== undefined) visit(part);
    }
    order.add(one);
  };
  for (const one of byId.values()) visit(one);
  return [...order];
}

function partAt(product: Product, at: Instant, isComposite: boolean): Part {
  return { id: product.id, tags: versionAt(product, at).tags, isComposite };
}

function countingAt(composite: CompositeProduct, parts: readonly Part[], at: Instant): CountingComposite {
  const version = versionAt(composite, at);
  const counted = parts.filter((part) => countsProduct(version, part));
  return {
    compositeId: composite.id,
    excludesFreeUsage: version.excludeFreeUsage,
    parts: new Set(counted.map(({ id }) => id)),
  };
}
