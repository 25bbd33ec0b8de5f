/** Contracts with thresholds, at one cent a token, and what they are charged. */
import { setTimeout as pause } from 'node:timers/promises';
import { decimal, sum } from '../../src/core/decimal.ts';
import type { ApiClient } from './api-client.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from './catalogue-api.ts';

export interface ThresholdCatalogue {
  readonly fee: string;
  readonly tokens: string;
  readonly card: string;
}

/** Amounts are cents: one for each token. */
export async function createThresholdCatalogue(api: ApiClient): Promise<ThresholdCatalogue> {
  const billable_metric_id = await createdId(api, METRICS, {
    name: 'Tokens',
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    property_filters: [{ name: 'tokens', exists: true }],
    event_type_filter: { in_values: ['use'] },
  });
  const tokens = await createdId(api, PRODUCTS, { name: 'Tokens', type: 'USAGE', billable_metric_id });
  const fee = await createdId(api, PRODUCTS, { name: 'Top-up', type: 'FIXED' });
  const card = await createdId(api, RATE_CARDS, { name: 'Card' });
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 1 };
  await api.post(ADD_RATES, { rate_card_id: card, rates: [{ ...rate, product_id: tokens }] });
  return { fee, tokens, card };
}

/** Recharges to 5,000 at 1,000. */
export function topUp({ fee }: ThresholdCatalogue, change: object = {}) {
  return {
    is_enabled: true,
    threshold_amount: 1000,
    recharge_to_amount: 5000,
    commit: { product_id: fee },
    payment_gate_config: { payment_gate_type: 'NONE' },
    ...change,
  };
}

export interface ThresholdCustomer {
  readonly customerId: string;
  readonly contractId: string;
  /** One event; resolves when it is acknowledged. */
  use(tokens: number, at: string): Promise<void>;
  edit(change: object): Promise<void>;
  contract(): ReturnType<ApiClient['post']>;
  /** The granted amounts in the order of creation, and what is left of all together. */
  commits(): Promise<{ readonly granted: readonly string[]; readonly left: string }>;
  /** Type, status and total, sorted. */
  invoices(): Promise<string[]>;
}

let created = 0;

/** A customer with one contract from 2026-11-01 on. */
export async function createThresholdCustomer(
  api: ApiClient,
  { card }: ThresholdCatalogue,
  terms: object,
): Promise<ThresholdCustomer> {
  created += 1;
  const alias = `customer-${created}-${Date.now()}`;
  const customer_id = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const contract_id = await createdId(api, CONTRACTS, {
    customer_id,
    rate_card_id: card,
    starting_at: '2026-11-01T00:00:00Z',
    ...terms,
  });
  let sent = 0;
  const contract = () => api.post('/v2/contracts/get', { customer_id, contract_id, include_balance: true });
  return {
    customerId: customer_id,
    contractId: contract_id,
    async use(tokens, at) {
      sent += 1;
      const event = { customer_id: alias, event_type: 'use', timestamp: at, properties: { tokens } };
      await api.post('/v1/ingest', [{ transaction_id: `${alias}-${sent}`, ...event }]);
    },
    async edit(change) {
      await api.post('/v2/contracts/edit', { customer_id, contract_id, ...change });
    },
    contract,
    async commits() {
      const answer = await contract();
      const rows = answer.list('data.commits').map((_, index) => `data.commits[${index}]`);
      const balances = rows.map((at) => decimal(answer.digits(`${at}.balance`)));
      return {
        granted: rows.map((at) => answer.digits(`${at}.access_schedule.schedule_items[0].amount`)),
        left: sum(balances).toFixed(),
      };
    },
    async invoices() {
      const answer = await api.get(`/v1/customers/${customer_id}/invoices`, { query: { limit: 100 } });
      return answer
        .list('data')
        .map((_, index) => {
          const at = `data[${index}]`;
          return `${answer.text(`${at}.type`)} ${answer.text(`${at}.status`)} ${answer.digits(`${at}.total`)}`;
        })
        .toSorted();
    },
  };
}

/** A read takes as much computing as what it waits for, so the pauses between them grow. */
const PAUSES_MS = { first: 25, last: 200 };

/** Waits until `read` returns what is expected, for at most `withinMs`, which a slow machine takes. Returns what it has read last. */
export async function until<Value>(
  read: () => Promise<Value>,
  isExpected: (value: Value) => boolean,
  withinMs = 120_000,
): Promise<Value> {
  const end = performance.now() + withinMs;
  for (let wait = PAUSES_MS.first; ; wait = Math.min(2 * wait, PAUSES_MS.last)) {
    const value = await read();
    if (isExpected(value) || performance.now() > end) return value;
    await pause(wait);
  }
}
