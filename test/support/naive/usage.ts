/**
 * A simple, slow model of usage over a list of events in memory, which the results of ClickHouse must equal.
 * Shares no code with src/metering/query. Numbers are whole multiples of 10^-30 as BigInt.
 */
import { isLosslessNumber, parse } from 'lossless-json';
import type { StreamingMetric } from '../../../src/core/metric.ts';
import type { Instant, Interval } from '../../../src/core/time.ts';

export interface NaiveEvent {
  readonly transactionId: string;
  readonly customerRef: string;
  readonly eventType: string;
  readonly timestamp: Instant;
  /** As stored: the text of every value, nested values as JSON. */
  readonly properties: Readonly<Record<string, string>>;
  /** Epoch microseconds. */
  readonly ingestedAt: number;
}

export interface NaiveLine {
  readonly group: readonly (string | null)[];
  /** Plain decimal text. */
  readonly value: string;
}

/** Copies of an event (same id, customer, type and time) count once; the first that was ingested counts. */
export function deduplicated(events: readonly NaiveEvent[]): NaiveEvent[] {
  const first = new Map<string, NaiveEvent>();
  for (const event of events) {
    const key = JSON.stringify([event.transactionId, event.customerRef, event.eventType, event.timestamp]);
    const known = first.get(key);
    if (known === undefined || event.ingestedAt < known.ingestedAt) first.set(key, event);
  }
  return [...first.values()];
}

/** The aggregate over the matching events of an interval, one line per group. `null` stands for an absent property. */
export function naiveUsage(
  metric: StreamingMetric,
  events: readonly NaiveEvent[],
  refs: readonly string[],
  interval: Interval,
  groupBy: readonly string[],
): NaiveLine[] {
  const groups = new Map<string, NaiveEvent[]>();
  // Copies of an event have its time and its customer in common.
  const inside = events.filter(
    ({ timestamp, customerRef }) =>
      interval.start <= timestamp && timestamp < interval.end && refs.includes(customerRef),
  );
  for (const event of deduplicated(inside)) {
    if (!naiveMatches(metric, event)) continue;
    const key = JSON.stringify(groupBy.map((name) => propertyText(event, name)));
    groups.set(key, [...(groups.get(key) ?? []), event]);
  }
  return [...groups].map(([key, members]) => ({
    group: JSON.parse(key) as (string | null)[],
    value: aggregate(metric, members),
  }));
}

/** V(t) for every line that has all the properties: the aggregate over [period start, t). */
export function naiveCumulative(
  metric: StreamingMetric,
  events: readonly NaiveEvent[],
  refs: readonly string[],
  period: Interval,
  t: Instant,
  groupBy: readonly string[],
): NaiveLine[] {
  const lines = naiveUsage(metric, events, refs, { start: period.start, end: t }, groupBy);
  return lines.filter(({ group }) => group.every((value) => value !== null));
}

export function naiveMatches(metric: StreamingMetric, event: NaiveEvent): boolean {
  const { eventTypeFilter: types, aggregation, aggregationKey } = metric;
  if (types?.inValues && !types.inValues.includes(event.eventType)) return false;
  if (types?.notInValues?.includes(event.eventType)) return false;
  for (const filter of metric.propertyFilters) {
    const value = propertyText(event, filter.name);
    if (filter.exists === true && value === null) return false;
    if (filter.exists === false && value !== null) return false;
    if (filter.inValues && (value === null || !filter.inValues.includes(value))) return false;
    if (filter.notInValues && value !== null && filter.notInValues.includes(value)) return false;
  }
  if (aggregation === 'COUNT' || aggregationKey === null) return true;
  const value = propertyText(event, aggregationKey);
  if (value === null) return false;
  return aggregation === 'UNIQUE' || naiveNumber(value) !== null;
}

function aggregate(metric: StreamingMetric, events: readonly NaiveEvent[]): string {
  const texts = events.map((event) => propertyText(event, metric.aggregationKey ?? '') ?? '');
  const numbers = () => texts.map((text) => naiveNumber(text) ?? 0n);
  switch (metric.aggregation) {
    case 'COUNT':
      return String(events.length);
    case 'UNIQUE':
      return String(new Set(texts).size);
    case 'SUM':
      return plainText(numbers().reduce((total, value) => total + value, 0n));
    case 'MAX':
      return plainText(
        numbers()
          .sort((a, b) => (a < b ? -1 : 1))
          .at(-1) ?? 0n,
      );
    case 'LATEST': {
      const latest = events.reduce((best, event) => (isLater(event, best) ? event : best));
      return plainText(naiveNumber(propertyText(latest, metric.aggregationKey ?? '') ?? '') ?? 0n);
    }
  }
}

function isLater(event: NaiveEvent, than: NaiveEvent): boolean {
  if (event.timestamp !== than.timestamp) return event.timestamp > than.timestamp;
  if (event.ingestedAt !== than.ingestedAt) return event.ingestedAt > than.ingestedAt;
  return byteOrder(event.transactionId, than.transactionId) > 0;
}

/** Order of texts in ClickHouse: by their UTF-8 bytes. */
function byteOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Order of rows by their group values in turn, null last. */
export function groupOrder(a: readonly (string | null)[], b: readonly (string | null)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? null;
    if (left === right) continue;
    if (left === null) return 1;
    if (right === null) return -1;
    return byteOrder(left, right);
  }
  return 0;
}

/**
 * The literal name first, then a path into a nested value. Null if there is none, or a JSON null. The
 * first of several members of one name counts.
 */
export function propertyText(event: NaiveEvent, name: string): string | null {
  const literal = event.properties[name];
  if (literal !== undefined) return literal;
  const [head = '', ...path] = name.split('.');
  const json = path.length === 0 ? undefined : event.properties[head];
  if (json === undefined) return null;
  let value: unknown;
  try {
    value = parse(json, undefined, { onDuplicateKey: ({ oldValue }) => oldValue });
  } catch {
    return null;
  }
  for (const step of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || isLosslessNumber(value))
      return null;
    value = new Map(Object.entries(value)).get(step);
  }
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value;
  if (isLosslessNumber(value)) return value.value;
  return JSON.stringify(value, (_, member: unknown) => (isLosslessNumber(member) ? member.value : member));
}

const SCALE = 30;
const INTEGER_DIGITS_MAX = 36;

/** A number written with digits, at most one point between digits, and an exponent of one or two digits. */
export function naiveNumber(text: string): bigint | null {
  const isNegative = text.startsWith('-');
  const unsigned = isNegative || text.startsWith('+') ? text.slice(1) : text;
  const [mantissa = '', exponentText, ...more] = unsigned.split(/e/i);
  if (more.length > 0) return null;
  if (exponentText !== undefined && !/^[+-]?[0-9][0-9]?$/.test(exponentText)) return null;
  const [whole = '', fraction, ...rest] = mantissa.split('.');
  if (rest.length > 0 || !isDigits(whole) || (fraction !== undefined && !isDigits(fraction))) return null;
  const digits = BigInt(whole + (fraction ?? ''));
  const shift = SCALE + Number(exponentText ?? 0) - (fraction ?? '').length;
  const divisor = 10n ** BigInt(Math.max(0, -shift));
  if (digits % divisor !== 0n) return null;
  const scaled = (digits * 10n ** BigInt(Math.max(0, shift))) / divisor;
  if (scaled >= 10n ** BigInt(SCALE + INTEGER_DIGITS_MAX)) return null;
  return isNegative ? -scaled : scaled;
}

function isDigits(text: string): boolean {
  return text !== '' && [...text].every((character) => character >= '0' && character <= '9');
}

/** Without exponent and without needless zeros. */
export function plainText(scaled: bigint): string {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(SCALE + 1, '0');
  const fraction = digits.slice(-SCALE).replace(/0+$/, '');
  const text = `${digits.slice(0, -SCALE)}${fraction === '' ? '' : `.${fraction}`}`;
  return scaled < 0n ? `-${text}` : text;
}
