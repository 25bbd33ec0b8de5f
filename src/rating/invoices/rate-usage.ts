/**
 * Rates the usage products of a contract for one billing period: computes invoice lines and their distribution
 * over time from metered usage, the rates of the card and the contract's overrides.
 *
 * Owns: which segments give lines, zero lines and warnings. Does not own: prices and overrides (rates/),
 * quantities (usage/), composite products (composites/), which balance pays (balances/), loading the input.
 */
import { assert } from '../../core/errors.ts';
import type { BilledPeriod, UnpricedUsage, UsageInvoiceLine } from '../../core/invoice.ts';
import type { UsageFilter } from '../../core/terms/contract.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { Bucket } from '../balances/buckets.ts';
import { type ClaimedSegment, type Coverage, NO_COVERAGE } from '../balances/coverage.ts';
import type { ProductOnCard, RatedKeys, UsageLine, UsageRatingInput } from '../lines/types.ts';
import { groupValuesKey, sortedKeys } from '../quantities/group-values.ts';
import { type CounterRun, counterRuns, versionAt } from '../quantities/product-spans.ts';
import { indexOverrides } from '../rates/override-index.ts';
import type { RateBook } from '../rates/rate-schedule.ts';
import { indexUsage, type LineKeys, lineKeys, type UsageIndex } from '../usage/line-key.ts';
import { type GroupsOfProducts, groupsOfProducts, type ProductRuns } from '../usage/own-groups.ts';
import { lineKeyText } from '../usage/usage-claims.ts';
import {
  type ChargedKey,
  type ChargingContext,
  chargedKey,
  claimsOfKey,
  lineCountOf,
  linesOfKey,
  unownedUsage,
  zeroLineOfKey,
} from './charged-keys.ts';
import { sortProducts } from './product-order.ts';

/** Usage to rate, with the balances that pay for it. */
export interface DrawnUsageInput extends UsageRatingInput {
  /** The balances that may pay, in burn-down order; default: none. */
  readonly buckets?: readonly Bucket[];
  /** The outcome of a drawdown; default: no balance pays. */
  readonly coverage?: Coverage;
  /** Rates only covered line keys. */
  readonly isCoveredOnly?: boolean;
  /**
   * Leaves out the lines of keys that balances may pay for, but counts them: the caller computes them after drawdown
   * (`linesOfKey`). Allowed only without composites, which count costs before drawdown.
   */
  readonly isAfterDrawdown?: boolean;
}

/** Rated line keys with what the given balances may pay for. */
export interface ClaimingKeys extends RatedKeys {
  readonly claims: readonly ClaimedSegment[];
  /** The keys with claims. */
  readonly claiming: readonly ChargedKey[];
}

interface Context extends ChargingContext {
  readonly period: BilledPeriod;
  readonly boundaries: readonly Instant[];
  readonly usage: UsageIndex;
  readonly usageFilters: readonly UsageFilter[];
  /** Only runs with these group keys (`groupKeysKey`); null for all. */
  readonly groupedBy: string | null;
  readonly coverage: Coverage;
  readonly isCoveredOnly: boolean;
  readonly isAfterDrawdown: boolean;
}

/**
 * Rates the line keys of the given usage, product by product in invoice order. Line keys do not depend on each other,
 * so the keys of an invoice may be rated in any parts; a line collector joins them. With `groupedBy`, only runs with
 * exactly these group keys are rated, and only their usage is required.
 *
 * `billed` is the time that has lines: the period, or the part of the counters' time before it, whose lines are on
 * another invoice.
 */
export function rateKeys(
  input: DrawnUsageInput,
  groupedBy: readonly string[] | null = null,
  billed: Interval = input.period,
): ClaimingKeys[] {
  return [...rateKeysByProduct(input, groupedBy, billed)];
}

/** `rateKeys`, product by product, some line keys at a time: each part is rated on demand. */
export function* rateKeysByProduct(
  input: DrawnUsageInput,
  groupedBy: readonly string[] | null = null,
  billed: Interval = input.period,
): Generator<ClaimingKeys, void, undefined> {
  assertBoundaries(input, billed);
  const { period, boundaries, usageFilters, fiatCreditTypeId, buckets = [] } = input;
  const overrides = indexOverrides(input.overrides);
  const context: Context = {
    period,
    billed,
    boundaries,
    overrides,
    claimants:
      buckets.length === 0 ? null : { buckets, hasCommitSpecificPrices: overrides.hasCommitSpecific },
    coverage: input.coverage ?? NO_COVERAGE,
    isCoveredOnly: input.isCoveredOnly ?? false,
    isAfterDrawdown: input.isAfterDrawdown ?? false,
    usageFilters,
    fiatCreditTypeId,
    usage: indexUsage(input.usage, period),
    groupedBy: groupedBy === null ? null : groupKeysKey(groupedBy),
  };
  const products = input.products.map((onCard) => ({
    id: onCard.product.id,
    name: versionAt(onCard.product, period.end - 1).name,
    one: { ...onCard, runs: runsOf(onCard, context) },
  }));
  const sorted = sortProducts(products, input.productOrder);
  const groups = groupsOfProducts(
    sorted.map(({ one }) => one),
    context.usage,
    input.overrides.overrides,
    period.end - 1,
  );
  for (const { id, name, one } of sorted) {
    for (const part of rateProduct(one, groups, context)) yield { ...part, product: { id, name } };
  }
}

/**
 * The parts from which `derivedId` computes a line's id, together with the invoice's id. The same terms and
 * usage give the same parts on every recomputation.
 */
export function lineIdParts(line: UsageInvoiceLine): string[] {
  return [
    LINE_ID_KINDS[line.type],
    line.productId,
    String(line.interval.start),
    groupValuesKey(line.pricingGroupValues),
    groupValuesKey(line.presentationGroupValues),
    String(line.tier?.level ?? 0),
    // A composite has one line for each pricing unit of its base.
    ...(line.productType === 'COMPOSITE' ? [line.creditTypeId] : []),
    ...(line.payer === null ? [] : [line.payer.segmentId]),
  ];
}

const LINE_ID_KINDS: Readonly<Record<UsageInvoiceLine['type'], string>> = {
  usage: 'usage-line',
  minimum: 'minimum-line',
  applied: 'applied-line',
};

function runsOf({ product }: ProductOnCard, { period, usageFilters, groupedBy }: Context): CounterRun[] {
  assert(product.type === 'USAGE', `product ${product.id} is a usage product`);
  return counterRuns(product, period, usageFilters).filter(
    (run) => groupedBy === null || groupedBy === groupKeysOfRun(run),
  );
}

/** Line keys that are rated at once, in a few milliseconds. */
const KEYS_PER_PART = 500;

interface ProductPart {
  readonly lines: UsageLine[];
  readonly warnings: UnpricedUsage[];
  readonly claims: ClaimedSegment[];
  readonly claiming: ChargedKey[];
  laterLineCount: number;
}

const newPart = (): ProductPart => ({ lines: [], warnings: [], claims: [], claiming: [], laterLineCount: 0 });

/** The last part has the zero line. A part may be empty. */
function* rateProduct(
  one: ProductRuns,
  groups: GroupsOfProducts,
  context: Context,
): Generator<Omit<ClaimingKeys, 'product'>, void, undefined> {
  const { product, rates, runs } = one;
  const { usage, coverage, isCoveredOnly } = context;
  let part = newPart();
  let keyCount = 0;
  let zeroLine: UsageLine | null = null;
  for (const run of runs) {
    const keys = lineKeys(run, usage, groups.billed(one, run));
    // Finding and sorting many keys takes about as long as rating a part of them.
    if (keys.count > KEYS_PER_PART) yield { ...newPart(), zeroLine: null };
    for (const key of keys) {
      if (isCoveredOnly && !coverage.has(lineKeyText({ productId: product.id, ...key }))) continue;
      const charged = chargedKey(product, key, rates, context);
      addKey(part, charged, rates, context);
      zeroLine = zeroLineOfKey(charged) ?? zeroLine;
      keyCount += 1;
      if (keyCount % KEYS_PER_PART !== 0) continue;
      yield { ...part, zeroLine: null };
      part = newPart();
    }
    if (!isCoveredOnly) addUnowned(part, one, lineKeys(run, usage, groups.reported(one, run)), context);
  }
  yield { ...part, zeroLine };
}

function addUnowned(
  { warnings }: ProductPart,
  { product, rates }: ProductRuns,
  keys: LineKeys,
  context: Context,
): void {
  for (const key of keys) warnings.push(...unownedUsage(product, key, rates, context));
}

function addKey(part: ProductPart, charged: ChargedKey, rates: RateBook, context: Context): void {
  const { coverage, boundaries, isAfterDrawdown } = context;
  const claims = claimsOfKey(charged, rates, context);
  if (claims.length > 0) part.claiming.push(charged);
  part.claims.push(...claims);
  if (isAfterDrawdown && claims.length > 0) part.laterLineCount += lineCountOf(charged);
  else part.lines.push(...linesOfKey(charged, coverage.get(charged.text) ?? [], boundaries));
  part.warnings.push(...charged.unpriced);
}

function groupKeysOfRun({ pricingGroupKey, presentationGroupKey }: CounterRun): string {
  return groupKeysKey([...pricingGroupKey, ...presentationGroupKey]);
}

function groupKeysKey(names: readonly string[]): string {
  return JSON.stringify(sortedKeys(names));
}

function assertBoundaries({ period, boundaries }: UsageRatingInput, billed: Interval): void {
  assert(period.start < period.end, 'a billing period has a length');
  assert(period.countedFrom <= period.start, 'counters start before what they bill');
  assert(
    boundaries[0] === billed.start && boundaries.at(-1) === billed.end,
    'windows begin and end with the billed time',
  );
  for (let index = 1; index < boundaries.length; index += 1) {
    assert((boundaries[index - 1] ?? 0) < (boundaries[index] ?? 0), 'window boundaries ascend');
  }
}
