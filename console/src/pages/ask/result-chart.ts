/** The chart for an answer of SQL: over time if a column has times, else by the values of a column. Pure. */
import Big from 'big.js';
import { type Series, seriesFrom } from '../../parts/series.ts';

export interface ResultColumn {
  readonly name: string;
  readonly type: string;
}

export type ResultRow = Readonly<Record<string, unknown>>;

export type ResultPicture =
  | {
      readonly kind: 'time';
      readonly window: 'hour' | 'day';
      readonly starts: readonly string[];
      readonly series: readonly Series[];
    }
  | { readonly kind: 'values'; readonly label: string; readonly bars: readonly Bar[]; readonly left: number }
  | null;

interface Bar {
  readonly label: string;
  readonly value: Big;
}

const BARS_MAX = 20;
/** More instants than a chart has pixels for. */
const STARTS_MAX = 5_000;

/** Null if there is nothing to draw: no numbers, or a single row. */
export function pictureOf(columns: readonly ResultColumn[], rows: readonly ResultRow[]): ResultPicture {
  const numbers = columns.filter(({ type }) => type === 'number').map(({ name }) => name);
  const time = columns.find(({ type }) => type === 'timestamp')?.name;
  const texts = columns.filter(({ type }) => type === 'text').map(({ name }) => name);
  if (numbers.length === 0 || rows.length < 2) return null;
  if (time !== undefined) return overTime(time, numbers, texts, rows);
  return byValue(texts, numbers[0] ?? '', rows);
}

function overTime(
  time: string,
  numbers: readonly string[],
  texts: readonly string[],
  rows: readonly ResultRow[],
): ResultPicture {
  const starts = [...new Set(rows.flatMap((row) => instantOf(row[time]) ?? []))].sort();
  if (starts.length < 2 || starts.length > STARTS_MAX) return null;
  const points = rows.flatMap((row) => {
    const start = instantOf(row[time]);
    if (start === null) return [];
    return numbers.flatMap((number) => {
      const value = row[number];
      if (typeof value !== 'string') return [];
      const key = JSON.stringify([number, ...texts.map((name) => row[name] ?? null)]);
      return [{ key, label: seriesLabel(row, number, numbers, texts), start, value: new Big(value) }];
    });
  });
  const series = seriesFrom(starts, points);
  const window = starts.every((start) => start.endsWith('T00:00:00.000Z')) ? 'day' : 'hour';
  return { kind: 'time', window, starts, series };
}

function seriesLabel(
  row: ResultRow,
  number: string,
  numbers: readonly string[],
  texts: readonly string[],
): string {
  const group = texts.map((name) => String(row[name] ?? '–')).join(' · ');
  if (group === '') return number;
  return numbers.length === 1 ? group : `${group}: ${number}`;
}

function instantOf(value: unknown): string | null {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

function byValue(texts: readonly string[], number: string, rows: readonly ResultRow[]): ResultPicture {
  if (texts.length === 0) return null;
  const bars = rows.flatMap((row) => {
    const value = row[number];
    if (typeof value !== 'string') return [];
    return [{ label: texts.map((name) => String(row[name] ?? '–')).join(' · '), value: new Big(value) }];
  });
  if (bars.length < 2) return null;
  const largest = [...bars].sort((a, b) => b.value.abs().cmp(a.value.abs())).slice(0, BARS_MAX);
  return { kind: 'values', label: number, bars: largest, left: bars.length - largest.length };
}

/** Where a bar begins and how long it is, as shares of the width. */
interface BarPlace {
  readonly start: number;
  readonly length: number;
}

/** Bars from a common zero: negative ones extend to the left. */
export function barPlaces(values: readonly number[]): BarPlace[] {
  const low = Math.max(0, ...values.map((value) => -value));
  const width = low + Math.max(0, ...values);
  const share = (of: number) => (width === 0 ? 0 : of / width);
  return values.map((value) => ({
    start: share(value < 0 ? low + value : low),
    length: share(Math.abs(value)),
  }));
}
