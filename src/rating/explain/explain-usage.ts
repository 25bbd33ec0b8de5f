/** Explains the lines of USAGE products from the terms and the usage of their line keys. Pure. */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { BilledPeriod, UsageInvoiceLine } from '../../core/invoice.ts';
import type { UsageFilter } from '../../core/terms/contract.ts';
import type { Instant } from '../../core/time.ts';
import { cumulativeAt, type UsageSeries } from '../../core/usage-series.ts';
import { overridesOfKey } from '../rates/line-terms.ts';
import { indexOverrides, type OverrideIndex } from '../rates/override-index.ts';
import type { ContractOverrides } from '../rates/overrides.ts';
import { priceBands, walkBands } from '../rates/tiers.ts';
import type { MeteredUsage, ProductOnCard } from '../types.ts';
import { groupValuesKey } from '../usage/group-values.ts';
import { indexUsage, type LineKey, lineKeys, type UsageIndex } from '../usage/line-key.ts';
import { type CounterRun, counterRuns } from '../usage/product-spans.ts';
import { movementOf, type Segment, segmentsOf } from '../usage/segments.ts';
import { explainPrice } from './explain-price.ts';
import type { ExplainedUsage, UsageExplanation } from './explanation.ts';
import { priceStep, tierStep, totalStep, usageSteps } from './formula.ts';

export interface UsageExplanationInput {
  readonly period: BilledPeriod;
  readonly products: readonly ProductOnCard[];
  readonly usageFilters: readonly UsageFilter[];
  readonly overrides: ContractOverrides;
  readonly fiatCreditTypeId: string;
  /** Of the line keys that are explained; everything else may be missing. */
  readonly usage: readonly MeteredUsage[];
  /** How many events match, as series like `usage`. */
  readonly events: readonly MeteredUsage[];
}

/** Null for a line that the terms do not give. */
export type UsageExplainer = (line: UsageInvoiceLine) => UsageExplanation | null;

export function createUsageExplainer(input: UsageExplanationInput): UsageExplainer {
  const { period, products, usageFilters, fiatCreditTypeId } = input;
  const overrides = indexOverrides(input.overrides);
  const usage = indexUsage(input.usage, period);
  const events = indexUsage(input.events, period);
  const byId = new Map(products.map((one) => [one.product.id, one]));
  return (line) => {
    const onCard = byId.get(line.productId);
    if (onCard === undefined) return null;
    const run = counterRuns(onCard.product, period, usageFilters).find(
      ({ interval: { start, end } }) => start <= line.interval.start && line.interval.start < end,
    );
    const key = run && keyOf(run, line, usage);
    if (run === undefined || key === undefined) return null;
    const priced = { product: onCard.product, fiatCreditTypeId, billingFrequency: null, ...key };
    const segment = segmentsOf(priced, onCard.rates, overrides, period).find(
      ({ interval }) => interval.start === line.interval.start,
    );
    if (segment === undefined || segment.terms === null) return null;
    const eventsOfKey = keyOf(run, line, events);
    const explained = explainUsage(segment, { run, key, eventsOfKey, countedFrom: period.countedFrom });
    return explanationOf(line, segment, explained, overridesOfKeyAt(overrides, priced, segment));
  };
}

function overridesOfKeyAt(
  overrides: OverrideIndex,
  key: Parameters<typeof overridesOfKey>[1],
  { interval }: Segment,
) {
  return overridesOfKey(overrides, key).decisionAt(interval.start);
}

function keyOf(run: CounterRun, line: UsageInvoiceLine, usage: UsageIndex): LineKey | undefined {
  const wanted = [line.pricingGroupValues, line.presentationGroupValues].map(groupValuesKey).join();
  return lineKeys(run, usage).find(
    (key) => [key.pricingGroupValues, key.presentationGroupValues].map(groupValuesKey).join() === wanted,
  );
}

interface KeyOfRun {
  readonly run: CounterRun;
  readonly key: LineKey;
  readonly eventsOfKey: LineKey | undefined;
  readonly countedFrom: Instant;
}

function explainUsage(
  { interval, piece }: Segment,
  { run, key, eventsOfKey, countedFrom }: KeyOfRun,
): ExplainedUsage | null {
  const index = key.pieces.findIndex((one) => one.interval.start === piece.interval.start);
  const span = run.spans[index];
  if (span === undefined) return null;
  const events = eventsOfKey?.pieces[index]?.series;
  const carried = valueAtStartOf(key, index);
  const valueAt = (at: Instant) =>
    carried.plus(cumulativeAt(piece.series, at)).minus(cumulativeAt(piece.series, piece.interval.start));
  const movement = movementOf({ interval, piece });
  const counter = piece.positionOf(cumulativeAt(piece.series, piece.interval.start));
  return {
    version: span.version,
    need: span.need,
    countedFrom: key.pieces[0]?.interval.start ?? countedFrom,
    eventCount: events === undefined ? ZERO : difference(events, interval),
    valueAtStart: valueAt(interval.start),
    valueAtEnd: valueAt(interval.end),
    continued: index === 0 ? null : { at: piece.interval.start, value: carried, counter },
    counterAtStart: movement.from,
    counterAtEnd: movement.to,
  };
}

/** The value with which a piece of a counter begins: each metric continues from that of the one before. */
function valueAtStartOf({ pieces }: LineKey, index: number): Decimal {
  return pieces
    .slice(0, index)
    .reduce((value, { series, interval }) => value.plus(difference(series, interval)), ZERO);
}

function difference(series: UsageSeries, { start, end }: { readonly start: Instant; readonly end: Instant }) {
  return cumulativeAt(series, end).minus(cumulativeAt(series, start));
}

function explanationOf(
  line: UsageInvoiceLine,
  { interval, terms }: Segment,
  usage: ExplainedUsage | null,
  decision: Parameters<typeof explainPrice>[1],
): UsageExplanation | null {
  if (usage === null || terms === null) return null;
  const price = explainPrice(terms, decision, line.tier?.level ?? null);
  const { counterAtStart: from, counterAtEnd: to } = usage;
  const slices = walkBands(priceBands(terms.rate), from, to);
  const quantity = slices.find(({ band }) => band.level === price.band.level)?.quantity ?? ZERO;
  const unitPrice = price.band.price;
  return {
    kind: 'usage',
    usage,
    price,
    formula: [
      ...usageSteps(usage, interval),
      tierStep(price.band, from, to, quantity),
      priceStep(price),
      totalStep(quantity, unitPrice),
    ],
    recomputed: { quantity, unitPrice, total: quantity.times(unitPrice) },
  };
}
