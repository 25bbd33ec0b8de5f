/** Explains the lines of USAGE products from the terms and the usage of their line keys. Pure. */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import {
  type BilledPeriod,
  type InvoiceLine,
  isUsageLine,
  type UsageInvoiceLine,
} from '../../core/invoice.ts';
import type { OfferedBalance } from '../../core/invoice-balances.ts';
import type { UsageFilter } from '../../core/terms/contract.ts';
import { contains, type Instant } from '../../core/time.ts';
import { cumulativeAt, type UsageSeries } from '../../core/usage-series.ts';
import { type ChargedKey, type ChargingContext, chargedKey, claimsOfKey } from '../invoices/charged-keys.ts';
import type { ProductOnCard } from '../lines/types.ts';
import { groupValuesKey } from '../quantities/group-values.ts';
import { type CounterRun, counterRuns } from '../quantities/product-spans.ts';
import type { MeteredUsage } from '../quantities/usage-need.ts';
import { overridesOfKey } from '../rates/line-terms.ts';
import { indexOverrides } from '../rates/override-index.ts';
import type { ContractOverrides } from '../rates/overrides.ts';
import type { RateBook } from '../rates/rate-schedule.ts';
import { indexUsage, type LineKey, lineKeys, type UsageIndex } from '../usage/line-key.ts';
import { type CounterSegment, movementOf } from '../usage/segments.ts';
import { lineKeyText } from '../usage/usage-claims.ts';
import { explainPrice } from './explain-price.ts';
import {
  claimsIn,
  isPaidByBalance,
  payerOf,
  priceOfPayer,
  type SharedCounter,
  sharedResult,
  shareOf,
  tierResult,
} from './explain-share.ts';
import type { ExplainedUsage, UsageExplanation } from './explanation.ts';
import { priceStep, usageSteps } from './formula.ts';

export interface UsageExplanationInput {
  readonly period: BilledPeriod;
  readonly products: readonly ProductOnCard[];
  readonly usageFilters: readonly UsageFilter[];
  readonly overrides: ContractOverrides;
  readonly fiatCreditTypeId: string;
  /** Usage of the explained line keys; other usage may be missing. */
  readonly usage: readonly MeteredUsage[];
  /** The number of matching events, as series like `usage`. */
  readonly events: readonly MeteredUsage[];
  /** All lines of the invoice. */
  readonly lines: readonly InvoiceLine[];
  /** The balances offered to the invoice, in burn-down order. */
  readonly balances: readonly OfferedBalance[];
}

/** Null for a line that the terms do not produce. */
export type UsageExplainer = (line: UsageInvoiceLine) => UsageExplanation | null;

interface Context extends ChargingContext, Pick<UsageExplanationInput, 'lines' | 'balances'> {
  /** Covered lines by line key. */
  readonly paidOf: ReadonlyMap<string, SharedCounter['paid']>;
}

/** A line with the segment of its line key that it charges, as rating has priced it. */
interface PricedLine {
  readonly line: UsageInvoiceLine;
  readonly charged: ChargedKey;
  readonly billed: ChargedKey['billed'][number];
  readonly rates: RateBook;
}

export function createUsageExplainer(input: UsageExplanationInput): UsageExplainer {
  const { period, products, usageFilters, fiatCreditTypeId, lines, balances } = input;
  const overrides = indexOverrides(input.overrides);
  const usage = indexUsage(input.usage, period);
  const events = indexUsage(input.events, period);
  const byId = new Map(products.map((one) => [one.product.id, one]));
  const covered = lines.filter(isUsageLine).filter(isPaidByBalance);
  const context: Context = {
    ...{ lines, balances, overrides, fiatCreditTypeId, billed: period },
    claimants: { buckets: balances, hasCommitSpecificPrices: overrides.hasCommitSpecific },
    paidOf: groupBy(covered, lineKeyText),
  };
  return (line) => {
    const onCard = byId.get(line.productId);
    if (onCard === undefined) return null;
    const { product, rates } = onCard;
    const run = counterRuns(product, period, usageFilters).find(({ interval }) =>
      contains(interval, line.interval.start),
    );
    const key = run && keyOf(run, line, usage);
    if (run === undefined || key === undefined) return null;
    const charged = chargedKey(product, key, rates, context);
    const billed = charged.billed.find(({ segment }) => contains(segment.interval, line.interval.start));
    if (billed === undefined) return null;
    const eventsOfKey = keyOf(run, line, events);
    // If balances pay, a line may be a part of its segment.
    const part = { ...billed.segment, interval: line.interval };
    const explained = explainUsage(part, { run, key, eventsOfKey, countedFrom: period.countedFrom });
    return explained && explanationOf({ line, charged, billed, rates }, explained, context);
  };
}

function keyOf(run: CounterRun, line: UsageInvoiceLine, usage: UsageIndex): LineKey | undefined {
  const wanted = [line.pricingGroupValues, line.presentationGroupValues].map(groupValuesKey).join();
  for (const key of lineKeys(run, usage)) {
    if ([key.pricingGroupValues, key.presentationGroupValues].map(groupValuesKey).join() === wanted)
      return key;
  }
  return undefined;
}

interface KeyOfRun {
  readonly run: CounterRun;
  readonly key: LineKey;
  readonly eventsOfKey: LineKey | undefined;
  readonly countedFrom: Instant;
}

function explainUsage(
  { interval, piece }: CounterSegment,
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

/** The initial value of a piece of a counter: each metric continues from the value of the one before. */
function valueAtStartOf({ pieces }: LineKey, index: number): Decimal {
  return pieces
    .slice(0, index)
    .reduce((value, { series, interval }) => value.plus(difference(series, interval)), ZERO);
}

function difference(series: UsageSeries, { start, end }: { readonly start: Instant; readonly end: Instant }) {
  return cumulativeAt(series, end).minus(cumulativeAt(series, start));
}

function explanationOf(one: PricedLine, usage: ExplainedUsage, context: Context): UsageExplanation | null {
  const { line, charged, billed, rates } = one;
  const { segment, terms, bands } = billed;
  const level = line.tier?.level ?? null;
  const inSegment = (context.paidOf.get(charged.text) ?? []).filter(({ interval }) =>
    contains(segment.interval, interval.start),
  );
  const shared = inSegment.length === 0 ? null : sharedCounter(one, usage, inSegment, context);
  const payer = payerOf(line, context.lines, context.balances);
  if (line.payer !== null && (shared === null || payer === null)) return null;
  const price =
    payer === null || shared === null
      ? explainPrice(
          terms,
          overridesOfKey(context.overrides, charged.priced).decisionAt(segment.interval.start),
          level,
        )
      : priceOfPayer({ line, priced: charged.priced, rates, overrides: context.overrides }, shared, payer);
  if (price === null) return null;
  const steps = usageSteps(usage, line.interval);
  if (shared !== null) {
    const share = shareOf(shared, payer, level ?? 1);
    return {
      kind: 'usage',
      usage,
      price,
      ...sharedResult(share, price.band.price, steps, [priceStep(price)]),
    };
  }
  const { counterAtStart: from, counterAtEnd: to } = usage;
  return { kind: 'usage', usage, price, share: null, ...tierResult(bands, { from, to }, price, steps) };
}

function sharedCounter(
  { line, charged, billed, rates }: PricedLine,
  { counterAtStart: from, counterAtEnd: to }: ExplainedUsage,
  paid: SharedCounter['paid'],
  context: Context,
): SharedCounter {
  return {
    ...{ from, to, list: billed.bands },
    claims: claimsIn(line.interval, claimsOfKey({ ...charged, billed: [billed] }, rates, context)),
    paid: paid.filter(({ interval }) => interval.start === line.interval.start),
  };
}
