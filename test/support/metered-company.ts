/** A rate card with a product for every kind of metric, with tiers, and random events that they count. */
import fc from 'fast-check';
import { formatInstant, HOUR_MS } from '../../src/core/time.ts';
import type { ApiClient } from './api-client.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from './catalogue-api.ts';

const EVENT_TYPE = 'job';
const MONTH = Date.parse('2026-11-01T00:00:00Z');

interface MeteredProduct {
  readonly name: string;
  readonly metric: Record<string, unknown>;
  readonly product?: Record<string, unknown>;
}

const keyed = (aggregation_type: string, aggregation_key: string, ...keys: string[]) => ({
  aggregation_type,
  aggregation_key,
  event_type_filter: { in_values: [EVENT_TYPE] },
  property_filters: [aggregation_key, ...keys].map((name) => ({ name, exists: true })),
  ...(keys.length === 0 ? {} : { group_keys: [keys] }),
});

const METERED: readonly MeteredProduct[] = [
  {
    name: 'Jobs',
    metric: { aggregation_type: 'COUNT', event_type_filter: { in_values: [EVENT_TYPE] } },
    product: { quantity_conversion: { operation: 'DIVIDE', conversion_factor: 3 } },
  },
  {
    name: 'Work by model',
    metric: keyed('SUM', 'amount', 'model'),
    product: { pricing_group_key: ['model'] },
  },
  { name: 'Peak', metric: keyed('MAX', 'amount') },
  { name: 'Users', metric: keyed('UNIQUE', 'user') },
  { name: 'Stored', metric: keyed('LATEST', 'amount') },
  {
    name: 'Large jobs',
    metric: {
      sql: "SELECT count(*) AS value FROM events WHERE event_type = 'job' AND properties.amount > 3",
    },
  },
  {
    name: 'Rounded work',
    metric: keyed('SUM', 'amount'),
    product: { quantity_rounding: { rounding_method: 'ROUND_UP', decimal_places: 0 } },
  },
];

/** Every product has two tiers: 4 units at 7 cents, the others at 3 cents. Returns the id of the card. */
export async function createMeteredCard(api: ApiClient): Promise<string> {
  const cardId = await createdId(api, RATE_CARDS, { name: 'metered' });
  for (const { name, metric, product } of METERED) {
    const billable_metric_id = await createdId(api, METRICS, { name, ...metric });
    const product_id = await createdId(api, PRODUCTS, {
      name,
      type: 'USAGE',
      billable_metric_id,
      ...product,
    });
    const rate = {
      product_id,
      starting_at: '2026-01-01T00:00:00Z',
      entitled: true,
      rate_type: 'TIERED',
      tiers: [{ size: 4, price: 7 }, { price: 3 }],
    };
    await api.post(ADD_RATES, { rate_card_id: cardId, rates: [rate] });
  }
  return cardId;
}

let names = 0;

export interface MeteredCustomer {
  readonly customerId: string;
  readonly contractId: string;
  readonly alias: string;
}

/** A customer with a contract from November 2026 on. */
export async function createMeteredCustomer(
  api: ApiClient,
  rate_card_id: string,
  terms: Record<string, unknown> = {},
): Promise<MeteredCustomer> {
  names += 1;
  const alias = `metered-${names}`;
  const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const contractId = await createdId(api, CONTRACTS, {
    customer_id: customerId,
    rate_card_id,
    starting_at: '2026-11-01T00:00:00Z',
    ...terms,
  });
  return { customerId, contractId, alias };
}

export interface Job {
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, string | number>>;
}

const job: fc.Arbitrary<Job> = fc
  .record({
    halfHours: fc.integer({ min: 0, max: 60 }),
    amount: fc.integer({ min: -3, max: 40 }).map((tenths) => (tenths / 10).toFixed(1)),
    model: fc.constantFrom('small', 'large'),
    user: fc.constantFrom('ada', 'bob', 'eve', 'joe', 'sam'),
    team: fc.constantFrom('red', 'blue', 'green', null),
  })
  .map(({ halfHours, team, ...properties }) => ({
    timestamp: formatInstant(MONTH + (halfHours * HOUR_MS) / 2),
    properties: { ...properties, ...(team === null ? {} : { team }) },
  }));

/** In the first 30 hours of November 2026. */
export const jobs: fc.Arbitrary<Job[]> = fc.array(job, { maxLength: 25 });

/** The event as it is sent, with a transaction id that no other one has. */
export function jobEvent(alias: string, one: Job, index: number) {
  return {
    transaction_id: `${alias} ${index}`,
    customer_id: alias,
    event_type: EVENT_TYPE,
    ...one,
  };
}

export async function sendJobs(
  api: ApiClient,
  events: readonly ReturnType<typeof jobEvent>[],
): Promise<void> {
  if (events.length > 0) await api.post('/v1/ingest', events);
}
