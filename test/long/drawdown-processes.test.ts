/**
 * Two processes issue the invoices of four contracts of one customer at the same time, which draw on one credit. A round
 * is one customer in one month. A third process is killed in every month.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BillingProcess, created, moveClock } from '../support/billing-process.ts';
import { createSharedStores, type SharedStores } from '../support/shared-stores.ts';

const CUSTOMERS = 250;
const MONTHS = 4;
const CONTRACTS = 4;
/** The credit of each month. Each contract uses 40. */
const CREDIT = 100;
const AT_ONCE = 8;

const month = (index: number) => new Date(Date.UTC(2026, 10 + index)).toISOString();

let stores: SharedStores;

beforeAll(async () => {
  stores = await createSharedStores('2026-11-01T00:00:00Z');
});
afterAll(() => stores.close());

interface Catalogue {
  readonly rate_card_id: string;
  readonly creditProduct: string;
}

async function createCatalogue(service: BillingProcess): Promise<Catalogue> {
  const billable_metric_id = await created(service, '/v1/billable-metrics/create', {
    name: 'Requests',
    aggregation_type: 'COUNT',
    event_type_filter: { in_values: ['request'] },
  });
  const products = '/v1/contract-pricing/products/create';
  const product_id = await created(service, products, {
    name: 'Requests',
    type: 'USAGE',
    billable_metric_id,
  });
  const creditProduct = await created(service, products, { name: 'Credit', type: 'FIXED' });
  const rate_card_id = await created(service, '/v1/contract-pricing/rate-cards/create', { name: 'List' });
  const rate = { product_id, starting_at: month(0), entitled: true, rate_type: 'FLAT', price: 40 };
  await service.call('/v1/contract-pricing/rate-cards/addRates', { rate_card_id, rates: [rate] });
  return { rate_card_id, creditProduct };
}

async function createCustomer(
  service: BillingProcess,
  { rate_card_id, creditProduct }: Catalogue,
  index: number,
): Promise<void> {
  const name = `customer-${index}`;
  const customer_id = await created(service, '/v1/customers', { name, ingest_aliases: [name] });
  for (let contract = 0; contract < CONTRACTS; contract += 1) {
    await created(service, '/v1/contracts/create', { customer_id, rate_card_id, starting_at: month(0) });
  }
  const months = Array.from({ length: MONTHS }, (_, at) => at);
  const schedule_items = months.map((at) => ({
    amount: CREDIT,
    starting_at: month(at),
    ending_before: month(at + 1),
  }));
  await created(service, '/v1/contracts/customerCredits/create', {
    customer_id,
    priority: 1,
    product_id: creditProduct,
    access_schedule: { schedule_items },
  });
}

/** When the month has begun: usage of the future is refused. */
async function use(service: BillingProcess, at: number): Promise<void> {
  const events = Array.from({ length: CUSTOMERS }, (_, index) => ({
    transaction_id: `${at} ${index}`,
    customer_id: `customer-${index}`,
    event_type: 'request',
    timestamp: month(at),
    properties: {},
  }));
  for (let from = 0; from < CUSTOMERS; from += 100) {
    const { status } = await service.call('/v1/ingest', events.slice(from, from + 100));
    expect(status).toBe(200);
  }
}

/** The amounts that the invoices of the month drew, by contract and credit, as one text per customer. */
async function drawnIn(at: number): Promise<string[]> {
  const rows = await stores.database.db.execute<{ drawn: string }>(sql`
    select string_agg(d.amount::numeric(20, 0)::text, ' ' order by d.amount desc) as drawn
    from balance_deductions d join invoices i on i.id = d.invoice_id
    where i.period_start = ${month(at)} group by i.customer_id`);
  return [...rows].map(({ drawn }) => drawn);
}

test(`in ${CUSTOMERS * MONTHS} rounds no balance is spent twice`, async () => {
  const [one, two] = [await stores.start('one'), await stores.start('two')];
  const catalogue = await createCatalogue(one);
  for (let from = 0; from < CUSTOMERS; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, CUSTOMERS - from) }, (_, index) => from + index);
    await Promise.all(some.map((index) => createCustomer(one, catalogue, index)));
  }
  for (let at = 0; at < MONTHS; at += 1) {
    const third = await stores.start('three');
    await use(two, at);
    const closing = new Date(Date.UTC(2026, 11 + at, 2)).toISOString();
    const interrupted = third.call('/v1/sandbox/clock', { now: closing }).catch(() => undefined);
    const moves = [one, two].map((service) => moveClock(service, closing));
    await pause(500 * (at + 1));
    await third.kill();
    await Promise.all([...moves, interrupted]);
    expect(await drawnIn(at)).toEqual(Array(CUSTOMERS).fill('40 40 20'));
  }
}, 1_800_000);
