/** Parses a value returned by a usage query. */
import { type Decimal, decimalWithin } from '../../core/decimal.ts';

/**
 * Aggregates are plain decimal text; LATEST is the text that was sent, which the query has checked to be a number and
 * which may have a leading plus. Throws on anything else. The value may be a part of a longer text.
 */
export function exactUsage(text: string, start = 0, end = text.length): Decimal {
  return decimalWithin(text, text.charCodeAt(start) === PLUS ? start + 1 : start, end);
}

const PLUS = 0x2b;
