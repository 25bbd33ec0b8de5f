/** Subscriptions live through four months of the sandbox clock, and are charged as computed by hand. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { ADD_RATES, CONTRACTS, createdId, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { reconcile } from '../support/reconciled.ts';
import { day, SUBSCRIPTION_LIVES, type SubscriptionLife } from './subscription-lives.ts';

const service = await serviceForFile({ sandboxNow: day('01-01') });
const { api } = service;

interface Living {
  readonly life: SubscriptionLife;
  readonly customer_id: string;
  readonly contract_id: string;
  readonly subscription_id: string;
}

const PRICES = { WEEKLY: 700, MONTHLY: 26_970, QUARTERLY: 9_100, ANNUAL: 36_600 };

async function begin(
  life: SubscriptionLife,
  products: { readonly card: string; readonly seats: string; readonly fee: string },
): Promise<Living> {
  const customer_id = await createdId(api, '/v1/customers', { name: life.name });
  const { subscription_rate = {}, ...terms } = { ...life.terms } as { subscription_rate?: object };
  const contract_id = await createdId(api, CONTRACTS, {
    ...{ customer_id, rate_card_id: products.card, starting_at: day('01-01') },
    subscriptions: [
      {
        collection_schedule: 'ADVANCE',
        proration: { is_prorated: true, invoice_behavior: 'BILL_IMMEDIATELY' },
        initial_quantity: 10,
        ...terms,
        subscription_rate: {
          ...{ product_id: products.seats, billing_frequency: 'MONTHLY' },
          ...subscription_rate,
        },
      },
    ],
    ...life.contract?.(products),
  });
  const answer = await api.post('/v2/contracts/get', { customer_id, contract_id });
  return { life, customer_id, contract_id, subscription_id: answer.text('data.subscriptions[0].id') };
}

/** The charges on issued invoices, in the order of the invoices. */
async function chargesOf(client: ApiClient, customerId: string): Promise<string[]> {
  const path = `/v1/customers/${customerId}/invoices`;
  const answer = await client.get(path, { query: { limit: 100, status: 'FINALIZED' } });
  return answer.list('data').flatMap((_, index) => {
    const invoice = `data[${index}]`;
    const head = `${answer.text(`${invoice}.type`)} ${answer.text(`${invoice}.issued_at`).slice(5, 10)}`;
    return answer.list(`${invoice}.line_items`).map((_line, position) => {
      const line = `${invoice}.line_items[${position}]`;
      if (answer.text(`${line}.type`) === 'applied_commit_or_credit') {
        return `${head}: ${answer.text(`${line}.name`)} ${answer.digits(`${line}.total`)}`;
      }
      const [start, end] = ['starting_at', 'ending_before'].map((name) =>
        answer.text(`${line}.${name}`).slice(5, 10),
      );
      const [quantity, price] = ['quantity', 'unit_price'].map((name) => answer.digits(`${line}.${name}`));
      return `${head}: ${start} - ${end}, ${quantity} × ${price}`;
    });
  });
}

const living = new Map<string, Living>();

beforeAll(async () => {
  const seats = await createdId(api, PRODUCTS, { name: 'Seats', type: 'SUBSCRIPTION' });
  const fee = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
  const card = await createdId(api, RATE_CARDS, { name: 'Card' });
  await api.post(ADD_RATES, {
    rate_card_id: card,
    rates: Object.entries(PRICES).map(([billing_frequency, price]) => ({
      ...{ product_id: seats, billing_frequency, price, rate_type: 'FLAT' },
      ...{ starting_at: '2020-01-01T00:00:00Z', entitled: true },
    })),
  });
  for (const life of SUBSCRIPTION_LIVES) living.set(life.name, await begin(life, { card, seats, fee }));
  const days = SUBSCRIPTION_LIVES.flatMap(({ changes }) => Object.keys(changes ?? {}));
  for (const today of [...new Set(days)].sort()) {
    await service.moveClock(day(today));
    for (const { life, subscription_id, ...reference } of living.values()) {
      const change = life.changes?.[today];
      if (change === undefined) continue;
      const update_subscriptions = [{ subscription_id, ...change }];
      const answer = await api.post('/v2/contracts/edit', { ...reference, update_subscriptions });
      expect(answer.status).toBe(200);
    }
  }
  await service.moveClock(day('04-03'));
}, 120_000);

describe('a subscription', () => {
  test.each(SUBSCRIPTION_LIVES)('$name', async ({ name, charges }) => {
    const customerId = living.get(name)?.customer_id ?? '';
    expect(await chargesOf(api, customerId)).toEqual(charges);
  });

  test('a subscription has invoices and ledgers that agree with each other', async () => {
    const found = await reconcile(api, { starting_on: day('02-01'), ending_before: day('03-03') });
    expect(found.customers).toHaveLength(SUBSCRIPTION_LIVES.length);
    expect([...found.differences, ...found.unchecked]).toEqual([]);
  });
});
