/**
 * Rates over time: turns rates as added into non-overlapping effective segments.
 *
 * One identity is (rate card, product, exact pricing group values, billing frequency). Its rates apply in the
 * order in which they were added (docs/explanation/rating.md, "Rates over time"):
 * - a rate with an end is in force for exactly its range; afterwards the interrupted rate resumes;
 * - an open-ended rate is in force until the next rate that starts later;
 * - a rate with the same start replaces the earlier one, except that an open-ended rate resumes after a
 *   bounded one.
 */
import type { BillingFrequency, Rate, RateEntry, RateIdentity, Tier } from '../../core/catalogue.ts';
import type { Decimal } from '../../core/decimal.ts';
import { unreachable } from '../../core/errors.ts';
import { firstIndex } from '../../core/first-index.ts';
import { groupBy } from '../../core/group-by.ts';
import { contains, type Instant, type Interval, intersect, type OpenInterval } from '../../core/time.ts';
import { type GroupValues, groupValuesKey } from '../quantities/group-values.ts';
import { hasVolumePrices } from './tiers.ts';

/** The members that decide when an entry is in force. */
type TimedEntry = Pick<RateEntry, 'startingAt' | 'endingBefore' | 'sequence'>;

/** A segment of time in which one entry is in force. */
export interface EffectiveRate<Entry extends TimedEntry = RateEntry> {
  readonly interval: OpenInterval;
  readonly entry: Entry;
}

/** The effective segments of one product, by pricing group values and billing frequency. */
export interface RateBook {
  readonly byIdentity: ReadonlyMap<string, readonly EffectiveRate[]>;
}

/** A span of a period with the entry that prices it; null if none does. */
export interface RateSpan {
  readonly interval: Interval;
  readonly entry: RateEntry | null;
}

/** The effective segments of one identity, ascending and without overlap. */
export function effectiveRates<Entry extends TimedEntry>(entries: readonly Entry[]): EffectiveRate<Entry>[] {
  const cells: Cell<Entry>[] = [{ start: Number.NEGATIVE_INFINITY, entry: null }];
  for (const entry of withoutReplaced(entries)) paint(cells, entry);
  const segments: EffectiveRate<Entry>[] = [];
  for (const [index, { start, entry }] of cells.entries()) {
    if (entry === null) continue;
    const end = cells[index + 1]?.start ?? null;
    const previous = segments.at(-1);
    if (previous?.entry === entry && previous.interval.end === start) {
      segments[segments.length - 1] = { entry, interval: { start: previous.interval.start, end } };
    } else {
      segments.push({ entry, interval: { start, end } });
    }
  }
  return segments;
}

/** Prepares the lookups of one product. */
export function rateBook(entries: readonly RateEntry[]): RateBook {
  const identities = groupBy(entries, identityKey);
  return {
    byIdentity: new Map([...identities].map(([key, members]) => [key, effectiveRates(members)])),
  };
}

/** Whether the product has a rate for exactly these pricing values at some time. */
export function hasRates({ byIdentity }: RateBook, pricingGroupValues: GroupValues): boolean {
  return byIdentity.has(identityKey({ pricingGroupValues, billingFrequency: null }));
}

/** Whether it has a rate without pricing values at some time, which prices usage with any values. */
export function pricesAllValues(book: RateBook): boolean {
  return hasRates(book, {});
}

/**
 * The entry in force at `at` for usage with these pricing group values: the one with equal values on all
 * keys, else the one without group values, else null (unpriced). Subscriptions give their frequency.
 */
export function rateAt(
  book: RateBook,
  pricingGroupValues: GroupValues,
  at: Instant,
  billingFrequency: BillingFrequency | null = null,
): RateEntry | null {
  return (
    find(book, { pricingGroupValues, billingFrequency }, at) ??
    find(book, { pricingGroupValues: {}, billingFrequency }, at)
  );
}

/**
 * Cuts `interval` wherever the terms for these pricing group values change. Adjacent spans with the same rate,
 * entitlement and pricing unit are merged, even if they belong to two entries; `isSame` may be stricter.
 */
export function rateSpans(
  book: RateBook,
  pricingGroupValues: GroupValues,
  interval: Interval,
  isSame: (a: RateEntry | null, b: RateEntry | null) => boolean = sameTerms,
): RateSpan[] {
  const exact = segmentsOf(book, { pricingGroupValues, billingFrequency: null });
  const fallback = segmentsOf(book, { pricingGroupValues: {}, billingFrequency: null });
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
    if (previous !== undefined && isSame(previous.entry, entry)) {
      spans[spans.length - 1] = { entry, interval: { start: previous.interval.start, end } };
    } else {
      spans.push({ entry, interval: { start, end } });
    }
  }
  return spans;
}

/** Until the start of the next cell; the last one has no end. */
interface Cell<Entry> {
  readonly start: number;
  readonly entry: Entry | null;
}

/** Entries in order of addition, without those replaced by a later one with the same start. */
function withoutReplaced<Entry extends TimedEntry>(entries: readonly Entry[]): Entry[] {
  const added = entries.toSorted((a, b) => a.sequence - b.sequence);
  const later = new Map<Instant, 'bounded' | 'open'>();
  const kept: Entry[] = [];
  for (const entry of added.toReversed()) {
    const { startingAt, endingBefore } = entry;
    const replacedBy = later.get(startingAt);
    if (endingBefore === null || replacedBy === undefined) {
      later.set(startingAt, endingBefore === null ? 'open' : 'bounded');
    }
    if (replacedBy === undefined || (replacedBy === 'bounded' && endingBefore === null)) kept.push(entry);
  }
  return kept.reverse();
}

/** Assigns to `entry` the cells in which it replaces earlier entries. */
function paint<Entry extends TimedEntry>(cells: Cell<Entry>[], entry: Entry): void {
  const from = cellAt(cells, entry.startingAt);
  if (entry.endingBefore !== null) {
    const to = cellAt(cells, entry.endingBefore);
    cells.splice(from, to - from, { start: entry.startingAt, entry });
    return;
  }
  for (let index = from; index < cells.length; index += 1) {
    const { start, entry: held = null } = cells[index] ?? { start: entry.startingAt };
    if (held === null || held.startingAt <= entry.startingAt) cells[index] = { start, entry };
  }
}

/** The index of the cell that starts at `at`; splits the cell that contains `at`. */
function cellAt<Entry extends TimedEntry>(cells: Cell<Entry>[], at: Instant): number {
  const found = firstIndex(cells.length, (index) => (cells[index]?.start ?? at) >= at);
  if (cells[found]?.start !== at) {
    cells.splice(found, 0, { start: at, entry: cells[found - 1]?.entry ?? null });
  }
  return found;
}

function find(book: RateBook, identity: Identity, at: Instant): RateEntry | null {
  const segments = segmentsOf(book, identity);
  const behind = firstIndex(segments.length, (index) => (segments[index]?.interval.start ?? at) > at);
  const segment = segments[behind - 1];
  return segment !== undefined && contains(segment.interval, at) ? segment.entry : null;
}

function segmentsOf(book: RateBook, identity: Identity): readonly EffectiveRate[] {
  return book.byIdentity.get(identityKey(identity)) ?? [];
}

/** The identity within one product. */
type Identity = Pick<RateIdentity, 'pricingGroupValues' | 'billingFrequency'>;

function identityKey({ pricingGroupValues, billingFrequency }: Identity): string {
  return `${billingFrequency ?? ''}${groupValuesKey(pricingGroupValues)}`;
}

/** Compares commit rates as well, for usage that a balance pays at commit rates. */
export function sameCommitTerms(a: RateEntry | null, b: RateEntry | null): boolean {
  if (!sameTerms(a, b)) return false;
  const [one, other] = [a?.commitRate ?? null, b?.commitRate ?? null];
  return one === null || other === null ? one === other : sameRate(one, other);
}

function sameTerms(a: RateEntry | null, b: RateEntry | null): boolean {
  if (a === null || b === null) return a === b;
  return a.entitled === b.entitled && a.creditTypeId === b.creditTypeId && sameRate(a.rate, b.rate);
}

/** Whether two rates charge the same for everything. */
export function sameRate(a: Rate, b: Rate): boolean {
  switch (a.rateType) {
    case 'FLAT':
      return b.rateType === 'FLAT' && a.price.eq(b.price);
    case 'TIERED':
      return b.rateType === 'TIERED' && sameTiers(a, b);
    case 'PERCENTAGE':
      return b.rateType === 'PERCENTAGE' && a.price.eq(b.price) && sameAmount(a.minimum, b.minimum);
    case 'TIERED_PERCENTAGE':
      return b.rateType === 'TIERED_PERCENTAGE' && sameTiers(a, b) && sameAmount(a.minimum, b.minimum);
    case 'SUBSCRIPTION':
      return (
        b.rateType === 'SUBSCRIPTION' &&
        a.price.eq(b.price) &&
        sameAmount(a.quantity, b.quantity) &&
        a.isProrated === b.isProrated
      );
    default:
      return unreachable(a);
  }
}

type TieredRate = Extract<Rate, { readonly tiers: readonly Tier[] }>;

function sameTiers(a: TieredRate, b: TieredRate): boolean {
  return (
    hasVolumePrices(a) === hasVolumePrices(b) &&
    a.tiers.length === b.tiers.length &&
    a.tiers.every((tier, index) => {
      const other = b.tiers[index];
      return other !== undefined && tier.price.eq(other.price) && sameAmount(tier.size, other.size);
    })
  );
}

function sameAmount(a: Decimal | null, b: Decimal | null): boolean {
  return a === null || b === null ? a === b : a.eq(b);
}
