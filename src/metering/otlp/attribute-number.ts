/**
 * The texts of numbers in attributes: the same from both encodings, and none for a number that cannot be represented.
 */
import { plainDecimal } from '../ingest/number-text.ts';
import { type AttributeValue, OTHER_VALUE } from './span.ts';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

export function isInt64(value: bigint): boolean {
  return value >= INT64_MIN && value <= INT64_MAX;
}

export function integerValue(value: bigint): AttributeValue {
  return { kind: 'number', text: value.toString() };
}

/** The shortest decimal for this double; -0 is 0. Infinities, and numbers with too many digits, are `other`. */
export function doubleValue(value: number): AttributeValue {
  const text = Number.isFinite(value) ? plainDecimal(String(value)) : null;
  return text === null ? OTHER_VALUE : { kind: 'number', text };
}
