/** A process is killed again and again while usage crosses thresholds, and another one continues. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BillingProcess, created, moveClock } from '../support/billing-process.ts';
import { createSharedStores, type SharedStores } from '../support/shared-stores.ts';

const NOW = '2026-11-10T12:30:00Z';
const NOON = '2026-11-10T12:10:00Z';
const CUSTOMERS = 10;
const ROUNDS = 20;
/** The balance of 5,000 is crossed in about every fifth round. */
const TOKENS = 900;
const KILLED_AFTER_MS_MAX = 600;

let stores: SharedStores;

beforeAll(async () => {
  stores = await createSharedStores(NOW);
});
afterAll(() => stores.close());

interface Customer {
  readonly customer_id: string;
  readonly contract_id: string;
}

/** Each has a balance that is recharged to 5,000 at 1,000, at one cent a token. */
async function createCustomers(service: BillingProcess): Promise<Customer[]> {
  const billable_metric_id = await created(service, '/v1/billable-metrics/create', {
    name: 'Tokens',
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    property_filters: [{ name: 'tokens', exists: true }],
    event_type_filter: { in_values: ['use'] },
  });
  const products = '/v1/contract-pricing/products/create';
  const tokens = await created(service, products, { name: 'Tokens', type: 'USAGE', billable_metric_id });
  const fee = await created(service, products, { name: 'Top-up', type: 'FIXED' });
  const rate_card_id = await created(service, '/v1/contract-pricing/rate-cards/create', { name: 'Card' });
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 1 };
  await service.call('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id,
    rates: [{ ...rate, product_id: tokens }],
  });
  const customers: Customer[] = [];
  for (let index = 0; index < CUSTOMERS; index += 1) {
    const customer_id = await created(service, '/v1/customers', { name: `customer-${index}` });
    const contract_id = await created(service, '/v1/contracts/create', {
      customer_id,
      rate_card_id,
      starting_at: '2026-11-01T00:00:00Z',
      prepaid_balance_threshold_configuration: {
        is_enabled: true,
        threshold_amount: 1000,
        recharge_to_amount: 5000,
        commit: { product_id: fee },
        payment_gate_config: { payment_gate_type: 'NONE' },
      },
    });
    customers.push({ customer_id, contract_id });
  }
  return customers;
}

function usageOf({ customer_id }: Customer, round: number): object {
  const event = { customer_id, event_type: 'use', timestamp: NOON, properties: { tokens: TOKENS } };
  return { transaction_id: `${customer_id} ${round}`, ...event };
}

interface Amounts {
  /** Amounts of the commits that were bought. */
  readonly granted: number[];
  readonly left: number;
  /** Totals of the issued invoices for them. */
  readonly invoiced: number[];
}

async function amountsOf(service: BillingProcess, customer: Customer): Promise<Amounts> {
  const contract = await service.call('/v2/contracts/get', { ...customer, include_balance: true });
  const { commits = [] } = JSON.parse(contract.body).data as {
    commits?: { balance: number; access_schedule: { schedule_items: { amount: number }[] } }[];
  };
  const list = await service.call(`/v1/customers/${customer.customer_id}/invoices?limit=100`);
  const invoices = JSON.parse(list.body).data as { type: string; status: string; total: number }[];
  const ascending = (amounts: number[]) => amounts.toSorted((a, b) => a - b);
  return {
    granted: ascending(
      commits.flatMap(({ access_schedule }) => access_schedule.schedule_items.map(({ amount }) => amount)),
    ),
    left: commits.reduce((sum, { balance }) => sum + balance, 0),
    invoiced: ascending(
      invoices.flatMap(({ type, status, total }) =>
        type === 'SCHEDULED' && status === 'FINALIZED' ? [total] : [],
      ),
    ),
  };
}

test(`after ${ROUNDS} kills every crossing was charged once, and every charge invoiced once`, async () => {
  const survivor = await stores.start('survivor');
  const customers = await createCustomers(survivor);
  for (let round = 0; round < ROUNDS; round += 1) {
    const victim = await stores.start('victim');
    const sent = customers.map(async (customer) => {
      const events = [usageOf(customer, round)];
      const answer = await victim.call('/v1/ingest', events).catch(() => null);
      if (answer?.status === 200) return;
      // Events that were not acknowledged are sent again, with the same ids.
      expect((await survivor.call('/v1/ingest', events)).status).toBe(200);
    });
    await pause((KILLED_AFTER_MS_MAX * (round + 1)) / ROUNDS);
    await victim.kill();
    await Promise.all(sent);
  }
  // Evaluates everything, and then does the jobs that became due by it.
  for (const now of ['2026-11-10T12:31:00Z', '2026-11-10T12:32:00Z']) await moveClock(survivor, now);
  for (const customer of customers) {
    const { granted, left, invoiced } = await amountsOf(survivor, customer);
    expect(invoiced).toEqual(granted);
    expect(granted.reduce((sum, amount) => sum + amount, 0) - left).toBe(ROUNDS * TOKENS);
    expect(left).toBeGreaterThan(1000);
    expect(left).toBeLessThanOrEqual(5000);
    // Each is for what was used since the last: 5,000 at first, then at least 4,000.
    expect(granted.length).toBeLessThanOrEqual(1 + (ROUNDS * TOKENS) / 4000);
  }
}, 1_200_000);
