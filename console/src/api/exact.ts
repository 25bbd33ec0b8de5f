/**
 * Numbers of the API with all their digits: as text, never as a double.
 *
 * Owns: reading and writing JSON without losing a digit, and sums. Does not own: how numbers are shown (`format/`).
 */
import Big from 'big.js';
import { LosslessNumber, parse, stringify } from 'lossless-json';

declare const exactBrand: unique symbol;

/** The digits of a JSON number, as the API sent them. */
export type Exact = string & { readonly [exactBrand]: true };

type SourceReviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const nativeParse = JSON.parse as (text: string, reviver: SourceReviver) => unknown;

/** Chromium 114, Firefox 135, Safari 18.4 and later expose the digits of a number. */
const hasSource = nativeParse('1', (_key, _value, context) => context?.source) === '1';

/** Parses JSON with every number as `Exact`. Throws if the text is not JSON. */
export function parseExact(text: string): unknown {
  if (!hasSource) return parse(text, null, (digits) => digits as Exact);
  return nativeParse(text, (_key, value, context) =>
    typeof value === 'number' ? (context?.source ?? String(value)) : value,
  );
}

/** The text of a body, for people with spaces. Create its numbers with `numberOf`. */
export function writeExact(body: unknown, spaces?: number): string {
  return stringify(body, undefined, spaces) ?? '';
}

/** A number for a body, with exactly these digits. Throws if the text is not a number. */
export function numberOf(digits: string): Exact {
  return new LosslessNumber(new Big(digits).toFixed()) as unknown as Exact;
}

/** The exact sum. */
export function sum(values: Iterable<Exact | Big>): Big {
  let total = new Big(0);
  for (const value of values) total = total.plus(value);
  return total;
}

export function exact(value: Big): Exact {
  return value.toFixed() as Exact;
}

/** For pixels only: a chart needs no more digits than it has points. */
export function forPixels(value: Exact | Big): number {
  return Number(value);
}
