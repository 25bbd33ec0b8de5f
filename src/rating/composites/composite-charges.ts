/**
 * Computes the charges of composite products hour by hour, in the order of their dependencies.
 *
 * The base of a composite is a counter, like the quantity of usage: the cumulative amount of the charges it counts, one
 * counter per pricing unit. Its charge in an hour is the walk through its percentages from the counter at the hour's
 * start to the counter at its end, so hours add up to lines.
 */
import type { CompositeProduct } from '../../core/catalogue.ts';
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { UsageStep } from '../../core/usage-series.ts';
import type { PayerTerms, TermsSpan } from '../rates/line-terms.ts';
import { hasVolumePrices, walkBands } from '../rates/tiers.ts';
import { type CountingComposite, type CountingStretch, stretchAt } from './composite-parts.ts';
import type { HourlySpend, Spend } from './hourly-spend.ts';
import { type PercentageSpan, percentageAt } from './percentage-spans.ts';
import { VolumeBase } from './volume-base.ts';

/** A composite to charge. */
export interface ChargedComposite {
  readonly product: CompositeProduct;
  /** Spans of the whole counted time. */
  readonly spans: readonly PercentageSpan[];
  /** When its minimum is due: one window for each invoice on which it is charged, ascending. */
  readonly minimumsDue: readonly MinimumDue[];
  /** When the invoice begins; time before it is on an earlier invoice of the billing period. */
  readonly billedFrom: Instant;
  /** The terms in an interval for charges that a balance pays. */
  readonly termsFor: (payer: PayerTerms, within: Interval) => readonly TermsSpan[];
}

export interface MinimumDue {
  readonly span: PercentageSpan;
  /** The last window of the span. */
  readonly window: Interval;
}

/** The amount that the minimum adds to the percentages, in the currency. Negative if it reverses an earlier one. */
interface MinimumCharge extends MinimumDue {
  readonly amount: Decimal;
}

/** The counted usage of a composite, and its charges besides its percentages. */
export interface CompositeCharge {
  /** The cumulative base by pricing unit. */
  readonly bases: ReadonlyMap<string, readonly UsageStep[]>;
  readonly minimums: readonly MinimumCharge[];
}

interface ChargingInput {
  readonly composites: readonly ChargedComposite[];
  readonly stretches: readonly CountingStretch[];
  /** Includes every window in which a minimum is due. Charges of composites are added. */
  readonly hours: readonly HourlySpend[];
  readonly fiatCreditTypeId: string;
  /** The value of one unit of a pricing unit in the currency. */
  readonly worthOf: (creditTypeId: string) => Decimal;
}

interface Counter {
  position: Decimal;
  readonly steps: UsageStep[];
  readonly volume: VolumeBase;
}

/** A composite while it is being charged. */
interface Running extends ChargedComposite {
  readonly counters: Map<string, Counter>;
  readonly minimums: MinimumCharge[];
  /** Percentages so far, in the currency. */
  charged: Decimal;
  /** Whether the invoice has begun (`billedFrom`). */
  isOnInvoice: boolean;
  /** Whether any counted product had a charge. */
  hasCounted: boolean;
}

/** The charge of every composite, by product. */
export function chargeComposites(input: ChargingInput): Map<string, CompositeCharge> {
  const running = new Map(input.composites.map((one) => [one.product.id, started(one)]));
  for (const hour of input.hours) {
    for (const counting of stretchAt(input.stretches, hour.window.start).order) {
      const one = running.get(counting.compositeId);
      assert(one !== undefined, `composite product ${counting.compositeId} is charged`);
      hour.spends.push(
        ...percentagesOf(one, counting, hour, input),
        ...minimumOf(one, counting, hour, input),
      );
    }
  }
  return new Map([...running].map(([id, one]) => [id, chargeOf(one)]));
}

function started(composite: ChargedComposite): Running {
  return {
    ...composite,
    counters: new Map(),
    minimums: [],
    charged: ZERO,
    isOnInvoice: false,
    hasCounted: false,
  };
}

function chargeOf({ counters, minimums }: Running): CompositeCharge {
  return { bases: new Map([...counters].map(([unit, { steps }]) => [unit, steps])), minimums };
}

/** Advances the counters by the spend of the hour. */
function percentagesOf(
  one: Running,
  counting: CountingComposite,
  { window, spends }: HourlySpend,
  { worthOf }: ChargingInput,
): Spend[] {
  const span = percentageAt(one.spans, window.start);
  const charges: Spend[] = [];
  if (window.start >= one.billedFrom) startInvoice(one);
  for (const [creditTypeId, increment] of countedBy(one, counting, spends)) {
    const counter = one.counters.get(creditTypeId) ?? { position: ZERO, steps: [], volume: new VolumeBase() };
    one.counters.set(creditTypeId, counter);
    const from = counter.position;
    counter.position = from.plus(increment);
    counter.steps.push({ at: window.end, value: counter.position });
    const repriced = counter.volume.add(span, increment, counter.position);
    if (span === undefined && repriced.eq(ZERO)) continue;
    const amount = repriced.plus(graduatedAmount(span, from, counter.position));
    one.charged = one.charged.plus(amount.times(worthOf(creditTypeId)));
    charges.push({ productId: one.product.id, creditTypeId, amount, isFree: false });
  }
  return charges;
}

/** Once: what an earlier invoice of the billing period charged stays as it is. */
function startInvoice(one: Running): void {
  if (one.isOnInvoice) return;
  one.isOnInvoice = true;
  for (const { volume } of one.counters.values()) volume.startInvoice();
}

function graduatedAmount(span: PercentageSpan | undefined, from: Decimal, to: Decimal): Decimal {
  if (span === undefined || hasVolumePrices(span.rate)) return ZERO;
  return sum(walkBands(span.bands, from, to).map((slice) => slice.amount));
}

/** The change of the base by pricing unit. */
function countedBy(
  one: Running,
  { parts, excludesFreeUsage }: CountingComposite,
  spends: readonly Spend[],
): [string, Decimal][] {
  const increments = new Map<string, Decimal>();
  for (const { productId, creditTypeId, amount, isFree } of spends) {
    if (!parts.has(productId) || (excludesFreeUsage && isFree)) continue;
    if (!amount.eq(ZERO)) one.hasCounted = true;
    increments.set(creditTypeId, (increments.get(creditTypeId) ?? ZERO).plus(amount));
  }
  return [...increments].filter(([, increment]) => !increment.eq(ZERO));
}

/**
 * Raises the charge of the billing period so far to the minimum of the current rate. Amounts that an earlier invoice of
 * the period charged for a minimum count towards it.
 */
function minimumOf(
  one: Running,
  { excludesFreeUsage }: CountingComposite,
  { window }: HourlySpend,
  { fiatCreditTypeId }: ChargingInput,
): Spend[] {
  const due = one.minimumsDue.find((minimum) => minimum.window.start === window.start);
  if (due === undefined) return [];
  const wanted = shortfall(one, due.span, excludesFreeUsage);
  const amount = wanted.minus(sum(one.minimums.map((minimum) => minimum.amount)));
  if (amount.eq(ZERO)) return [];
  one.minimums.push({ ...due, amount });
  return [{ productId: one.product.id, creditTypeId: fiatCreditTypeId, amount, isFree: false }];
}

/** A composite that excludes free usage has no minimum if nothing else was used. */
function shortfall(
  { charged, hasCounted }: Running,
  { rate: { minimum } }: PercentageSpan,
  excludesFreeUsage: boolean,
): Decimal {
  if (minimum === null || charged.gte(minimum) || (excludesFreeUsage && !hasCounted)) return ZERO;
  return minimum.minus(charged);
}
