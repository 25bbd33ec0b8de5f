/**
 * The stored text of a JSON number: plain decimal notation that keeps every digit sent.
 *
 * Canonical form: an optional minus, at least one integer digit, no exponent, no redundant zeros (`1.50` is stored as
 * `1.5`, `1e3` as `1000`, `-0` as `0`). Two methods must agree:
 * - Up to 15 significant digits a double preserves exactly the digits it was parsed from, so the
 *   result of `JSON.parse` is enough.
 * - A body with a longer number or an exponent is parsed the slow way: every number token is replaced
 *   by its position in a list of the tokens' texts before the body is parsed again.
 */
import { NUMBER_DIGITS_MAX } from './event-limits.ts';

/** May also match inside a string: the body is then merely parsed the slow way unnecessarily. */
const LONG_NUMBER = /[:,[][ \t\r\n]*-?\d(?:[\d.]{15,}|[\d.]*[eE])/;

/** Whether any number of this JSON text could lose digits as a double. Never misses one. */
export function mayLoseDigits(json: string): boolean {
  return LONG_NUMBER.test(json);
}

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;

/** `json` with every number replaced by its index in `numbers`, the texts as sent. `json` must be valid JSON. */
export function extractNumbers(json: string): { json: string; numbers: string[] } {
  const numbers: string[] = [];
  const replaced = json.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') ? token : String(numbers.push(token) - 1),
  );
  return { json: replaced, numbers };
}

/**
 * Canonical text of a number that `JSON.parse` returned. With `sources` the number is an index into
 * the list that `extractNumbers` returned. Null when it needs more than `NUMBER_DIGITS_MAX` digits.
 */
export function numberText(value: number, sources: readonly string[] | null): string | null {
  if (sources !== null) return plainDecimal(sources[value] ?? '');
  const text = String(value);
  // JavaScript writes an exponent only below 1e-6 here, because longer numbers are parsed the slow way.
  return Number.isInteger(value) || !text.includes('e') ? text : plainDecimal(text);
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Room for sign, point, exponent and redundant zeros around the digits; also limits the work below. */
const TOKEN_LENGTH_MAX = NUMBER_DIGITS_MAX + 40;

/** Canonical text of a JSON number token, or null if it is invalid or too long. */
export function plainDecimal(token: string): string | null {
  if (token.length > TOKEN_LENGTH_MAX) return null;
  const match = NUMBER.exec(token);
  if (match === null) return null;
  const [, sign = '', integer = '', fraction = '', exponentText = '0'] = match;
  const all = integer + fraction;
  if (/^0+$/.test(all)) return '0';
  // The number is 0.<all> times ten to the power of `point`.
  const point = integer.length + Number(exponentText);
  if (Math.abs(point) > TOKEN_LENGTH_MAX) return null;
  const whole = (point > 0 ? all.slice(0, point).padEnd(point, '0') : '').replace(/^0+/, '');
  const part = (point > 0 ? all.slice(point) : '0'.repeat(-point) + all).replace(/0+$/, '');
  if (whole.length + part.length > NUMBER_DIGITS_MAX) return null;
  return `${sign}${whole === '' ? '0' : whole}${part === '' ? '' : `.${part}`}`;
}
