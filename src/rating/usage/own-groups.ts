/**
 * Which groups of a metric's usage a product of a managed rate card bills (docs/explanation/token-billing.md, "Which
 * product bills what"). The products of one kind of tokens share a metric, so each of them meets the usage of all
 * models.
 *
 * Owns: which product bills which usage, and which product warns of usage that none bills. Does not own: prices. Pure.
 */
import type { Product } from '../../core/catalogue.ts';
import type { Override } from '../../core/terms/overrides.ts';
import type { Instant } from '../../core/time.ts';
import { MANAGED_TAG } from '../../core/token-billing.ts';
import { groupValuesKey, pickGroupValues } from '../quantities/group-values.ts';
import { type CounterRun, needKey, versionAt } from '../quantities/product-spans.ts';
import { hasRates, pricesAllValues, type RateBook } from '../rates/rate-schedule.ts';
import { seriesOf, type UsageIndex } from './line-key.ts';

/** A product with the runs of its counters that are rated. */
export interface ProductRuns {
  readonly product: Product;
  readonly rates: RateBook;
  readonly runs: readonly CounterRun[];
}

/** Groups are named by `groupValuesKey` of all values of their series. */
export interface GroupsOfProducts {
  /** The groups that the product bills; null: all. */
  billed(one: ProductRuns, run: CounterRun): readonly string[] | null;
  /** The groups that no product has a price for and that this product reports for all that share the metric. */
  reported(one: ProductRuns, run: CounterRun): readonly string[];
}

/** Whether the product, as one of a managed card, bills only values that it has a price for, as of `at`. */
function billsOwnValuesOnly(
  { product, rates }: Pick<ProductRuns, 'product' | 'rates'>,
  at: Instant,
): boolean {
  return versionAt(product, at).tags.includes(MANAGED_TAG) && !pricesAllValues(rates);
}

/** The pricing values for which overrides give a product a price, by product; named by `groupValuesKey`. */
export function overwrittenValues(overrides: readonly Override[]): ReadonlyMap<string, ReadonlySet<string>> {
  const byProduct = new Map<string, Set<string>>();
  for (const { type, specifiers } of overrides) {
    if (type !== 'OVERWRITE') continue;
    for (const { productId, pricingGroupValues } of specifiers) {
      if (productId === null) continue;
      const values = byProduct.get(productId) ?? new Set();
      byProduct.set(productId, values.add(groupValuesKey(pricingGroupValues)));
    }
  }
  return byProduct;
}

/**
 * `products` in the order of the invoice; the first one that uses a metric reports its unbilled groups. `at`: an
 * instant in the last relevant version.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one pass over products in the order of the invoice, because the first reports.
export function groupsOfProducts(
  products: readonly ProductRuns[],
  usage: UsageIndex,
  overrides: readonly Override[],
  at: Instant,
): GroupsOfProducts {
  const overwritten = overwrittenValues(overrides);
  const managed = new Set(products.filter((one) => billsOwnValuesOnly(one, at)));
  const own = new Map<CounterRun, readonly string[]>();
  const reporters = new Map<string, ProductRuns>();
  const owned = new Map<string, Set<string>>();
  for (const one of managed.size === 0 ? [] : products) {
    for (const run of one.runs) {
      const groups = pricedGroups(one, run, usage, overwritten.get(one.product.id) ?? NONE);
      const need = lastNeed(run);
      const all = owned.get(need) ?? new Set();
      for (const group of groups) all.add(group);
      owned.set(need, all);
      if (!managed.has(one)) continue;
      own.set(run, groups);
      if (!reporters.has(need)) reporters.set(need, one);
    }
  }
  return {
    billed: (one, run) => (managed.has(one) ? (own.get(run) ?? []) : null),
    reported(one, run) {
      const need = lastNeed(run);
      if (reporters.get(need) !== one) return [];
      return allGroups(run, usage).filter((group) => owned.get(need)?.has(group) !== true);
    },
  };
}

const NONE: ReadonlySet<string> = new Set();

/** The groups of the run that have a price for the product by a rate or an override at some time. */
function pricedGroups(
  { rates }: ProductRuns,
  run: CounterRun,
  usage: UsageIndex,
  overwritten: ReadonlySet<string>,
): string[] {
  if (pricesAllValues(rates)) return allGroups(run, usage);
  // Without presentation values a group has the name of the rate's own values: a few look-ups, however much was used.
  if (run.presentationGroupKey.length === 0) {
    return [...new Set([...rates.byIdentity.keys(), ...overwritten])].filter((key) =>
      run.spans.some((span) => seriesOf(span, usage).has(key)),
    );
  }
  return allGroups(run, usage).filter((group) =>
    run.spans.some((span) => {
      const found = seriesOf(span, usage).get(group);
      if (found === undefined) return false;
      const values = pickGroupValues(found.groupValues, run.pricingGroupKey);
      return hasRates(rates, values) || overwritten.has(groupValuesKey(values));
    }),
  );
}

function allGroups(run: CounterRun, usage: UsageIndex): string[] {
  return [...new Set(run.spans.flatMap((span) => [...seriesOf(span, usage).keys()]))];
}

/** Products that count by the same metric and keys share usage. */
function lastNeed({ spans }: CounterRun): string {
  const span = spans.at(-1);
  return span === undefined ? '' : needKey(span.need);
}
