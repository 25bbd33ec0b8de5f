/** Reads a value that a usage query returned. */
import { type Decimal, decimalWithin } from '../../core/decimal.ts';

/**
 * Aggregates come as plain decimal text; LATEST as the text that was sent, which the query has found to
 * be a number and which may have a plus in front. Throws on anything else. It may be a part of a longer text.
 */
export function exactUsage(text: string, start = 0, end = text.length): Decimal {
  return decimalWithin(text, text.charCodeAt(start) === PLUS ? start + 1 : start, end);
}

const PLUS = 0x2b;
