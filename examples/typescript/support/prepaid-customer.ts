/** For the examples of holds: a customer with a prepaid balance that is used up by one kind of event. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

interface Asked {
  readonly eventType: string;
  /** A property of the event, whose values are added up. */
  readonly property: string;
  /** US cents for one. */
  readonly price: number;
  /** US cents. */
  readonly balance: number;
}

/** The customer's ingest alias. */
export async function prepaidCustomer({ eventType, property, price, balance }: Asked): Promise<string> {
  const { TALLYHOUSE_URL, TALLYHOUSE_TOKEN } = process.env;
  assert(TALLYHOUSE_URL && TALLYHOUSE_TOKEN, 'TALLYHOUSE_URL and TALLYHOUSE_TOKEN must be set');
  const create = async (path: string, body: unknown): Promise<string> => {
    const response = await fetch(new URL(path, TALLYHOUSE_URL), {
      method: 'POST',
      headers: { authorization: `Bearer ${TALLYHOUSE_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    const { data } = (await response.json()) as { readonly data?: { readonly id?: string } };
    return data?.id ?? '';
  };
  const now = new Date();
  const monthStart = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString();
  const metric = await create('/v1/billable-metrics/create', {
    name: eventType,
    event_type_filter: { in_values: [eventType] },
    property_filters: [{ name: property, exists: true }],
    aggregation_type: 'SUM',
    aggregation_key: property,
  });
  const product = { name: eventType, type: 'USAGE', billable_metric_id: metric };
  const product_id = await create('/v1/contract-pricing/products/create', product);
  const credits = await create('/v1/contract-pricing/products/create', { name: 'Credits', type: 'FIXED' });
  const rate_card_id = await create('/v1/contract-pricing/rate-cards/create', { name: eventType });
  const rate = { product_id, starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price };
  await create('/v1/contract-pricing/rate-cards/addRate', { rate_card_id, ...rate });
  const alias = `prepaid-${randomUUID()}`;
  const customer_id = await create('/v1/customers', { name: 'Prepaid', ingest_aliases: [alias] });
  const item = { amount: balance, starting_at: monthStart, ending_before: '2100-01-01T00:00:00Z' };
  await create('/v1/contracts/create', {
    customer_id,
    rate_card_id,
    starting_at: monthStart,
    credits: [
      { name: 'Prepaid', product_id: credits, priority: 1, access_schedule: { schedule_items: [item] } },
    ],
  });
  return alias;
}
