/** Contracts that renew one another within one year, for tests of rollovers. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import type { ApiAnswer, ApiClient } from './api-client.ts';
import { CONTRACTS, createCatalogueApi, createdId } from './catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from './contract-terms.ts';
import { createTestClickHouse, createTestDatabase, type TestDatabase } from './stores.ts';
import type { Body } from './term-fixtures.ts';

export type Segment = [amount: number, from: number, until: number];

/** The first of this month of 2026. */
export const day = (month: number): string => new Date(Date.UTC(2026, month - 1, 1)).toISOString();

export interface RenewalBench {
  /** Filled in before the first test. */
  readonly catalogue: TermsCatalogue;
  customer(): string;
  /** The API of a service whose clock stands at the first of this month. */
  on(month: number): ApiClient;
  /** A prepaid commit that rolls over this fraction. */
  rolling(rollover_fraction: number, ...segments: Segment[]): Body;
  /** A contract that starts in January. Returns its id, as does `renew`. */
  create(terms: Body): Promise<string>;
  renew(from: string, month: number, change?: Body): Promise<string>;
  /** With balances and ledgers. */
  read(api: ApiClient, contract_id: string): Promise<ApiAnswer>;
  edit(api: ApiClient, contract_id: string, changes: Body): Promise<ApiAnswer>;
}

/** Gives a test file its own catalogue, and every test a customer. */
export function renewalBench(): RenewalBench {
  const catalogue = {
    card: '',
    unit: '',
    fee: '',
    service: '',
    tokens: '',
    models: '',
    seats: '',
    support: '',
    unpriced: '',
  };
  let pool: TestDatabase;
  let clickhouse: ClickHouse;
  let customer: string;

  const services = new Map<number, ApiClient>();
  const on = (month: number): ApiClient => {
    const service =
      services.get(month) ?? createCatalogueApi(pool.db, { now: Date.parse(day(month)), clickhouse });
    services.set(month, service);
    return service;
  };

  beforeAll(async () => {
    pool = await createTestDatabase();
    clickhouse = await createTestClickHouse();
    Object.assign(catalogue, await createTermsCatalogue(on(1)));
  });
  beforeEach(async () => {
    customer = await createdId(on(1), '/v1/customers', { name: 'Customer' });
  });
  afterAll(async () => {
    await clickhouse.close();
    await pool.close();
  });

  function rolling(rollover_fraction: number, ...segments: Segment[]) {
    return {
      type: 'PREPAID',
      name: 'Prepaid',
      product_id: catalogue.fee,
      priority: 7,
      rate_type: 'COMMIT_RATE',
      applicable_product_tags: ['llm'],
      rollover_fraction,
      access_schedule: {
        schedule_items: segments.map(([amount, from, until]) => ({
          amount,
          starting_at: day(from),
          ending_before: day(until),
        })),
      },
    };
  }

  async function create(terms: Body): Promise<string> {
    const header = { customer_id: customer, rate_card_id: catalogue.card, starting_at: day(1) };
    return createdId(on(1), CONTRACTS, { ...header, ...terms });
  }

  async function renew(from: string, month: number, change: Body = {}): Promise<string> {
    const transition = { type: 'RENEWAL', from_contract_id: from };
    return createdId(on(2), CONTRACTS, {
      customer_id: customer,
      starting_at: day(month),
      transition,
      ...change,
    });
  }

  async function read(api: ApiClient, contract_id: string): Promise<ApiAnswer> {
    const options = { include_balance: true, include_ledgers: true };
    return api.post('/v2/contracts/get', { customer_id: customer, contract_id, ...options });
  }

  async function edit(api: ApiClient, contract_id: string, changes: Body): Promise<ApiAnswer> {
    return api.send('POST', '/v2/contracts/edit', { customer_id: customer, contract_id, ...changes });
  }

  return { catalogue, customer: () => customer, on, rolling, create, renew, read, edit };
}

interface Entry {
  readonly type: string;
  readonly amount: number;
  readonly timestamp: string;
  readonly new_contract_id?: string;
}

/** `<kind> <amount> <month>-<day>` of each entry of a prepaid commit. */
export function ledgerOf(contract: ApiAnswer, commit = 'data.commits[0]'): string[] {
  return (contract.list(`${commit}.ledger`) as Entry[]).map(
    ({ type, amount, timestamp }) =>
      `${type.replace('PREPAID_COMMIT_', '')} ${amount} ${timestamp.slice(5, 10)}`,
  );
}

/** `<amount> <from> <until>` of each segment. */
export function segmentsOf(contract: ApiAnswer, commit = 'data.commits[0]'): string[] {
  const items = contract.list(`${commit}.access_schedule.schedule_items`) as {
    amount: number;
    starting_at: string;
    ending_before: string;
  }[];
  return items.map((one) => `${one.amount} ${one.starting_at.slice(0, 7)} ${one.ending_before.slice(0, 7)}`);
}
