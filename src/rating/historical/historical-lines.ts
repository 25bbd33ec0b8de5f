/**
 * Lines for quantities that a client states for a time in the past (docs/explanation/invoices.md, "Historical
 * invoices"). They are priced like usage, with the rates and overrides of their time. Pure.
 *
 * A quantity has one price: if the price changes within its time, it is unknown which part was used before the change.
 * Tiers are counted over the whole invoice, for each product with its group values.
 */
import type { Product } from '../../core/catalogue.ts';
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { HOUR_MS, type Instant, type Interval } from '../../core/time.ts';
import type { ProductOnCard, UsageLine, WindowAmount } from '../lines/types.ts';
import { type GroupValues, groupValuesKey } from '../quantities/group-values.ts';
import { versionAt } from '../quantities/product-spans.ts';
import { type LineTerms, termsSpans } from '../rates/line-terms.ts';
import type { OverrideIndex } from '../rates/override-index.ts';
import { bandAt, type PriceBand, priceBands, walkBands } from '../rates/tiers.ts';

/** The total usage in `interval`. */
export interface HistoricalPart {
  readonly interval: Interval;
  readonly quantity: Decimal;
}

/** The usage of a product with its group values. */
export interface HistoricalUsage {
  readonly onCard: ProductOnCard;
  readonly pricingGroupValues: GroupValues;
  readonly presentationGroupValues: GroupValues;
  readonly interval: Interval;
  /** Ascending, within `interval`, at least one. */
  readonly parts: readonly HistoricalPart[];
}

/** Why a part has no line. `at`: when the price changes. */
export interface HistoricalProblem {
  /** The positions of the usage and of its part. */
  readonly usage: number;
  readonly part: number;
  readonly problem: 'no_rate' | 'not_entitled' | 'price_changes';
  readonly at: Instant;
}

export interface HistoricalRating {
  /** In the order of the usage. */
  readonly lines: readonly UsageLine[];
  /** The first problem; `lines` is incomplete then. */
  readonly problem: HistoricalProblem | null;
}

export interface HistoricalPrices {
  readonly overrides: OverrideIndex;
  readonly fiatCreditTypeId: string;
}

/** Yields after each usage. */
export function* rateHistorical(
  usage: readonly HistoricalUsage[],
  prices: HistoricalPrices,
): Generator<void, HistoricalRating, undefined> {
  const positions = new Map<string, Decimal>();
  const wholes = wholeQuantities(usage);
  const lines: UsageLine[] = [];
  for (const [index, one] of usage.entries()) {
    const stretches = stretchesOf(one, prices);
    if ('problem' in stretches) return { lines, problem: { usage: index, ...stretches } };
    const key = keyOf(one);
    for (const stretch of stretches) {
      const from = positions.get(key) ?? ZERO;
      lines.push(...linesOf(one, stretch, from, wholes.get(key) ?? ZERO));
      positions.set(key, from.plus(sum(stretch.parts.map(({ quantity }) => quantity))));
    }
    yield;
  }
  return { lines, problem: null };
}

/** The quantity of each line key, which decides the tier of volume prices. */
function wholeQuantities(usage: readonly HistoricalUsage[]): Map<string, Decimal> {
  const wholes = new Map<string, Decimal>();
  for (const one of usage) {
    const key = keyOf(one);
    const own = sum(one.parts.map(({ quantity }) => quantity));
    wholes.set(key, (wholes.get(key) ?? ZERO).plus(own));
  }
  return wholes;
}

function keyOf({ onCard, pricingGroupValues, presentationGroupValues }: HistoricalUsage): string {
  const values = [pricingGroupValues, presentationGroupValues].map(groupValuesKey);
  return JSON.stringify([onCard.product.id, ...values]);
}

/** Consecutive parts with the same terms. */
interface Stretch {
  readonly interval: Interval;
  readonly terms: LineTerms;
  readonly parts: readonly HistoricalPart[];
}

/** Terms are cut at their changes over the whole usage, so they are constant within a stretch. */
function stretchesOf(
  usage: HistoricalUsage,
  { overrides, fiatCreditTypeId }: HistoricalPrices,
): Stretch[] | Omit<HistoricalProblem, 'usage'> {
  const { onCard, pricingGroupValues, presentationGroupValues, interval, parts } = usage;
  const { product, rates } = onCard;
  const subject = { product, fiatCreditTypeId, billingFrequency: null };
  const key = { ...subject, pricingGroupValues, presentationGroupValues };
  const spans = termsSpans(rates, overrides, key, interval);
  const found = new Map<(typeof spans)[number], HistoricalPart[]>();
  for (const [index, part] of parts.entries()) {
    const { start, end } = part.interval;
    const span = spans.find((one) => one.interval.start <= start && start < one.interval.end);
    if (span === undefined || span.terms === null) return { part: index, problem: 'no_rate', at: start };
    if (!span.entitled) return { part: index, problem: 'not_entitled', at: start };
    if (end > span.interval.end) return { part: index, problem: 'price_changes', at: span.interval.end };
    const own = found.get(span);
    if (own === undefined) found.set(span, [part]);
    else own.push(part);
  }
  return [...found].flatMap(([span, own]) =>
    span.terms === null ? [] : [{ interval: span.interval, terms: span.terms, parts: own }],
  );
}

interface BandTotal {
  readonly band: PriceBand;
  readonly windows: WindowAmount[];
}

/** One line for each tier that is reached; a zero line without quantity. */
function linesOf(
  usage: HistoricalUsage,
  { interval, terms, parts }: Stretch,
  from: Decimal,
  whole: Decimal,
): UsageLine[] {
  const bands = priceBands(terms.rate, whole);
  const totals = new Map<number, BandTotal>();
  let position = from;
  for (const part of parts) {
    // The last hour: the time of use within the part is unknown.
    const window = { start: part.interval.end - HOUR_MS, end: part.interval.end };
    const next = position.plus(part.quantity);
    for (const { band, quantity, amount } of walkBands(bands, position, next)) {
      const total = totals.get(band.level) ?? { band, windows: [] };
      total.windows.push({ window, quantity, total: amount });
      totals.set(band.level, total);
    }
    position = next;
  }
  if (totals.size === 0) totals.set(0, { band: bandAt(bands, from), windows: [] });
  return [...totals.values()].map((total) => lineOf(usage, interval, terms, total));
}

function lineOf(
  { onCard: { product }, pricingGroupValues, presentationGroupValues }: HistoricalUsage,
  interval: Interval,
  { rate, listed, creditTypeId }: LineTerms,
  { band, windows }: BandTotal,
): UsageLine {
  const { level, startingAt, size, price } = band;
  return {
    type: 'usage',
    ...namesOf(product, interval),
    creditTypeId,
    interval,
    quantity: sum(windows.map(({ quantity }) => quantity)),
    unitPrice: price,
    total: sum(windows.map(({ total }) => total)),
    pricingGroupValues,
    presentationGroupValues,
    tier: rate.rateType === 'TIERED' ? { level, startingAt, size } : null,
    payer: null,
    listRate: listed?.rate ?? null,
    hasMoved: windows.length > 0,
    windows,
  };
}

function namesOf(product: Product, { end }: Interval) {
  const { name, tags } = versionAt(product, end - 1);
  return { productId: product.id, productType: product.type, productTags: tags, name };
}
