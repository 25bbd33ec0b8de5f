/** The one table of functions, used by the grammar, the writer and the reference. */
import { AGGREGATE_FUNCTIONS, type AggregateFunction } from './aggregate-functions.ts';
import { NUMBER_FUNCTIONS } from './number-functions.ts';
import type { ScalarFunction } from './scalar-function.ts';
import { TEXT_FUNCTIONS } from './text-functions.ts';
import { TIME_FUNCTIONS } from './time-functions.ts';
import { VALUE_FUNCTIONS } from './value-functions.ts';
import { WINDOW_FUNCTIONS, type WindowFunction } from './window-functions.ts';

interface Named {
  readonly name: string;
  readonly synonyms?: readonly string[];
}

const SCALARS = byName([...NUMBER_FUNCTIONS, ...TEXT_FUNCTIONS, ...TIME_FUNCTIONS, ...VALUE_FUNCTIONS]);
const AGGREGATES = byName(AGGREGATE_FUNCTIONS);
const WINDOWS = byName(WINDOW_FUNCTIONS);

function byName<Entry extends Named>(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  return new Map(
    entries.flatMap((entry) =>
      [entry.name, ...(entry.synonyms ?? [])].map((name) => [name.toUpperCase(), entry] as const),
    ),
  );
}

/** `name` in any case, or a synonym. */
export function findScalar(name: string): ScalarFunction | null {
  return SCALARS.get(name.toUpperCase()) ?? null;
}

export function findAggregate(name: string): AggregateFunction | null {
  return AGGREGATES.get(name.toUpperCase()) ?? null;
}

/** The aggregate function of `countIf` and the like, whose last argument is a condition. */
export function findAggregateIf(name: string): AggregateFunction | null {
  return /if$/i.test(name) ? findAggregate(name.slice(0, -2)) : null;
}

export function findWindowFunction(name: string): WindowFunction | null {
  return WINDOWS.get(name.toUpperCase()) ?? null;
}

export function functionNames(): string[] {
  return [...AGGREGATES.keys(), ...SCALARS.keys(), ...WINDOWS.keys()];
}

export interface DocumentedFunction {
  readonly name: string;
  readonly group: 'aggregate' | 'number' | 'text' | 'time' | 'value' | 'window';
  readonly synonyms: readonly string[];
  readonly signature: string;
  readonly example: string;
  readonly note: string | null;
  /** Whether a query with it is carried along the hours; otherwise it is evaluated again at each hour. */
  readonly isHourly: boolean;
}

/** All functions, by group, in the order of the table. */
export function documentedFunctions(): DocumentedFunction[] {
  return [
    ...AGGREGATE_FUNCTIONS.map((entry) => documented('aggregate', entry, entry.isHourly)),
    ...NUMBER_FUNCTIONS.map((entry) => documented('number', entry)),
    ...TEXT_FUNCTIONS.map((entry) => documented('text', entry)),
    ...TIME_FUNCTIONS.map((entry) => documented('time', entry)),
    ...VALUE_FUNCTIONS.map((entry) => documented('value', entry)),
    ...WINDOW_FUNCTIONS.map((entry) => documented('window', entry, false)),
  ];
}

interface Described extends Named {
  readonly signature: string;
  readonly example: string;
  readonly note?: string;
}

function documented(
  group: DocumentedFunction['group'],
  { name, synonyms = [], signature, example, note }: Described,
  isHourly = true,
): DocumentedFunction {
  return { name, group, synonyms, signature, example, note: note ?? null, isHourly };
}
