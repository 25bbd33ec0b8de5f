/**
 * Who pays for what, simple and slow, in exact fractions and hour by hour. It is written from the rules and shares no
 * code with src/rating. Prices, sizes and multipliers must be multiples of 0.01.
 *
 * Every charge is a counter: units of usage, the base of a composite, or the single unit of a minimum. Hours that cost
 * the same for any payer, and that the same balances may pay for, are one claim. Claims are served in the order of the
 * rules. Only the net rise of each claim counts, and its lowest units are the earliest ones.
 */
import { HOUR_MS, type Instant } from '../../../src/core/time.ts';
import {
  type Counter,
  type CounterHour,
  compositeCounters,
  hoursOf,
  KIND_RANKS,
  type NaiveDrawdownInput,
  usageCounters,
} from './claimed-counters.ts';
import {
  dividedBy,
  type Fraction,
  fraction,
  isPositive,
  larger,
  less,
  minus,
  NOTHING,
  negated,
  plus,
  ratio,
  smaller,
  times,
} from './fractions.ts';
import { type Band, bandText, cutByBands, type NaivePrices, pricesText } from './payer-prices.ts';

/** The part of one line key in one hour that one payer pays. */
export interface PaidHour {
  readonly line: string;
  /** The segment of a balance; null: the customer. */
  readonly segmentId: string | null;
  readonly creditTypeId: string;
  readonly at: Instant;
  readonly quantity: Fraction;
  readonly total: Fraction;
}

export interface NaiveDrawdown {
  readonly paid: readonly PaidHour[];
  /** By segment; none of nothing. */
  readonly deductions: ReadonlyMap<string, Fraction>;
  /** The amount due, in the currency. */
  readonly total: Fraction;
}

interface Claim {
  readonly counter: Counter;
  readonly hours: readonly CounterHour[];
  readonly first: CounterHour;
  readonly last: CounterHour;
  readonly prices: NaivePrices;
}

/** Units above `lower` up to `upper` with who pays for them. */
interface Covered {
  readonly lower: Fraction;
  readonly upper: Fraction;
  readonly segmentId: string;
  readonly creditTypeId: string;
  readonly price: Fraction;
  readonly level: number;
}

/** `charged`: counters of subscriptions. */
export function naiveDrawdown(input: NaiveDrawdownInput, charged: readonly Counter[] = []): NaiveDrawdown {
  const left = new Map(input.buckets.map(({ segmentId, left: amount }) => [segmentId, fraction(amount)]));
  const usage = input.products.flatMap((one) => usageCounters(input, one));
  const composites = compositeCounters(input, [...usage, ...charged]);
  const claims = [...usage, ...charged, ...composites].flatMap(claimsOf).sort(inVisitingOrder);
  const paid = claims.flatMap((claim) => paidHours(claim, serve(claim, left)));
  const units = conversionClaims(input, paid).sort(inVisitingOrder);
  const converted = units.flatMap((claim) => paidHours(claim, serve(claim, left)));
  const all = [...paid, ...converted];
  const deductions = new Map<string, Fraction>();
  for (const { segmentId, left: amount } of input.buckets) {
    const taken = minus(fraction(amount), left.get(segmentId) ?? NOTHING);
    if (isPositive(taken)) deductions.set(segmentId, taken);
  }
  const due = all
    .filter(({ creditTypeId }) => creditTypeId === input.currency)
    .filter(({ segmentId }) => isDue(input, segmentId));
  return { paid: all, deductions, total: due.reduce((sum, { total }) => plus(sum, total), NOTHING) };
}

/** Whether the customer owes it in this period: what nobody covers, or a postpaid commit. */
function isDue({ buckets }: NaiveDrawdownInput, segmentId: string | null): boolean {
  const bucket = buckets.find((one) => one.segmentId === segmentId);
  return bucket === undefined || bucket.commitType === 'POSTPAID';
}

/** Consecutive hours that cost the same, for any of the same payers. */
function claimsOf(counter: Counter): Claim[] {
  const stretches: CounterHour[][] = [];
  let before = '';
  for (const hour of counter.hours) {
    const payers = hour.claimants.map(({ bucket, bands }) => [bucket.segmentId, bands.map(bandText)]);
    const text = JSON.stringify([pricesText(hour.prices), payers]);
    const previous = stretches.at(-1);
    if (previous !== undefined && text === before && previous.at(-1)?.at === hour.at - HOUR_MS)
      previous.push(hour);
    else stretches.push([hour]);
    before = text;
  }
  return stretches.flatMap((hours) => {
    const [first] = hours;
    const last = hours.at(-1);
    if (first === undefined || last === undefined || first.prices === null) return [];
    return [{ counter, hours, first, last, prices: first.prices }];
  });
}

/** By kind, by start, the highest price of a first unit, name and group values. */
function inVisitingOrder(a: Claim, b: Claim): number {
  const ranks = [a, b].map(({ counter }) => KIND_RANKS[counter.kind]);
  if (ranks[0] !== ranks[1]) return (ranks[0] ?? 0) - (ranks[1] ?? 0);
  if (a.first.at !== b.first.at) return a.first.at - b.first.at;
  const [priceOfA, priceOfB] = [firstPrice(a), firstPrice(b)];
  if (less(priceOfB, priceOfA)) return -1;
  if (less(priceOfA, priceOfB)) return 1;
  const textOf = ({ last, counter }: Claim) => [last.name, counter.groupValues, counter.line];
  const [ofA, ofB] = [textOf(a), textOf(b)];
  for (const [index, text] of ofA.entries()) {
    const other = ofB[index] ?? '';
    if (text !== other) return text < other ? -1 : 1;
  }
  return 0;
}

function firstPrice({ first, prices }: Claim): Fraction {
  const band = prices.bands.filter(({ lower }) => !less(first.from, lower)).at(-1) ?? prices.bands[0];
  return band?.price ?? NOTHING;
}

/** Balances in turn, each from the earliest unit on that nobody has paid for and that costs it something. */
function serve({ first, last, hours }: Claim, left: Map<string, Fraction>): Covered[] {
  if (!less(first.from, last.to)) return [];
  const covered: Covered[] = [];
  let open = [{ lower: first.from, upper: last.to }];
  for (const { bucket, bands } of hours[0]?.claimants ?? []) {
    const rest: typeof open = [];
    for (const { lower, upper, band } of open.flatMap((part) => cutByBands(part, bands))) {
      const balance = left.get(bucket.segmentId) ?? NOTHING;
      const cost = times(minus(upper, lower), band.price);
      const paid = smaller(cost, balance);
      if (!isPositive(paid)) {
        rest.push({ lower, upper });
        continue;
      }
      const until = plus(lower, dividedBy(paid, band.price));
      covered.push({
        ...{ lower, upper: until },
        segmentId: bucket.segmentId,
        creditTypeId: bucket.creditTypeId,
        ...{ price: band.price, level: band.level },
      });
      left.set(bucket.segmentId, minus(balance, paid));
      if (less(until, upper)) rest.push({ lower: until, upper });
    }
    open = rest;
  }
  return covered;
}

type Level = Pick<Band, 'level' | 'price'>;

/** Each hour moves the counter over units with their payers; moving down gives them back. */
function paidHours({ counter, hours, prices }: Claim, covered: readonly Covered[]): PaidHour[] {
  return hours.flatMap(({ at, from, to }) => {
    const isDown = less(to, from);
    const [low, high] = isDown ? [to, from] : [from, to];
    const found: PaidHour[] = [];
    const add = (
      who: Pick<PaidHour, 'segmentId' | 'creditTypeId'>,
      units: Fraction,
      { level, price }: Level,
    ) => {
      if (!isPositive(units)) return;
      const quantity = isDown ? negated(units) : units;
      const { segmentId, creditTypeId } = who;
      const line = `${counter.line} ${level}`;
      found.push({
        line,
        segmentId,
        creditTypeId,
        at: counter.shownAt ?? at,
        quantity,
        total: times(quantity, price),
      });
    };
    for (const part of covered) add(part, overlap(part, low, high), part);
    for (const { lower, upper, band } of cutByBands({ lower: low, upper: high }, prices.bands)) {
      let units = minus(upper, lower);
      for (const part of covered) units = minus(units, overlap(part, lower, upper));
      add({ segmentId: null, creditTypeId: prices.creditTypeId }, units, band);
    }
    return found;
  });
}

function overlap({ lower, upper }: Covered, low: Fraction, high: Fraction): Fraction {
  return larger(NOTHING, minus(smaller(upper, high), larger(lower, low)));
}

/**
 * The remaining usage in each custom unit, as a counter that unrestricted balances in the currency may pay for.
 */
function conversionClaims(input: NaiveDrawdownInput, paid: readonly PaidHour[]): Claim[] {
  const { currency, worths, period, buckets } = input;
  const payers = buckets.filter(
    ({ creditTypeId, access, applicability }) =>
      creditTypeId === currency &&
      access.start < period.end &&
      period.start < access.end &&
      applicability.productIds.length === 0 &&
      applicability.productTags.length === 0 &&
      applicability.specifiers.length === 0,
  );
  return [...worths].flatMap(([unit, worth]) => {
    const own = paid.filter((one) => one.creditTypeId === unit && isDue(input, one.segmentId));
    const bands = [{ lower: NOTHING, upper: null, price: ratio(worth, 100), level: 0 }];
    const prices = { creditTypeId: currency, bands, card: '', minimum: null };
    const claimants = payers.map((bucket) => ({ bucket, bands }));
    let from = NOTHING;
    const hours = hoursOf(period).map((at): CounterHour => {
      const to = own.filter((one) => one.at === at).reduce((sum, { total }) => plus(sum, total), from);
      const hour = { at, from, to, prices, claimants, name: unit };
      from = to;
      return hour;
    });
    return claimsOf({ line: `conversion ${unit}`, kind: 'USAGE', groupValues: '', hours });
  });
}
