/** A customer whose balance is recharged when usage brings it below a threshold. */
import { expect } from 'vitest';
import { type BillingProcess, created } from '../billing-process.ts';
import { answered, type Catalogue } from '../held-customer.ts';
import { type Actor, type Life, unlessKilled, usedAt } from './actor.ts';

const TOKENS = 900;
const THRESHOLD = 1_000;
const RECHARGED_TO = 5_000;
const REQUESTS = 12;

interface Commit {
  readonly balance: number;
  readonly access_schedule: { readonly schedule_items: readonly { readonly amount: number }[] };
}

interface Invoice {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly total: number;
}

export class RechargedCustomer implements Actor {
  readonly #catalogue: Catalogue;
  #ids = { customer_id: '', contract_id: '' };
  #requests = 0;
  #acknowledged = 0;
  readonly #unsure: string[] = [];

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  async create(service: BillingProcess, startingAt: string): Promise<void> {
    const customer_id = await created(service, '/v1/customers', { name: 'Recharged' });
    const contract_id = await created(service, '/v1/contracts/create', {
      ...{ customer_id, rate_card_id: this.#catalogue.rate_card_id, starting_at: startingAt },
      prepaid_balance_threshold_configuration: {
        ...{ is_enabled: true, threshold_amount: THRESHOLD, recharge_to_amount: RECHARGED_TO },
        commit: { product_id: this.#catalogue.fee },
        payment_gate_config: { payment_gate_type: 'NONE' },
      },
    });
    this.#ids = { customer_id, contract_id };
  }

  async act(life: Life): Promise<void> {
    for (let count = 0; count < REQUESTS; count += 1) {
      if (!(await this.#use(life, `recharged ${this.#requests++}`))) return;
    }
  }

  async expectKept(): Promise<void> {
    // An evaluation may be under way: its charge is counted when it has ended.
  }

  async repeat(life: Life): Promise<void> {
    for (const id of this.#unsure.splice(0)) expect(await this.#use(life, id)).toBe(true);
  }

  /** Each charge has one invoice, and usage was drawn once. */
  async expectExact({ service }: Life): Promise<void> {
    const { commits = [] } = await answered<{ commits?: Commit[] }>(service, '/v2/contracts/get', {
      ...this.#ids,
      include_balance: true,
    });
    const granted = commits.flatMap(({ access_schedule }) =>
      access_schedule.schedule_items.map(({ amount }) => amount),
    );
    const left = sumOf(commits.map(({ balance }) => balance));
    const path = `/v1/customers/${this.#ids.customer_id}/invoices?limit=100`;
    const charges = (await answered<Invoice[]>(service, path)).filter(
      ({ type, status }) => type === 'SCHEDULED' && status === 'FINALIZED',
    );
    expect(ascending(charges.map(({ total }) => total))).toEqual(ascending(granted));
    expect(sumOf(granted) - left).toBe(this.#acknowledged * TOKENS);
    expect(left).toBeGreaterThan(THRESHOLD);
    expect(left).toBeLessThanOrEqual(RECHARGED_TO);
  }

  async #use({ service, month }: Life, transaction_id: string): Promise<boolean> {
    const { customer_id } = this.#ids;
    const event = { transaction_id, customer_id, event_type: 'use', timestamp: usedAt(month) };
    const answer = await unlessKilled(
      service.call('/v1/ingest', [{ ...event, properties: { tokens: TOKENS } }]),
    );
    if (answer === null) {
      this.#unsure.push(transaction_id);
      return false;
    }
    expect(answer.status).toBe(200);
    this.#acknowledged += 1;
    return true;
  }
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

function ascending(amounts: readonly number[]): number[] {
  return amounts.toSorted((a, b) => a - b);
}
