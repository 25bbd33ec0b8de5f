/**
 * Which rate is in force when: from the rates as they were added to non-overlapping segments.
 *
 * One identity is (rate card, product, exact pricing group values). Its rates are taken in the order in
 * which they were added (docs/rating.md, "Rates over time"):
 * - a rate with an end holds for exactly its range; after it, what it interrupted goes on;
 * - an open-ended rate holds until the next rate that starts later;
 * - a rate with the same start replaces the earlier one, except that an open-ended rate goes on after a
 *   bounded one.
 */
import type { Rate, RateEntry } from '../core/catalogue.ts';
import { groupBy } from '../core/group-by.ts';
import { contains, type Instant, type Interval, intersect, type OpenInterval } from '../core/time.ts';
import { type GroupValues, groupValuesKey } from './group-values.ts';

/** A stretch of time in which one entry decides. */
export interface EffectiveRate {
  readonly interval: OpenInterval;
  readonly entry: RateEntry;
}

/** The effective segments of one product, by pricing group values. */
export interface RateBook {
  readonly byGroupValues: ReadonlyMap<string, readonly EffectiveRate[]>;
}

/** A stretch of a period with the entry that prices it; null where nothing does. */
export interface RateSpan {
  readonly interval: Interval;
  readonly entry: RateEntry | null;
}

const NO_GROUP_VALUES = groupValuesKey({});

/** The effective segments of the entries of one identity, ascending and without overlap. */
export function effectiveRates(entries: readonly RateEntry[]): EffectiveRate[] {
  const added = withoutReplaced(entries);
  const segments: EffectiveRate[] = [];
  for (const interval of elementaryIntervals(added)) {
    const entry = winner(added, interval.start);
    if (entry === null) continue;
    const previous = segments.at(-1);
    if (previous?.entry === entry && previous.interval.end === interval.start) {
      segments[segments.length - 1] = {
        entry,
        interval: { start: previous.interval.start, end: interval.end },
      };
    } else {
      segments.push({ entry, interval });
    }
  }
  return segments;
}

/** Prepares the lookups of one product. */
export function rateBook(entries: readonly RateEntry[]): RateBook {
  const identities = groupBy(entries, (entry) => groupValuesKey(entry.pricingGroupValues));
  return {
    byGroupValues: new Map([...identities].map(([key, members]) => [key, effectiveRates(members)])),
  };
}

/**
 * The entry in force at `at` for usage with these pricing group values: the one with equal values on all
 * keys, else the one without group values, else null (unpriced).
 */
export function rateAt(book: RateBook, pricingGroupValues: GroupValues, at: Instant): RateEntry | null {
  return find(book, groupValuesKey(pricingGroupValues), at) ?? find(book, NO_GROUP_VALUES, at);
}

/**
 * Cuts `interval` wherever the terms for these pricing group values change. Neighbours with the same
 * rate, entitlement and pricing unit are one span, even where two entries stand behind it.
 */
export function rateSpans(book: RateBook, pricingGroupValues: GroupValues, interval: Interval): RateSpan[] {
  const exact = book.byGroupValues.get(groupValuesKey(pricingGroupValues)) ?? [];
  const fallback = book.byGroupValues.get(NO_GROUP_VALUES) ?? [];
  const cuts = new Set([interval.start]);
  for (const segment of [...exact, ...fallback]) {
    const part = intersect(interval, segment.interval);
    if (part === null) continue;
    cuts.add(part.start);
    if (part.end < interval.end) cuts.add(part.end);
  }
  const starts = [...cuts].sort((a, b) => a - b);
  const spans: RateSpan[] = [];
  for (const [index, start] of starts.entries()) {
    const end = starts[index + 1] ?? interval.end;
    const entry = rateAt(book, pricingGroupValues, start);
    const previous = spans.at(-1);
    if (previous !== undefined && sameTerms(previous.entry, entry)) {
      spans[spans.length - 1] = { entry, interval: { start: previous.interval.start, end } };
    } else {
      spans.push({ entry, interval: { start, end } });
    }
  }
  return spans;
}

/** In order of addition, without those that a later one with the same start replaces. */
function withoutReplaced(entries: readonly RateEntry[]): RateEntry[] {
  const added = [...entries].sort((a, b) => a.sequence - b.sequence);
  return added.filter(
    (entry, index) =>
      !added
        .slice(index + 1)
        .some(
          (later) =>
            later.startingAt === entry.startingAt &&
            (later.endingBefore === null || entry.endingBefore !== null),
        ),
  );
}

/** Stretches of time in which no entry starts or ends; the last one has no end. */
function elementaryIntervals(entries: readonly RateEntry[]): OpenInterval[] {
  const instants = new Set<Instant>();
  for (const { startingAt, endingBefore } of entries) {
    instants.add(startingAt);
    if (endingBefore !== null) instants.add(endingBefore);
  }
  const ascending = [...instants].sort((a, b) => a - b);
  return ascending.map((start, index) => ({ start, end: ascending[index + 1] ?? null }));
}

/** Walks the entries in order of addition and keeps the one that decides at `at`. */
function winner(added: readonly RateEntry[], at: Instant): RateEntry | null {
  let current: RateEntry | null = null;
  for (const entry of added) {
    if (!contains({ start: entry.startingAt, end: entry.endingBefore }, at)) continue;
    const takesOver =
      entry.endingBefore !== null || current === null || current.startingAt <= entry.startingAt;
    if (takesOver) current = entry;
  }
  return current;
}

function find(book: RateBook, key: string, at: Instant): RateEntry | null {
  return book.byGroupValues.get(key)?.find(({ interval }) => contains(interval, at))?.entry ?? null;
}

function sameTerms(a: RateEntry | null, b: RateEntry | null): boolean {
  if (a === null || b === null) return a === b;
  return a.entitled === b.entitled && a.creditTypeId === b.creditTypeId && sameRate(a.rate, b.rate);
}

function sameRate(a: Rate, b: Rate): boolean {
  if (a.rateType === 'FLAT') return b.rateType === 'FLAT' && a.price.eq(b.price);
  if (b.rateType !== 'TIERED' || a.tiers.length !== b.tiers.length) return false;
  return a.tiers.every((tier, index) => {
    const other = b.tiers[index];
    if (other === undefined || !tier.price.eq(other.price)) return false;
    return tier.size === null || other.size === null ? tier.size === other.size : tier.size.eq(other.size);
  });
}
