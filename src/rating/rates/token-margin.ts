/**
 * The provider's cost of tokens compared to the amount billed for them (docs/explanation/token-billing.md, "Margin").
 * Pure.
 */
import { type Decimal, decimal, ZERO } from '../../core/decimal.ts';
import type { Instant } from '../../core/time.ts';
import type { PricedModel, TokenKind } from '../../core/token-billing.ts';
import { TOKENS_PER_UNIT } from './managed-price.ts';

/** Tokens of one kind that were billed in one hour. */
export interface BilledTokens {
  /** Start of the hour, whose price applies. */
  readonly at: Instant;
  readonly kind: TokenKind;
  /** In million tokens, as on the invoice. */
  readonly quantity: Decimal;
  readonly revenueCents: Decimal;
}

export interface TokenMargin {
  readonly tokens: Decimal;
  readonly revenueCents: Decimal;
  /** Null: the catalogue has no price for some of the tokens at their time. */
  readonly costCents: Decimal | null;
}

const CENTS_PER_USD = decimal('100');

/** Sums the tokens billed for one model. `prices` are those of the model, by `validFrom`. */
export function tokenMargin(parts: readonly BilledTokens[], prices: PricedModel['prices']): TokenMargin {
  let [tokens, revenueCents, costCents]: [Decimal, Decimal, Decimal | null] = [ZERO, ZERO, ZERO];
  for (const { at, kind, quantity, revenueCents: revenue } of parts) {
    const count = quantity.times(TOKENS_PER_UNIT);
    const price = prices.findLast((one) => one.kind === kind && one.validFrom <= at);
    tokens = tokens.plus(count);
    revenueCents = revenueCents.plus(revenue);
    costCents =
      price === undefined || costCents === null
        ? null
        : costCents.plus(count.times(price.usdPerToken).times(CENTS_PER_USD));
  }
  return { tokens, revenueCents, costCents };
}
