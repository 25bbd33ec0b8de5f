/** A customer with a prepaid credit at one cent a token, whose holds are asked for through processes that may be killed. */
import { type BillingProcess, created } from './billing-process.ts';

export const HELD_NOW = '2026-11-10T12:30:00Z';
/** The end of balances that expire. */
export const HELD_EXPIRY = '2026-11-10T13:00:00Z';
const WITHOUT_EXPIRY = '2027-11-01T00:00:00Z';

export interface HoldRow {
  readonly created_at: string;
  readonly hold_id: string;
  readonly transaction_id: string;
  readonly amount: number;
  readonly status: string;
  readonly settled_amount: number | null;
}

export interface ReserveAnswer {
  readonly granted: boolean;
  readonly hold_id?: string;
  readonly reason?: string;
  readonly remaining?: number | null;
}

export interface SettledAnswer {
  readonly hold_id: string;
  readonly transaction_id: string;
  readonly accepted: boolean;
  readonly amount: number | null;
}

interface Credit {
  readonly id: string;
  readonly name: string;
  readonly access_schedule: { readonly schedule_items: readonly { readonly id: string }[] };
}

export interface Catalogue {
  readonly rate_card_id: string;
  readonly fee: string;
}

/** One cent a token. */
export async function createTokenCard(service: BillingProcess): Promise<Catalogue> {
  const billable_metric_id = await created(service, '/v1/billable-metrics/create', {
    name: 'Tokens',
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    property_filters: [{ name: 'tokens', exists: true }],
    event_type_filter: { in_values: ['use'] },
  });
  const products = '/v1/contract-pricing/products/create';
  const product_id = await created(service, products, { name: 'Tokens', type: 'USAGE', billable_metric_id });
  const fee = await created(service, products, { name: 'Top-up', type: 'FIXED' });
  const rate_card_id = await created(service, '/v1/contract-pricing/rate-cards/create', { name: 'Card' });
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 1 };
  await answered(service, '/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id,
    rates: [{ ...rate, product_id }],
  });
  return { rate_card_id, fee };
}

/** The name of the credit that a customer is created with. */
export const FIRST_CREDIT = 'Prepaid';

export function creditOf(
  { fee }: Catalogue,
  amount: number,
  { ending_before = WITHOUT_EXPIRY, name = FIRST_CREDIT } = {},
): object {
  const item = { amount, starting_at: '2026-11-01T00:00:00Z', ending_before };
  return { product_id: fee, name, priority: 1, access_schedule: { schedule_items: [item] } };
}

export class HeldCustomer {
  readonly customerId: string;
  readonly contractId: string;

  private constructor(customerId: string, contractId: string) {
    this.customerId = customerId;
    this.contractId = contractId;
  }

  /** `credit`: 0 is none. */
  static async create(
    service: BillingProcess,
    catalogue: Catalogue,
    credit: number,
    terms: object = {},
  ): Promise<HeldCustomer> {
    const customer_id = await created(service, '/v1/customers', { name: 'Held' });
    const contract_id = await created(service, '/v1/contracts/create', {
      customer_id,
      rate_card_id: catalogue.rate_card_id,
      starting_at: '2026-11-01T00:00:00Z',
      ...(credit === 0 ? {} : { credits: [creditOf(catalogue, credit)] }),
      ...terms,
    });
    return new HeldCustomer(customer_id, contract_id);
  }

  async edit(service: BillingProcess, change: object): Promise<void> {
    const { customerId: customer_id, contractId: contract_id } = this;
    await answered(service, '/v2/contracts/edit', { customer_id, contract_id, ...change });
  }

  /** Changes the only segment of the credit with this name. */
  async editCredit(service: BillingProcess, name: string, change: object): Promise<void> {
    const { customerId: customer_id, contractId: contract_id } = this;
    const { credits = [] } = await answered<{ credits?: readonly Credit[] }>(service, '/v2/contracts/get', {
      ...{ customer_id, contract_id },
    });
    const credit = credits.find((one) => one.name === name);
    const segment = credit?.access_schedule.schedule_items[0];
    if (credit === undefined || segment === undefined) throw new Error(`there is no credit ${name}`);
    const update_schedule_items = [{ id: segment.id, ...change }];
    await this.edit(service, {
      update_credits: [{ credit_id: credit.id, access_schedule: { update_schedule_items } }],
    });
  }

  async reserve(
    service: BillingProcess,
    holds: readonly (readonly [transactionId: string, tokens: number])[],
    more: object = {},
  ): Promise<ReserveAnswer[]> {
    return await answered(service, '/v1/holds/reserve', {
      holds: holds.map(([transaction_id, tokens]) => ({
        customer_id: this.customerId,
        transaction_id,
        event: { event_type: 'use', properties: { tokens } },
        // Longer than the clock is moved.
        ttl_seconds: 86_400,
        ...more,
      })),
    });
  }

  async list(service: BillingProcess): Promise<HoldRow[]> {
    return await answered(service, `/v1/holds?customer_id=${this.customerId}&limit=100`);
  }

  /** The amount left of the credits, as drafts compute it. */
  async left(service: BillingProcess): Promise<number> {
    const { credits = [] } = await answered<{ credits?: readonly { balance: number }[] }>(
      service,
      '/v2/contracts/get',
      { customer_id: this.customerId, contract_id: this.contractId, include_balance: true },
    );
    return credits.reduce((sum, { balance }) => sum + balance, 0);
  }
}

export async function settle(
  service: BillingProcess,
  settlements: readonly (readonly [transactionId: string, tokens: number])[],
): Promise<SettledAnswer[]> {
  return await answered(service, '/v1/holds/settle', {
    settlements: settlements.map(([transaction_id, tokens]) => ({ transaction_id, properties: { tokens } })),
  });
}

export async function release(service: BillingProcess, transactionIds: readonly string[]): Promise<object[]> {
  return await answered(service, '/v1/holds/release', {
    holds: transactionIds.map((transaction_id) => ({ transaction_id })),
  });
}

/** The data of an answer. Throws unless it is 200. */
export async function answered<Data>(service: BillingProcess, path: string, body?: object): Promise<Data> {
  const answer = await service.call(path, body);
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${answer.body}`);
  return (JSON.parse(answer.body) as { data: Data }).data;
}
