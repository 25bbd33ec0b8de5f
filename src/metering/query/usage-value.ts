/** Reads a value that a usage query returned. */
import { type Decimal, decimal, parseUsageDecimal } from '../../core/decimal.ts';

/**
 * Aggregates come as plain decimal text; LATEST as the text that was sent, which the query has already
 * found to be a number. A sum may be larger than a single value may be. Throws on anything else.
 */
export function exactUsage(text: string): Decimal {
  return parseUsageDecimal(text) ?? decimal(text);
}
