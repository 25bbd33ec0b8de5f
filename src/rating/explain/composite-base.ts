/**
 * The base of COMPOSITE products: the hours of the lines of an invoice as it would be without balances. Pure. Prices
 * and payers are not considered here (`explain-composite.ts`).
 */
import type { Product } from '../../core/catalogue.ts';
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import {
  type BilledPeriod,
  type InvoiceLine,
  isSubscriptionLine,
  isUsageLine,
  type LineWindow,
  type UsageInvoiceLine,
} from '../../core/invoice.ts';
import { contains, type Instant, type Interval } from '../../core/time.ts';
import type { UsageStep } from '../../core/usage-series.ts';
import { type CountingStretch, countingStretches, stretchAt } from '../composites/composite-parts.ts';
import type { CompositeOnCard, ProductOnCard } from '../lines/types.ts';
import { versionAt } from '../quantities/product-spans.ts';
import { lineKeyText } from '../usage/usage-claims.ts';
import type { CountedLine, ExplainedBase } from './explanation.ts';

export interface CompositeBaseInput {
  readonly period: BilledPeriod;
  readonly products: readonly ProductOnCard[];
  /** Products of subscriptions whose charges composites count. */
  readonly subscribed: readonly Product[];
  readonly composites: readonly CompositeOnCard[];
  /** All lines of the invoice. */
  readonly lines: readonly InvoiceLine[];
  /** How many lines of a consolidated invoice are before those of this invoice. */
  readonly before: number;
  /** The invoice as it would be without balances: the base of composites. */
  readonly base: UnpaidInvoice;
}

interface UnpaidInvoice {
  readonly lines: readonly InvoiceLine[];
  /** Hours of all lines. */
  readonly hours: readonly LineWindow[];
}

export interface CompositeBase {
  /** The base of one line of the composite, with the amounts by counted line. */
  explain(composite: CompositeOnCard, line: UsageInvoiceLine): ExplainedBase;
  /** The base hour by hour, cumulative. */
  steps(composite: CompositeOnCard, line: UsageInvoiceLine): UsageStep[];
}

interface Context extends CompositeBaseInput {
  readonly stretches: readonly CountingStretch[];
  readonly hoursOf: ReadonlyMap<number, readonly LineWindow[]>;
  /** Usage products whose charges on the invoice total 0. */
  readonly free: ReadonlySet<string>;
  /** The position on the invoice of each line of the base. */
  readonly positions: readonly number[];
}

export function createCompositeBase(input: CompositeBaseInput): CompositeBase {
  const { period, products, subscribed, composites, lines, base } = input;
  const context: Context = {
    ...input,
    stretches: countingStretches(
      composites.map(({ product }) => product),
      [...products.map(({ product }) => product), ...subscribed],
      { start: period.countedFrom, end: period.end },
    ),
    hoursOf: groupBy(base.hours, ({ position }) => position),
    free: freeProducts(base.lines),
    positions: base.lines === lines ? [...lines.keys()] : positionsOf(base.lines, lines),
  };
  return {
    explain: (composite, line) => explainBase(composite, line, context),
    steps: (composite, line) => baseSteps(composite, line, context),
  };
}

function explainBase({ product }: CompositeOnCard, line: UsageInvoiceLine, context: Context): ExplainedBase {
  const { period, positions, before } = context;
  const version = versionAt(product, line.interval.start);
  const inUnit = inUnitOf(line, context);
  const amountsIn = (time: Interval): CountedLine[] =>
    inUnit.flatMap(([position, one]) => {
      const amount = countedAmount(product.id, one, position, time, context);
      if (amount === null) return [];
      return [{ position: before + (positions[position] ?? position), name: one.name, amount }];
    });
  const totalIn = (time: Interval) => sum(amountsIn(time).map(({ amount }) => amount));
  const isWhole = period.countedFrom === period.start;
  return {
    productIds: version.compositeProductIds,
    tags: version.compositeTags,
    includesComposites: version.includeCompositeSpend,
    excludesFreeUsage: version.excludeFreeUsage,
    counted: amountsIn(line.interval),
    baseAtStart: isWhole ? totalIn({ start: period.start, end: line.interval.start }) : null,
    baseAtEnd: isWhole ? totalIn({ start: period.start, end: line.interval.end }) : null,
  };
}

/** The base hour by hour, cumulative. */
function baseSteps({ product }: CompositeOnCard, line: UsageInvoiceLine, context: Context): UsageStep[] {
  const byEnd = new Map<Instant, Decimal>();
  for (const [position, one] of inUnitOf(line, context)) {
    for (const { window, total } of countedHours(product.id, one, position, context)) {
      byEnd.set(window.end, (byEnd.get(window.end) ?? ZERO).plus(total));
    }
  }
  let value = ZERO;
  return [...byEnd]
    .sort(([a], [b]) => a - b)
    .map(([at, amount]) => {
      value = value.plus(amount);
      return { at, value };
    });
}

/** The part of a line that the composite counts in a stretch of time; null if it counts none of it. */
function countedAmount(
  compositeId: string,
  line: InvoiceLine,
  position: number,
  time: Interval,
  context: Context,
): Decimal | null {
  const hours = countedHours(compositeId, line, position, context).filter(({ window }) =>
    contains(time, window.start),
  );
  return hours.length === 0 ? null : sum(hours.map(({ total }) => total));
}

/** The hours of a line of the base that the composite counts. */
function countedHours(
  compositeId: string,
  line: InvoiceLine,
  position: number,
  { hoursOf, stretches, free }: Context,
): LineWindow[] {
  if (!isUsageLine(line) && !isSubscriptionLine(line)) return [];
  const counts = (at: Instant) => {
    const counting = stretchAt(stretches, at).order.find((one) => one.compositeId === compositeId);
    if (counting === undefined || !counting.parts.has(line.productId)) return false;
    return !(counting.excludesFreeUsage && free.has(line.productId));
  };
  return (hoursOf.get(position) ?? []).filter(({ window }) => counts(window.start));
}

/** The lines of the base that a percentage in the unit of the line can count. */
function inUnitOf({ creditTypeId }: UsageInvoiceLine, { base }: Context): [number, InvoiceLine][] {
  return [...base.lines.entries()].filter(
    ([, one]) => one.creditTypeId === creditTypeId && one.type !== 'cpu_conversion',
  );
}

/** The positions on the invoice of the lines without balances: the first line of their key in their time. */
function positionsOf(base: readonly InvoiceLine[], lines: readonly InvoiceLine[]): number[] {
  const keyOf = (line: InvoiceLine) => {
    if (isSubscriptionLine(line)) return `${line.type} ${line.scheduleItemId}`;
    return isUsageLine(line)
      ? `${line.type} ${lineKeyText(line)} ${line.productType === 'COMPOSITE' ? line.creditTypeId : ''}`
      : line.type;
  };
  const byKey = groupBy([...lines.entries()], ([, line]) => keyOf(line));
  return base.map((line) => {
    const own = byKey.get(keyOf(line)) ?? [];
    const found = own.find(([, { interval }]) => contains(line.interval, interval.start)) ?? own[0];
    return found?.[0] ?? 0;
  });
}

/** Usage products whose lines add up to zero in every pricing unit. */
function freeProducts(lines: readonly InvoiceLine[]): Set<string> {
  const byProduct = groupBy(
    lines.filter(isUsageLine).filter(({ productType }) => productType === 'USAGE'),
    ({ productId }) => productId,
  );
  const isFree = (own: readonly InvoiceLine[]) =>
    [...groupBy(own, ({ creditTypeId }) => creditTypeId).values()].every((ofUnit) =>
      sum(ofUnit.map(({ total }) => total)).eq(ZERO),
    );
  return new Set([...byProduct].filter(([, own]) => isFree(own)).map(([id]) => id));
}
