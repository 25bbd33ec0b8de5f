/** The price of provider-priced tokens (docs/explanation/token-billing.md, "Prices"). Pure. */
import { type Decimal, decimal, divideTo20Places, ONE } from '../../core/decimal.ts';

/** Rates are for a million tokens, in cents. */
export const TOKENS_PER_UNIT = decimal('1000000');
const CENTS_PER_USD = decimal('100');

/**
 * The price of a million tokens: `usdPerToken` with the markup, a fraction, in cents; or in a custom unit, worth
 * `centsPerUnit`. Exact in cents; a quotient is rounded to 20 places.
 */
export function managedPrice(usdPerToken: Decimal, markup: Decimal, centsPerUnit: Decimal | null): Decimal {
  const cents = usdPerToken.times(ONE.plus(markup)).times(TOKENS_PER_UNIT).times(CENTS_PER_USD);
  return centsPerUnit === null ? cents : divideTo20Places(cents, centsPerUnit);
}
