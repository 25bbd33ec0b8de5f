/** The vocabulary of token billing: what AI models charge for, and what the catalogue of their prices holds. */
import type { Decimal } from './decimal.ts';
import type { Instant } from './time.ts';

/** The type of the events that are priced by managed rate cards. */
export const TOKEN_EVENT_TYPE = 'token-billing';

/** Kinds of tokens. The name is also that of the event property with their number. */
export const TOKEN_KINDS = [
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'cached_write_tokens',
] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** The attribute of a span with its customer, unless the operator names another one. */
export const SPAN_CUSTOMER_ATTRIBUTE = 'tallyhouse.customer';

/** The tag of the products of managed rate cards: each is billed only for the models that it has rates for. */
export const MANAGED_TAG = 'ai_managed';

/** How rate cards follow when a provider changes the price of one of their models. */
export const REPRICE_MODES = ['off', 'notify', 'auto'] as const;
export type RepriceMode = (typeof REPRICE_MODES)[number];

/** The price of one kind of tokens of a model, from an instant until its next price. */
export interface TokenPrice {
  readonly kind: TokenKind;
  readonly usdPerToken: Decimal;
  readonly validFrom: Instant;
  /** Where the price was read, for people. */
  readonly source: string;
}

/** A model of the catalogue with every price that it ever had. */
export interface PricedModel {
  readonly provider: string;
  /** `author/model`, the id in the catalogue. */
  readonly model: string;
  /** Other ids under which events name it: short, dated and regional forms. */
  readonly aliases: readonly string[];
  readonly prices: readonly TokenPrice[];
}

/** Rates that a managed card gets when a model joins it start here, so that they price open periods too. */
export const FIRST_RATES_START: Instant = Date.UTC(2025, 0, 1);
