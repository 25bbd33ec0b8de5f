/**
 * Derives the versions of a product over time from its initial state and its updates. Pure.
 *
 * An update sets some terms from its start on, until a later update sets the same terms; all other terms are unchanged.
 * If updates have the same start, the last one wins, term by term.
 */
import type { CompositeVersion } from '../../core/catalogue.ts';
import type { Instant } from '../../core/time.ts';

/** A version with all stored attributes; the terms of composites are empty for other products. */
export type StoredProductVersion = CompositeVersion;

/** A version as a client describes it: without its dates and its author. */
export type ProductTerms = Omit<StoredProductVersion, 'startingAt' | 'createdAt' | 'createdBy'>;

/** The terms that an update sets. */
export type ProductChanges = Partial<ProductTerms>;

export interface ProductUpdate {
  readonly startingAt: Instant;
  readonly changes: ProductChanges;
  readonly createdAt: Instant;
  readonly createdBy: string;
}

/** The initial version, then one for every instant at which updates start. `updates` in order of addition. */
export function versionsOf(
  initial: StoredProductVersion,
  updates: readonly ProductUpdate[],
): StoredProductVersion[] {
  const versions = [initial];
  let current = initial;
  for (const update of updates.toSorted((a, b) => a.startingAt - b.startingAt)) {
    const { changes, ...made } = update;
    current = { ...current, ...changes, ...made };
    if (versions.at(-1)?.startingAt === update.startingAt) versions.pop();
    versions.push(current);
  }
  return versions;
}

/** The terms of `terms` that are named in `names`. */
export function pickTerms(terms: ProductTerms, names: readonly string[]): ProductChanges {
  const picked: { -readonly [Name in keyof ProductTerms]?: ProductTerms[Name] } = { ...terms };
  for (const name of TERM_NAMES) if (!names.includes(name)) delete picked[name];
  return picked;
}

const TERM_NAMES = [
  'name',
  'tags',
  'billableMetricId',
  'sqlBreakdownGranularity',
  'quantityConversion',
  'quantityRounding',
  'pricingGroupKey',
  'presentationGroupKey',
  'compositeProductIds',
  'compositeTags',
  'excludeFreeUsage',
  'includeCompositeSpend',
] as const satisfies readonly (keyof ProductTerms)[];
