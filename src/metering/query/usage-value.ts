/** Reads a value that a usage query returned. */
import { type Decimal, decimal } from '../../core/decimal.ts';

/**
 * Aggregates come as plain decimal text; LATEST as the text that was sent, which the query has found to
 * be a number and which may have a plus in front. Throws on anything else.
 */
export function exactUsage(text: string): Decimal {
  return decimal(text.startsWith('+') ? text.slice(1) : text);
}
