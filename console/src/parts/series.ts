/** Series of a chart: figures over time, exact until they become pixels. */
import type Big from 'big.js';
import { sum } from '../api/exact.ts';
import { spoken } from '../format/language.ts';

export interface Series {
  readonly label: string;
  /** One for each start; null where there is none. */
  readonly values: readonly (Big | null)[];
}

export interface ChartProps {
  /** Its content, in words. */
  readonly label: string;
  /** The starts of the windows, in order. */
  readonly starts: readonly string[];
  readonly window: 'hour' | 'day';
  readonly series: readonly Series[];
  readonly kind: 'bars' | 'lines';
  readonly size?: 'small' | 'large';
  /** Whether its table is open at first. */
  readonly isTableOpen?: boolean;
  /** How a figure is written. */
  text(value: Big): string;
}

/** More than that nobody tells apart; the others together are the last one. */
const SERIES_MAX = 8;
/** A dashboard may give colours for ten. */
const COLOURS = 10;

export function colourOf(index: number, label: string): string {
  return label === spoken().others ? 'var(--series-rest)' : `var(--series-${(index % COLOURS) + 1})`;
}

/** The largest series in the order of their sums, and all others as one. */
export function largestSeries(all: readonly Series[], max = SERIES_MAX): Series[] {
  const weighed = all
    .map((series) => ({ series, weight: sum(valuesOf(series)).abs() }))
    .sort((a, b) => b.weight.cmp(a.weight));
  const kept = weighed.slice(0, max).map(({ series }) => series);
  const others = weighed.slice(max).map(({ series }) => series);
  const [first] = others;
  if (first === undefined) return kept;
  const values = first.values.map((_, at) => sum(others.flatMap(({ values: own }) => own[at] ?? [])));
  return [...kept, { label: spoken().others, values }];
}

function valuesOf({ values }: Series): Big[] {
  return values.flatMap((value) => value ?? []);
}
