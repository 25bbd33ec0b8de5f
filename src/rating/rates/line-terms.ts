/**
 * The terms of a line key over time: the rate after overrides, and whether the usage is entitled. Spans are
 * cut only where one of the two changes.
 */
import type { BillingFrequency, Product, Rate, RateEntry } from '../../core/catalogue.ts';
import { type Instant, type Interval, intersect } from '../../core/time.ts';
import type { GroupValues } from '../usage/group-values.ts';
import { versionAt } from '../usage/product-spans.ts';
import {
  type ContractOverrides,
  entitlementAt,
  overriddenRate,
  overrideInstants,
  type PricedSubject,
} from './overrides.ts';
import { type RateBook, rateSpans, sameRate } from './rate-schedule.ts';

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
}

/** The terms over `interval`, ascending and without gaps. Adjacent spans differ. */
export function termsSpans(
  book: RateBook,
  contract: ContractOverrides,
  key: PricedKey,
  interval: Interval,
): TermsSpan[] {
  const spans: TermsSpan[] = [];
  for (const span of rateSpans(book, key.pricingGroupValues, interval)) {
    for (const piece of cutAt(span.interval, changeInstants(contract, key))) {
      const current = spanAt(contract, key, piece, span.entry);
      const previous = spans.at(-1);
      if (previous !== undefined && sameSpans(previous, current)) {
        spans[spans.length - 1] = {
          ...previous,
          interval: { start: previous.interval.start, end: piece.end },
        };
      } else {
        spans.push(current);
      }
    }
  }
  return spans;
}

/** A stretch in which nothing changes. */
function spanAt(
  contract: ContractOverrides,
  key: PricedKey,
  interval: Interval,
  entry: RateEntry | null,
): TermsSpan {
  const at = interval.start;
  const entitled = entitlementAt(contract, subjectAt(key, at, null), at, entry?.entitled ?? true);
  return { interval, terms: termsAt(contract, key, at, entry), entitled };
}

/**
 * The terms at one instant, given the card's rate for the key. Without a rate, an OVERWRITE may set a price,
 * and the usage is entitled unless the contract excludes it.
 */
export function termsAt(
  contract: ContractOverrides,
  key: PricedKey,
  at: Instant,
  listed: RateEntry,
): LineTerms;
export function termsAt(
  contract: ContractOverrides,
  key: PricedKey,
  at: Instant,
  listed: RateEntry | null,
): LineTerms | null;
export function termsAt(
  contract: ContractOverrides,
  key: PricedKey,
  at: Instant,
  listed: RateEntry | null,
): LineTerms | null {
  if (contract.overrides.length === 0) {
    return (
      listed && { listed, rate: listed.rate, creditTypeId: listed.creditTypeId, entitled: listed.entitled }
    );
  }
  const subject = subjectAt(key, at, listed?.billingFrequency ?? null);
  const overridden = overriddenRate(contract, subject, at, listed?.rate ?? null);
  const rate = overridden?.rate ?? listed?.rate;
  if (rate === undefined) return null;
  return {
    listed,
    rate,
    creditTypeId: overridden?.creditTypeId ?? listed?.creditTypeId ?? key.fiatCreditTypeId,
    entitled: entitlementAt(contract, subject, at, listed?.entitled ?? true),
  };
}

function subjectAt(
  { product, pricingGroupValues, presentationGroupValues }: PricedKey,
  at: Instant,
  billingFrequency: BillingFrequency | null,
): PricedSubject {
  return {
    productId: product.id,
    productTags: versionAt(product, at).tags,
    pricingGroupValues,
    presentationGroupValues,
    billingFrequency,
    payer: null,
  };
}

/** Where an override starts or ends, or the product's tags change. Empty without overrides. */
function changeInstants(contract: ContractOverrides, { product }: PricedKey): Instant[] {
  if (contract.overrides.length === 0) return [];
  return [...overrideInstants(contract), ...product.versions.flatMap(({ startingAt }) => startingAt ?? [])];
}

/** The interval cut at those of the instants that lie inside it. */
function cutAt(interval: Interval, instants: readonly Instant[]): Interval[] {
  const inside = instants.filter((at) => interval.start < at && at < interval.end);
  const starts = [...new Set([interval.start, ...inside])].sort((a, b) => a - b);
  return starts.flatMap(
    (start, index) => intersect({ start, end: starts[index + 1] ?? interval.end }, interval) ?? [],
  );
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
