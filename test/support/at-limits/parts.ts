/** Parts of the worlds of operations at their limits. */
import { created, inParallel, type LimitsClient } from './client.ts';

export interface Company {
  readonly customer_id: string;
  readonly contract_id: string;
}

const EVENTS_PER_REQUEST = 100;
export const CARDS = '/v1/contract-pricing/rate-cards';
export const PRODUCTS = '/v1/contract-pricing/products';
export const USD_CENTS = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';

/** The service's clock stands in this month. */
export const MONTH = { start: '2026-11-01T00:00:00Z', end: '2026-12-01T00:00:00Z' } as const;
export const NOW = '2026-11-20T00:00:00Z';

export const RATE = { starting_at: MONTH.start, entitled: true, rate_type: 'FLAT', price: 2 } as const;

export async function cardWith(
  client: LimitsClient,
  name: string,
  products: readonly string[],
): Promise<string> {
  const rate_card_id = await created(client, `${CARDS}/create`, { name });
  await client.post(`${CARDS}/addRates`, {
    rate_card_id,
    rates: products.map((product_id) => ({ ...RATE, product_id })),
  });
  return rate_card_id;
}

/** Over twenty days, unless there are fewer `hours`. */
export async function sendValues(
  client: LimitsClient,
  alias: string,
  values: number,
  eventsOfValue: number,
  hours = 450,
): Promise<void> {
  const start = Date.parse(MONTH.start);
  const total = values * eventsOfValue;
  const eventOf = (index: number) => ({
    transaction_id: `${alias} ${index}`,
    customer_id: alias,
    event_type: 'call',
    timestamp: new Date(start + ((index * 7) % hours) * 3_600_000).toISOString(),
    properties: { tokens: String(index + 1), user: `user-${index % values}` },
  });
  await inParallel(Math.ceil(total / EVENTS_PER_REQUEST), async (request) => {
    const first = request * EVENTS_PER_REQUEST;
    const length = Math.min(EVENTS_PER_REQUEST, total - first);
    await client.post(
      '/v1/ingest',
      Array.from({ length }, (_, index) => eventOf(first + index)),
    );
  });
}
