/** Series of a chart: figures over time, exact until they become pixels. */
import Big from 'big.js';
import { sum } from '../api/exact.ts';
import { spoken } from '../format/language.ts';

export interface Series {
  /** Distinguishes series with the same label. */
  readonly key: string;
  readonly label: string;
  /** One for each start; null if there is none. */
  readonly values: readonly (Big | null)[];
}

export interface ChartProps {
  /** A description of the content. */
  readonly label: string;
  /** The starts of the windows, in order. */
  readonly starts: readonly string[];
  readonly window: 'hour' | 'day';
  readonly series: readonly Series[];
  /**
   * `bars` of one instant are stacked, `beside` are two series of bars next to each other, and `steps` hold a figure
   * until the next one.
   */
  readonly kind: 'bars' | 'beside' | 'lines' | 'steps';
  readonly size?: 'small' | 'large';
  /** Whether its table is open at first. */
  readonly isTableOpen?: boolean;
  /** How a figure is written. */
  text(value: Big): string;
  /** The format of the axis labels, with all their digits: otherwise a label would not match its height. */
  axisText?(value: Big): string;
}

/** More series cannot be distinguished; the rest is summed in the last one. */
const SERIES_MAX = 8;
/** A dashboard may configure ten colours. */
const COLOURS = 10;

export function colourOf(index: number, { key }: Pick<Series, 'key'>): string {
  return key === OTHERS ? 'var(--series-rest)' : `var(--series-${(index % COLOURS) + 1})`;
}

/** The key of the rest beside the largest series: no group has an empty one. */
const OTHERS = '';

/** One figure of a series at a start. */
export interface Point {
  readonly key: string;
  readonly label: string;
  readonly start: string;
  readonly value: Big;
}

/**
 * The largest series over these starts: one per key, whose figures at a start are summed. Repeated labels are numbered
 * from the second on.
 */
export function seriesFrom(starts: readonly string[], points: Iterable<Point>, max?: number): Series[] {
  const places = new Map(starts.map((start, index) => [start, index]));
  const byKey = new Map<string, { label: string; values: (Big | null)[] }>();
  const known = new Map<string, number>();
  for (const { key, label, start, value } of points) {
    const place = places.get(start);
    if (place === undefined) continue;
    let series = byKey.get(key);
    if (series === undefined) {
      const times = (known.get(label) ?? 0) + 1;
      known.set(label, times);
      const values = Array.from<Big | null>({ length: starts.length }).fill(null);
      series = { label: times === 1 ? label : `${label} (${times})`, values };
      byKey.set(key, series);
    }
    series.values[place] = (series.values[place] ?? new Big(0)).plus(value);
  }
  return largestSeries(
    [...byKey].map(([key, series]) => ({ key, ...series })),
    max,
  );
}

/** The largest series in the order of their sums, and all others summed in one. */
function largestSeries(all: readonly Series[], max = SERIES_MAX): Series[] {
  const weighed = all
    .map((series) => ({ series, weight: sum(valuesOf(series)).abs() }))
    .sort((a, b) => b.weight.cmp(a.weight));
  const kept = weighed.slice(0, max).map(({ series }) => series);
  const others = weighed.slice(max).map(({ series }) => series);
  const [first] = others;
  if (first === undefined) return kept;
  const values = first.values.map((_, at) => sum(others.flatMap(({ values: own }) => own[at] ?? [])));
  return [...kept, { key: OTHERS, label: spoken().others, values }];
}

function valuesOf({ values }: Series): Big[] {
  return values.flatMap((value) => value ?? []);
}
