/** Customers that pay 2 cents an event and are billed at Stripe. Some events are sent twice. */
import { expect } from 'vitest';
import { STAND_IN_KEY, type StripeStandIn } from '../../../src/demo/stripe/stand-in.ts';
import { type BillingProcess, created } from '../billing-process.ts';
import { answered } from '../held-customer.ts';
import { type Actor, type Life, unlessKilled, usedAt } from './actor.ts';

const CUSTOMERS = 3;
const PRICE = 2;
const EVENTS_PER_REQUEST = 25;
/** Events that an odd request repeats of the one before. */
const REPEATED = 10;
const REQUESTS = 50;
const SENDERS = 3;
const PROVIDER = { billing_provider: 'stripe', delivery_method: 'direct_to_billing_provider' };

interface Metered {
  readonly id: string;
  readonly alias: string;
}

interface Invoice {
  readonly id: string;
  readonly start_timestamp?: string;
  readonly total: number;
  readonly external_invoice: { readonly external_status: string; readonly invoiced_total?: number } | null;
}

export const stripeEnvironment = ({ url }: StripeStandIn) => ({
  STRIPE_API_KEY: STAND_IN_KEY,
  STRIPE_API_BASE: url,
});

export class MeteredCustomers implements Actor {
  readonly #stripe: StripeStandIn;
  #customers: Metered[] = [];
  #metrics: { count: string; unique: string } = { count: '', unique: '' };
  #requests = 0;
  /** Numbers of acknowledged events, by month. */
  readonly #acknowledged: Set<number>[] = [];
  /** Requests without an answer. */
  readonly #unsure: number[] = [];

  constructor(stripe: StripeStandIn) {
    this.#stripe = stripe;
  }

  async create(service: BillingProcess, startingAt: string): Promise<void> {
    const metric = {
      event_type_filter: { in_values: ['request'] },
      property_filters: [{ name: 'n', exists: true }],
    };
    const metrics = '/v1/billable-metrics/create';
    const count = await created(service, metrics, { ...metric, name: 'count', aggregation_type: 'COUNT' });
    const unique = await created(service, metrics, {
      ...{ ...metric, name: 'unique', aggregation_type: 'UNIQUE', aggregation_key: 'n' },
    });
    this.#metrics = { count, unique };
    const product_id = await created(service, '/v1/contract-pricing/products/create', {
      ...{ name: 'Requests', type: 'USAGE', billable_metric_id: count },
    });
    const rate_card_id = await created(service, '/v1/contract-pricing/rate-cards/create', { name: 'List' });
    const rate = { product_id, starting_at: startingAt, entitled: true, rate_type: 'FLAT', price: PRICE };
    await answered(service, '/v1/contract-pricing/rate-cards/addRates', { rate_card_id, rates: [rate] });
    for (let index = 0; index < CUSTOMERS; index += 1) {
      const alias = `metered-${index}`;
      const configuration = {
        stripe_customer_id: this.#stripe.state.addCustomer(),
        stripe_collection_method: 'send_invoice',
      };
      const id = await created(service, '/v1/customers', {
        ...{ name: alias, ingest_aliases: [alias] },
        customer_billing_provider_configurations: [{ ...PROVIDER, configuration }],
      });
      await created(service, '/v1/contracts/create', {
        ...{ customer_id: id, rate_card_id, starting_at: startingAt },
        billing_provider_configuration: PROVIDER,
      });
      this.#customers.push({ id, alias });
    }
  }

  async act(life: Life): Promise<void> {
    let left = REQUESTS;
    const send = async () => {
      for (; left > 0; left -= 1) {
        if (!(await this.#send(life, this.#requests++))) return;
        life.strike('events answered');
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
  }

  async expectKept(life: Life): Promise<void> {
    const counted = await this.#counted(life);
    expect(counted.unique).toEqual(counted.count);
    for (const [index, count] of counted.count.entries()) {
      expect(count).toBeGreaterThanOrEqual(this.#eventsOf(life.month, index));
    }
  }

  async repeat(life: Life): Promise<void> {
    for (const request of this.#unsure.splice(0)) {
      expect(await this.#send(life, request)).toBe(true);
    }
  }

  async expectExact(life: Life): Promise<void> {
    const counted = await this.#counted(life);
    const exact = this.#customers.map((_, index) => this.#eventsOf(life.month, index));
    expect(counted).toEqual({ count: exact, unique: exact });
    for (const [index, { id }] of this.#customers.entries()) await this.#expectBilled(life, index, id);
  }

  /** One invoice for each month before, and one of it at Stripe. */
  async #expectBilled({ service, month }: Life, index: number, id: string): Promise<void> {
    const path = `/v1/customers/${id}/invoices?limit=100&status=FINALIZED&sort=date_asc`;
    const billed = () => answered<Invoice[]>(service, path);
    const months = Array.from({ length: month }, (_, one) => PRICE * this.#eventsOf(one, index));
    expect((await billed()).map(({ total }) => total)).toEqual(months);
    await expect
      .poll(async () => (await billed()).map((one) => one.external_invoice?.external_status))
      .toEqual(months.map(() => 'SENT'));
    for (const { id: invoiceId, total, external_invoice } of await billed()) {
      const { state } = this.#stripe;
      expect(state.liveOf(invoiceId).map((one) => state.subtotal(one))).toEqual([total]);
      expect(external_invoice?.invoiced_total).toBe(total);
    }
  }

  /** Whether it was answered. */
  async #send({ service, month }: Life, request: number): Promise<boolean> {
    const numbers = numbersOf(request);
    const events = numbers.map((n) => ({
      transaction_id: `${month}-${n}`,
      customer_id: `metered-${n % CUSTOMERS}`,
      event_type: 'request',
      timestamp: usedAt(month),
      properties: { n },
    }));
    const answer = await unlessKilled(service.call('/v1/ingest', events));
    if (answer === null) {
      this.#unsure.push(request);
      return false;
    }
    expect(answer.status).toBe(200);
    const acknowledged = this.#acknowledged[month] ?? new Set();
    this.#acknowledged[month] = acknowledged;
    for (const n of numbers) acknowledged.add(n);
    return true;
  }

  #eventsOf(month: number, index: number): number {
    return [...(this.#acknowledged[month] ?? [])].filter((n) => n % CUSTOMERS === index).length;
  }

  /** Usage of the month, by customer. */
  async #counted({ service, month }: Life): Promise<{ count: number[]; unique: number[] }> {
    const of = async (metric: string) =>
      await Promise.all(
        this.#customers.map(async ({ id }) => {
          const groups = await answered<{ value: number }[]>(service, '/v1/usage/groups', {
            ...{ customer_id: id, billable_metric_id: metric, window_size: 'NONE' },
            starting_on: monthStart(month),
            ending_before: monthStart(month + 1),
          });
          return groups[0]?.value ?? 0;
        }),
      );
    return { count: await of(this.#metrics.count), unique: await of(this.#metrics.unique) };
  }
}

function monthStart(month: number): string {
  return new Date(Date.UTC(2026, 10 + month)).toISOString();
}

function numbersOf(request: number): number[] {
  const first = request * EVENTS_PER_REQUEST - (request % 2 === 1 ? REPEATED : 0);
  return Array.from({ length: EVENTS_PER_REQUEST }, (_, index) => first + index);
}
