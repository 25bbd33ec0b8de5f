/** The vocabulary of token billing: the kinds of tokens that AI models charge for, and the prices in the catalogue. */
import type { Decimal } from './decimal.ts';
import type { Instant } from './time.ts';

/** The type of events that managed rate cards price. */
export const TOKEN_EVENT_TYPE = 'token-billing';

/** Kinds of tokens. The name is also the event property with the number of tokens. */
export const TOKEN_KINDS = [
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'cached_write_tokens',
] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** The span attribute that names the customer, unless the operator configures another one. */
export const SPAN_CUSTOMER_ATTRIBUTE = 'tallyhouse.customer';

/** The tag of the products of managed rate cards: each is billed only for the models that it has rates for. */
export const MANAGED_TAG = 'ai_managed';

/** How rate cards react when a provider changes the price of one of their models. */
export const REPRICE_MODES = ['off', 'notify', 'auto'] as const;
export type RepriceMode = (typeof REPRICE_MODES)[number];

/** The price of one kind of tokens of a model, from an instant until its next price. */
export interface TokenPrice {
  readonly kind: TokenKind;
  readonly usdPerToken: Decimal;
  readonly validFrom: Instant;
  /** The source of the price, for people. */
  readonly source: string;
}

/** A model of the catalogue with all its prices over time. */
export interface PricedModel {
  readonly provider: string;
  /** `author/model`, the id in the catalogue. */
  readonly model: string;
  /** Other ids under which events name it: short, dated and regional forms. */
  readonly aliases: readonly string[];
  readonly prices: readonly TokenPrice[];
}

/** The rates of a model that joins a managed card start here, so that they price open periods too. */
export const FIRST_RATES_START: Instant = Date.UTC(2025, 0, 1);
