/**
 * The terms of a line key over time: the rate after overrides, and whether the usage is entitled. Spans are cut only
 * when one of the two changes.
 */
import type { BillingFrequency, Product, ProductVersion, Rate, RateEntry } from '../../core/catalogue.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { GroupValues } from '../quantities/group-values.ts';
import { versionAt } from '../quantities/product-spans.ts';
import { NO_SUBJECT_OVERRIDES, type OverrideIndex, type SubjectOverrides } from './override-index.ts';
import type { PayingBalance, PricedSubject } from './override-targets.ts';
import { overriddenRate } from './overrides.ts';
import { type RateBook, rateAt, rateSpans, sameCommitTerms, sameRate } from './rate-schedule.ts';

/** The price of a line key in one stretch of time. */
export interface LineTerms {
  /** The rate of the rate card; null if only an OVERWRITE sets a price. */
  readonly listed: RateEntry | null;
  /** The rate that is charged: the listed rate after overrides. */
  readonly rate: Rate;
  readonly creditTypeId: string;
  readonly entitled: boolean;
}

export interface TermsSpan {
  readonly interval: Interval;
  /** Null if neither a rate nor an OVERWRITE covers the usage. */
  readonly terms: LineTerms | null;
  /** Whether the usage is entitled. Without a rate: false if the contract excludes the usage. */
  readonly entitled: boolean;
}

/** The usage that is priced: a product with pricing and presentation values. */
export interface PricedKey {
  readonly product: Product;
  /** The currency of the card, the unit of prices that name none. */
  readonly fiatCreditTypeId: string;
  readonly pricingGroupValues: GroupValues;
  readonly presentationGroupValues: GroupValues;
  /** The frequency of subscriptions. */
  readonly billingFrequency: BillingFrequency | null;
}

/** The attributes of a commit or credit that decide the price of usage it pays for. */
export interface PayerTerms extends Omit<PayingBalance, 'usesCommitRate'> {
  readonly rateType: 'LIST_RATE' | 'COMMIT_RATE';
}

/**
 * The overrides of a key over time. They depend on the tags of its product, so they may change with its version.
 */
export type KeyOverrides = SubjectOverrides;

/**
 * The terms over `interval`, ascending and without gaps. Adjacent spans differ. `payer`: the balance that pays for the
 * usage. For a payer at commit rates, these are the card's commit rate, if it has one, under overrides of commit rates
 * only.
 */
export function termsSpans(
  book: RateBook,
  contract: OverrideIndex,
  key: PricedKey,
  interval: Interval,
  payer: PayerTerms | null = null,
): TermsSpan[] {
  const overridesFor = payerOverrides(contract, key, payer);
  const usesCommitRates = payer?.rateType === 'COMMIT_RATE';
  const spans: TermsSpan[] = [];
  for (const span of rateSpans(
    book,
    key.pricingGroupValues,
    interval,
    usesCommitRates ? sameCommitTerms : undefined,
  )) {
    const commitRate = usesCommitRates ? (span.entry?.commitRate ?? null) : null;
    const entry =
      commitRate === null || span.entry === null ? span.entry : { ...span.entry, rate: commitRate };
    const overrides = overridesFor(commitRate !== null);
    for (const piece of cutAtChanges(span.interval, overrides)) {
      addSpan(spans, spanAt(overrides, key, piece, entry));
    }
  }
  return spans;
}

/** Adds a span, or extends the last one if the terms stay the same. */
function addSpan(spans: TermsSpan[], current: TermsSpan): void {
  const previous = spans.at(-1);
  if (previous === undefined || !sameSpans(previous, current)) {
    spans.push(current);
    return;
  }
  const interval = { start: previous.interval.start, end: current.interval.end };
  spans[spans.length - 1] = { ...previous, interval };
}

/** The overrides for list rates and for commit rates, each looked up on demand. */
function payerOverrides(
  contract: OverrideIndex,
  key: PricedKey,
  payer: PayerTerms | null,
): (usesCommitRate: boolean) => KeyOverrides {
  const known = new Map<boolean, KeyOverrides>();
  return (usesCommitRate) => {
    const found =
      known.get(usesCommitRate) ??
      overridesOfKey(contract, key, payer === null ? null : { ...payer, usesCommitRate });
    known.set(usesCommitRate, found);
    return found;
  };
}

export function overridesOfKey(
  contract: OverrideIndex,
  key: PricedKey,
  payer: PayingBalance | null = null,
): KeyOverrides {
  if (contract.isEmpty) return NO_SUBJECT_OVERRIDES;
  const { product } = key;
  const inForce = new Map<ProductVersion, SubjectOverrides>();
  const overridesAt = (at: Instant) => {
    const version = versionAt(product, at);
    const known = inForce.get(version) ?? contract.of(subjectOf(key, version, payer));
    inForce.set(version, known);
    return known;
  };
  const versionStarts = product.versions.flatMap(({ startingAt }) => startingAt ?? []);
  return {
    decisionAt: (at) => overridesAt(at).decisionAt(at),
    nextChange(at) {
      const next = overridesAt(at).nextChange(at);
      const version = versionStarts.find((start) => at < start);
      return next === null || version === undefined ? (version ?? next) : Math.min(next, version);
    },
    previousChange(at) {
      const previous = overridesAt(at).previousChange(at);
      const version = versionStarts.findLast((start) => start <= at);
      return previous === null || version === undefined ? (version ?? previous) : Math.max(previous, version);
    },
  };
}

/** A stretch in which nothing changes. */
function spanAt(
  overrides: KeyOverrides,
  key: PricedKey,
  interval: Interval,
  entry: RateEntry | null,
): TermsSpan {
  const terms = termsAt(overrides, key, interval.start, entry);
  const entitled = terms?.entitled ?? overrides.decisionAt(interval.start).entitled ?? true;
  return { interval, terms, entitled };
}

/**
 * The terms at one instant, given the card's rate for the key. Without a rate, an OVERWRITE may set a price,
 * and the usage is entitled unless the contract excludes it.
 */
export function termsAt(
  overrides: KeyOverrides,
  key: PricedKey,
  at: Instant,
  listed: RateEntry | null,
): LineTerms | null {
  const decision = overrides.decisionAt(at);
  const overridden = overriddenRate(decision, listed?.rate ?? null);
  const rate = overridden?.rate ?? listed?.rate;
  if (rate === undefined) return null;
  return {
    listed,
    rate,
    creditTypeId: overridden?.creditTypeId ?? listed?.creditTypeId ?? key.fiatCreditTypeId,
    entitled: decision.entitled ?? listed?.entitled ?? true,
  };
}

/** The terms of a subscription at an instant, for units paid by the customer or by `payer`. */
export function subscriptionTermsAt(
  book: RateBook,
  contract: OverrideIndex,
  key: PricedKey,
  at: Instant,
  payer: PayerTerms | null,
): LineTerms | null {
  // Subscriptions have no commit rates.
  const overrides = overridesOfKey(
    contract,
    key,
    payer === null ? null : { ...payer, usesCommitRate: false },
  );
  return termsAt(overrides, key, at, rateAt(book, {}, at, key.billingFrequency));
}

/** Whether it has a price at an instant, or an override states that it is not entitled. */
export function isSubscriptionDecidedAt(
  book: RateBook,
  contract: OverrideIndex,
  key: PricedKey,
  at: Instant,
): boolean {
  if (subscriptionTermsAt(book, contract, key, at, null) !== null) return true;
  return overridesOfKey(contract, key, null).decisionAt(at).entitled === false;
}

function subjectOf(
  { product, pricingGroupValues, presentationGroupValues, billingFrequency }: PricedKey,
  { tags }: ProductVersion,
  payer: PayingBalance | null,
): PricedSubject {
  return {
    productId: product.id,
    productTags: tags,
    pricingGroupValues,
    presentationGroupValues,
    billingFrequency,
    payer,
  };
}

/** The interval cut wherever the deciding overrides may change. */
function cutAtChanges(interval: Interval, overrides: KeyOverrides): Interval[] {
  const pieces: Interval[] = [];
  let { start } = interval;
  while (start < interval.end) {
    const end = Math.min(overrides.nextChange(start) ?? interval.end, interval.end);
    pieces.push({ start, end });
    start = end;
  }
  return pieces;
}

function sameSpans(a: TermsSpan, b: TermsSpan): boolean {
  return a.entitled === b.entitled && sameTerms(a.terms, b.terms);
}

function sameTerms(a: LineTerms | null, b: LineTerms | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.entitled === b.entitled &&
    a.creditTypeId === b.creditTypeId &&
    sameRate(a.rate, b.rate) &&
    sameListed(a.listed, b.listed)
  );
}

function sameListed(a: RateEntry | null, b: RateEntry | null): boolean {
  return a === null || b === null ? a === b : sameRate(a.rate, b.rate);
}
