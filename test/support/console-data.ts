/**
 * The data that the console is tried and photographed with: the demo's month, issued, and the month after it, running.
 * The service needs a sandbox clock at `DEMO_NOW`.
 */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

/** The demo's billing period is October then. */
export const DEMO_NOW = '2026-10-30T12:00:00Z';
/** When the data is looked at. */
const PRESENT = '2026-11-26T09:30:00Z';
const COMMAND = fileURLToPath(new URL('../../dist/tallyhouse.cjs', import.meta.url));
const DAY_MS = 86_400_000;

const pageOfCustomers = z.object({
  data: z.array(z.object({ id: z.string(), name: z.string(), ingest_aliases: z.array(z.string()) })),
});

interface DemoCustomer {
  readonly id: string;
  readonly name: string;
  readonly alias: string;
}

interface Service {
  readonly url: string;
  readonly token: string;
}

export async function request(
  service: Service,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Fills an empty service. */
export async function fillWithDemo(
  service: Service,
  { events = 4_000, customers = 12 }: { readonly events?: number; readonly customers?: number } = {},
): Promise<DemoCustomer[]> {
  const options = ['--url', service.url, '--token', service.token];
  const sizes = ['--events', String(events), '--customers', String(customers)];
  await promisify(execFile)(process.execPath, [COMMAND, 'demo', ...options, ...sizes], { cwd: tmpdir() });
  const { data } = pageOfCustomers.parse(await request(service, 'GET', '/v1/customers?limit=100'));
  const known = data
    .map(({ id, name, ingest_aliases: [alias = id] }) => ({ id, name, alias }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  await request(service, 'POST', '/v1/sandbox/clock', { now: PRESENT });
  // Not everybody pays for requests: the others have nothing that could be late.
  const former = await eventsByCustomer(service);
  const requesting = known.filter(({ id }) => former.has(id));
  await sendPresentMonth(service, requesting, former);
  return requesting;
}

/** Traffic of November until now: less of the one, more of the other, and what a person has to look at. */
async function sendPresentMonth(
  service: Service,
  customers: readonly DemoCustomer[],
  former: ReadonlyMap<string, number>,
): Promise<void> {
  const regions = await distinct(service, 'region');
  const models = await distinct(service, 'model');
  const start = Date.parse('2026-11-01T00:00:00Z');
  const days = Math.floor((Date.parse(PRESENT) - start) / DAY_MS);
  const events = customers.flatMap(({ id, alias }, index) => {
    // Most grow, a few shrink, and one has nearly stopped.
    const factor = index === 3 ? 0.2 : 0.75 + ((index * 37) % 60) / 100;
    const aDay = Math.max(1, Math.round(((former.get(id) ?? 0) / 31) * factor));
    return Array.from({ length: days * aDay }, (_, number) => ({
      transaction_id: `november-${index}-${number}`,
      customer_id: alias,
      event_type: 'llm_request',
      timestamp: new Date(
        start + Math.floor(number / aDay) * DAY_MS + ((number * 7_919_123) % DAY_MS),
      ).toISOString(),
      properties: {
        model: models[(index + number) % models.length] ?? '',
        region: regions[number % regions.length] ?? '',
        tokens: String(900 + ((index * 37 + number * 131) % 900) * 3),
        user_id: `user-${(index + number * number) % 23}`,
      },
    }));
  });
  const [first, second] = customers;
  const unpriced = {
    ...events[0],
    transaction_id: 'november-unpriced',
    customer_id: first?.alias,
    properties: { ...events[0]?.properties, model: 'merlin-preview', tokens: '250000' },
  };
  const late = {
    ...events[0],
    transaction_id: 'october-late',
    customer_id: second?.alias,
    timestamp: '2026-10-31T20:00:00.000Z',
  };
  for (let at = 0; at < events.length; at += 100) {
    await request(service, 'POST', '/v1/ingest', events.slice(at, at + 100));
  }
  await request(service, 'POST', '/v1/ingest', [unpriced, late]);
}

const texts = z.object({ data: z.array(z.object({ value: z.string().nullable() })) });

async function distinct(service: Service, property: string): Promise<string[]> {
  const sql = `SELECT properties.${property} AS value, COUNT(*) AS sent FROM events WHERE event_type = 'llm_request' GROUP BY value ORDER BY value`;
  const { data } = texts.parse(await request(service, 'POST', '/v1/sql', { sql }));
  return data.flatMap(({ value }) => value ?? []);
}

const counted = z.object({ data: z.array(z.object({ customer_id: z.string(), sent: z.number() })) });

async function eventsByCustomer(service: Service): Promise<ReadonlyMap<string, number>> {
  const sql =
    "SELECT customer_id, COUNT(*) AS sent FROM events WHERE event_type = 'llm_request' GROUP BY customer_id";
  const { data } = counted.parse(await request(service, 'POST', '/v1/sql', { sql }));
  return new Map(data.map(({ customer_id, sent }) => [customer_id, sent]));
}

const CUSTOMERS_AT_ONCE = 20;

/** Customers with a contract since November on a separate card, and one call each. Returns the product of calls. */
export async function addManyCustomers(service: Service, count: number): Promise<string> {
  const made = async (path: string, body: object) =>
    oneId.parse(await request(service, 'POST', path, body)).data.id;
  const metric = await made('/v1/billable-metrics/create', {
    name: 'Calls of many',
    aggregation_type: 'COUNT',
    event_type_filter: { in_values: ['one'] },
  });
  const product = await made('/v1/contract-pricing/products/create', {
    name: 'Calls of many',
    type: 'USAGE',
    billable_metric_id: metric,
  });
  const card = await made('/v1/contract-pricing/rate-cards/create', { name: 'Many' });
  const rate = { product_id: product, entitled: true, rate_type: 'FLAT', price: 3 };
  const [since, at] = ['2026-01-01T00:00:00Z', '2026-11-10T00:00:00Z'];
  await request(service, 'POST', '/v1/contract-pricing/rate-cards/addRate', {
    rate_card_id: card,
    starting_at: since,
    ...rate,
  });
  const names = Array.from({ length: count }, (_, index) => `Customer ${String(index).padStart(4, '0')}`);
  for (let first = 0; first < count; first += CUSTOMERS_AT_ONCE) {
    const some = names.slice(first, first + CUSTOMERS_AT_ONCE);
    await Promise.all(
      some.map(async (name) => {
        const customer = await made('/v1/customers', { name, ingest_aliases: [name.replace(' ', '-')] });
        const contract = { customer_id: customer, rate_card_id: card, starting_at: '2026-11-01T00:00:00Z' };
        await made('/v1/contracts/create', contract);
      }),
    );
    const events = some.map((name) => {
      const alias = name.replace(' ', '-');
      return { transaction_id: `one-${alias}`, customer_id: alias, event_type: 'one', timestamp: at };
    });
    await request(service, 'POST', '/v1/ingest', events);
  }
  return product;
}

const oneId = z.object({ data: z.object({ id: z.string() }) });
