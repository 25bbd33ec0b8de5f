/** A month of events of one customer, and a rate card that prices them. */
import type { InProcessService } from './in-process-service.ts';

/** One per aggregation. */
export const PRODUCTS = 5;

export interface Month {
  readonly start: Date;
  readonly end: Date;
}

export function currentMonth(): Month {
  const now = new Date();
  return {
    start: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)),
    end: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)),
  };
}

/** Events spread over the month, six properties each; `kinds` event types in turn. */
export async function fill(
  { clickhouse }: InProcessService,
  customerRef: string,
  events: number,
  kinds: number,
  { start, end }: Month,
): Promise<void> {
  const startSeconds = start.getTime() / 1000;
  const spanSeconds = (end.getTime() - start.getTime()) / 1000;
  await clickhouse.command(`
    INSERT INTO usage_events (transaction_id, customer_ref, event_type, timestamp, properties, ingested_at,
                              version, id_hash_a, id_hash_b, id_hash_c)
    SELECT concat('${customerRef}-', toString(number)), '${customerRef}', concat('kind-', toString(number % ${kinds})),
           toDateTime64(${startSeconds} + (number * 7919) % ${spanSeconds}, 3, 'UTC'),
           map('model', ['large', 'small', 'embed'][number % 3 + 1], 'region', ['eu', 'us'][number % 2 + 1],
               'tokens', toString(cityHash64(number) % 4000), 'user', toString(number % 1000),
               'version', '3', 'host', concat('host-', toString(number % 20))),
           now64(6), 1000000 - number, rand(1), rand(2), rand(3)
    FROM numbers(${events})`);
}

export async function createMetric(
  service: InProcessService,
  kind: string,
  aggregation: string,
): Promise<string> {
  const key = { SUM: 'tokens', MAX: 'tokens', LATEST: 'tokens', UNIQUE: 'user', COUNT: null }[aggregation];
  return await service.create('/v1/billable-metrics/create', {
    name: `${aggregation} of ${kind}`,
    aggregation_type: aggregation,
    event_type_filter: { in_values: [kind] },
    property_filters: ['tokens', 'user', 'model'].map((name) => ({ name, exists: true })),
    group_keys: [['model']],
    ...(key == null ? {} : { aggregation_key: key }),
  });
}

/** Tiered prices by model of five products, one per aggregation. Returns the card's id. */
export async function createMonthlyCard(service: InProcessService): Promise<string> {
  const cardId = await service.create('/v1/contract-pricing/rate-cards/create', { name: 'card' });
  const aggregations = ['COUNT', 'SUM', 'MAX', 'UNIQUE', 'LATEST'];
  for (const [index, aggregation] of aggregations.entries()) {
    const metricId = await createMetric(service, `kind-${index}`, aggregation);
    const productId = await service.create('/v1/contract-pricing/products/create', {
      name: aggregation,
      type: 'USAGE',
      billable_metric_id: metricId,
      pricing_group_key: ['model'],
    });
    await service.call('POST', '/v1/contract-pricing/rate-cards/addRate', {
      rate_card_id: cardId,
      product_id: productId,
      starting_at: '2020-01-01T00:00:00Z',
      entitled: true,
      rate_type: 'TIERED',
      tiers: [{ size: 1000, price: 0.5 }, { price: 0.25 }],
    });
  }
  return cardId;
}
