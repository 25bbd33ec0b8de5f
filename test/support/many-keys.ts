/** A customer with usage of very many line keys, and memory of the process while it is billed. */
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import type { ApiClient } from './api-client.ts';
import { createdId } from './catalogue-api.ts';

export interface ManyKeys {
  readonly customerId: string;
  readonly contractId: string;
  readonly manyProductId: string;
  readonly total: string;
}

const PRODUCTS = '/v1/contract-pricing/products/create';

/**
 * November of a customer: every `key` has one unit in each of the first `hours` hours, at 3 each, and a product
 * without group keys counts them at 1. Alias `name`.
 */
export async function createManyKeys(
  { api, clickhouse }: { readonly api: ApiClient; readonly clickhouse: ClickHouse },
  { name, keys, hours }: { readonly name: string; readonly keys: number; readonly hours: number },
): Promise<ManyKeys> {
  const customerId = await createdId(api, '/v1/customers', { name, ingest_aliases: [name] });
  const metric = async (body: object) => createdId(api, '/v1/billable-metrics/create', body);
  const many = await metric({
    name: 'Units',
    aggregation_type: 'SUM',
    aggregation_key: 'units',
    property_filters: [
      { name: 'units', exists: true },
      { name: 'user', exists: true },
    ],
    group_keys: [['user']],
  });
  const all = await metric({ name: 'Calls', aggregation_type: 'COUNT' });
  const manyProductId = await createdId(api, PRODUCTS, {
    name: 'Units',
    type: 'USAGE',
    billable_metric_id: many,
    presentation_group_key: ['user'],
  });
  const callsProductId = await createdId(api, PRODUCTS, {
    name: 'Calls',
    type: 'USAGE',
    billable_metric_id: all,
  });
  const rateCardId = await createdId(api, '/v1/contract-pricing/rate-cards/create', { name: 'card' });
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT' };
  await api.post('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id: rateCardId,
    rates: [
      { ...rate, product_id: manyProductId, price: 3 },
      { ...rate, product_id: callsProductId, price: 1 },
    ],
  });
  const contractId = await createdId(api, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
  });
  await storeUnits(clickhouse, { name, keys, hours });
  return { customerId, contractId, manyProductId, total: String(keys * hours * 4) };
}

/** One event for each key and hour, made by ClickHouse itself. */
async function storeUnits(
  clickhouse: ClickHouse,
  { name, keys, hours }: { readonly name: string; readonly keys: number; readonly hours: number },
): Promise<void> {
  const CHUNK = 1_000_000;
  for (let from = 0; from < keys * hours; from += CHUNK) {
    await clickhouse.command(`
      INSERT INTO usage_events
        (transaction_id, customer_ref, event_type, timestamp, properties, ingested_at, version)
      SELECT concat('${name}-', toString(number)), '${name}', 'unit',
        toDateTime64('2026-11-01 00:30:00', 3, 'UTC') + toIntervalHour(number % ${hours}),
        map('units', '1', 'user', concat('u', leftPad(toString(intDiv(number, ${hours})), 7, '0'))),
        toDateTime64('2026-11-01 01:00:00', 6, 'UTC'), 1
      FROM numbers(${from}, ${Math.min(CHUNK, keys * hours - from)})`);
  }
}

/** The highest memory of the process while `work` runs, above that before it, in MiB. */
export async function memoryGrowth(work: () => Promise<void>): Promise<number> {
  global.gc?.();
  const before = process.memoryUsage().rss;
  let highest = before;
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().rss);
  }, 50);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return Math.round((Math.max(highest, process.memoryUsage().rss) - before) / 1024 ** 2);
}
