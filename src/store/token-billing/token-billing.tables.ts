import { boolean, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { REPRICE_MODES, TOKEN_KINDS } from '../../core/token-billing.ts';
import { exact, instant } from '../base/columns.ts';
import { billableMetrics } from '../metrics/billable-metrics.tables.ts';
import { products } from '../products/products.tables.ts';
import { rateCards } from '../rate-cards/rate-cards.tables.ts';

/** The prices of AI providers, each valid from an instant. Rows are added, never changed. */
export const tokenPrices = pgTable(
  'token_prices',
  {
    provider: text('provider').notNull(),
    /** `author/model` */
    model: text('model').notNull(),
    kind: text('kind', { enum: TOKEN_KINDS }).notNull(),
    validFrom: instant('valid_from').notNull(),
    usdPerToken: exact('usd_per_token').notNull(),
    /** The source of the price. */
    source: text('source').notNull(),
    /** When the row was added, by the service's clock: a model that is imported late still counts as new. */
    recordedAt: instant('recorded_at').notNull(),
  },
  (table) => [
    primaryKey({
      name: 'token_prices_pkey',
      columns: [table.provider, table.model, table.kind, table.validFrom],
    }),
  ],
);

/** Other ids of models in events. An alias refers to one model of a provider. */
export const tokenModelAliases = pgTable(
  'token_model_aliases',
  {
    provider: text('provider').notNull(),
    alias: text('alias').notNull(),
    model: text('model').notNull(),
  },
  (table) => [primaryKey({ name: 'token_model_aliases_pkey', columns: [table.provider, table.alias] })],
);

/** The metric of each kind of tokens, which all managed cards share. */
export const tokenMetrics = pgTable('token_metrics', {
  kind: text('kind', { enum: TOKEN_KINDS }).primaryKey(),
  billableMetricId: uuid('billable_metric_id')
    .notNull()
    .references(() => billableMetrics.id),
});

/** Rate cards that the service manages by the catalogue. */
export const managedRateCards = pgTable('managed_rate_cards', {
  rateCardId: uuid('rate_card_id')
    .primaryKey()
    .references(() => rateCards.id),
  /** The markup of later models; null: they are not added. */
  defaultMarkup: exact('default_markup'),
  /** A unit that the card converts; null: US cents. */
  customCreditTypeId: uuid('custom_credit_type_id'),
  reprice: text('reprice', { enum: REPRICE_MODES }).notNull(),
  /** The catalogue was searched for new models up to here. */
  syncedAt: instant('synced_at').notNull(),
});

/** The charges of a managed card: its product for each kind of tokens of a model, and the basis of its price. */
export const managedModels = pgTable(
  'managed_models',
  {
    rateCardId: uuid('rate_card_id')
      .notNull()
      .references(() => managedRateCards.rateCardId),
    provider: text('provider').notNull(),
    model: text('model').notNull(),
    kind: text('kind', { enum: TOKEN_KINDS }).notNull(),
    productId: uuid('product_id')
      .notNull()
      .references(() => products.id),
    markup: exact('markup').notNull(),
    /** The provider's price that the current rate is computed from. */
    usdPerToken: exact('usd_per_token').notNull(),
    validFrom: instant('valid_from').notNull(),
    /** When the current rate starts: changes of it start then or later. */
    ratesFrom: instant('rates_from').notNull(),
    /** The ids under which the card has rates for it. */
    names: text('names').array().notNull(),
    isRemoved: boolean('is_removed').notNull(),
  },
  (table) => [
    primaryKey({
      name: 'managed_models_pkey',
      columns: [table.rateCardId, table.provider, table.model, table.kind],
    }),
    index('managed_models_product').on(table.productId),
  ],
);
