/**
 * The metrics, products and custom fields of managed rate cards (docs/explanation/token-billing.md, "What is created").
 */
import type { CustomFieldEntity } from '../../core/custom-fields.ts';
import type { Decimal } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { StreamingDefinition } from '../../core/metric.ts';
import { formatInstant } from '../../core/time.ts';
import { MANAGED_TAG, TOKEN_EVENT_TYPE, TOKEN_KINDS, type TokenKind } from '../../core/token-billing.ts';
import { TOKENS_PER_UNIT } from '../../rating/rates/managed-price.ts';
import type { Transaction } from '../../store/base/database.ts';
import type { ManagedCard } from '../../store/token-billing/managed-rate-cards.ts';
import { insertTokenMetric, loadTokenMetrics } from '../../store/token-billing/token-prices.ts';
import type { RowContext } from '../billing-context.ts';
import { declareKey } from '../custom-fields/keys.ts';
import { mergeCustomFields } from '../custom-fields/store-fields.ts';
import { createMetricIn } from '../metrics/metrics.ts';
import { createProductsIn } from '../products/products.ts';

/** The properties by which tokens are priced. */
const PRICING_KEY = ['model', 'provider'] as const;

const FIELDS: readonly (readonly [CustomFieldEntity, string])[] = [
  ['rate_card', 'ai_managed'],
  ['rate_card', 'ai_managed_last_updated_at'],
  ['rate_card', 'default_ai_markup'],
  ['contract_product', 'ai_managed'],
  ['contract_product', 'ai_markup'],
];

/** Declares the custom fields of managed objects that are not declared yet. */
export async function declareManagedFields(tx: Transaction, { clock }: RowContext): Promise<void> {
  for (const [entity, key] of FIELDS) {
    await declareKey(tx, { entity, key, enforceUniqueness: false }, clock.now(), ['managedPricing']);
  }
}

/** Writes the custom fields of a managed card. */
export async function describeCard(tx: Transaction, card: ManagedCard): Promise<void> {
  await mergeCustomFields(tx, [
    {
      entity: 'rate_card',
      entityId: card.rateCardId,
      fields: {
        ai_managed: 'true',
        ai_managed_last_updated_at: formatInstant(card.syncedAt),
        ...(card.defaultMarkup === null ? {} : { default_ai_markup: card.defaultMarkup.toFixed() }),
      },
      path: ['managedPricing'],
    },
  ]);
}

/** The metrics of these kinds of tokens; those that do not exist are created. The catalogue must be locked. */
async function metricsOfKinds(
  tx: Transaction,
  context: RowContext,
  kinds: ReadonlySet<TokenKind>,
): Promise<ReadonlyMap<TokenKind, string>> {
  const metrics = await loadTokenMetrics(tx);
  for (const kind of TOKEN_KINDS) {
    if (!kinds.has(kind) || metrics.has(kind)) continue;
    const definition = { kind: 'streaming', ...metricDefinition(kind) } as const;
    const { id } = await createMetricIn(tx, context, { name: kind, definition, customFields: {} });
    await insertTokenMetric(tx, kind, id);
    metrics.set(kind, id);
  }
  return metrics;
}

function metricDefinition(kind: TokenKind): StreamingDefinition {
  const present = { exists: true, inValues: null, notInValues: null };
  return {
    eventTypeFilter: { inValues: [TOKEN_EVENT_TYPE], notInValues: null },
    propertyFilters: [...PRICING_KEY, kind].map((name) => ({ name, ...present })),
    aggregation: 'SUM',
    aggregationKey: kind,
    groupKeys: [PRICING_KEY],
  };
}

export interface NewManagedProduct {
  readonly model: string;
  readonly kind: TokenKind;
  readonly markup: Decimal;
}

/** One product for each model and kind of tokens, in this order. Returns their ids. */
export async function createManagedProducts(
  tx: Transaction,
  context: RowContext,
  added: readonly NewManagedProduct[],
  createdBy: string,
): Promise<string[]> {
  const metrics = await metricsOfKinds(tx, context, new Set(added.map(({ kind }) => kind)));
  const products = await createProductsIn(
    tx,
    context,
    added.map(({ model, kind, markup }) => {
      const billableMetricId = metrics.get(kind);
      assert(billableMetricId !== undefined, `there is a metric of ${kind}`);
      return {
        type: 'USAGE',
        terms: {
          name: `${model} ${kind.replaceAll('_', ' ')}`,
          tags: [MANAGED_TAG],
          billableMetricId,
          quantityConversion: {
            name: 'million tokens',
            operation: 'DIVIDE',
            conversionFactor: TOKENS_PER_UNIT,
          },
          quantityRounding: null,
          sqlBreakdownGranularity: null,
          pricingGroupKey: PRICING_KEY,
          presentationGroupKey: [],
          compositeProductIds: [],
          compositeTags: [],
          excludeFreeUsage: false,
          includeCompositeSpend: false,
        },
        customFields: { ai_managed: 'true', ai_markup: markup.toFixed() },
        createdBy,
      };
    }),
  );
  return products.map(({ id }) => id);
}
