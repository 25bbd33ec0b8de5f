/**
 * Holds while prices change (docs/explanation/holds.md, "The state"): those of other cards have no effect, and no
 * request waits without a limit.
 */
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { ADD_RATES, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHolder, reserve } from '../support/holds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T12:30:00Z' });
const { api, db } = service;

const UPDATE_PRODUCT = '/v1/contract-pricing/products/update';
const starting_at = '2026-11-10T12:00:00Z';

async function evaluations(): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(text.split('\ntallyhouse_hold_evaluation_seconds_count ')[1]?.split('\n')[0] ?? '0');
}

async function addRate(rate_card_id: string, product_id: string, price: number): Promise<void> {
  const rate = { product_id, starting_at, entitled: true, rate_type: 'FLAT', price };
  await api.post(ADD_RATES, { rate_card_id, rates: [rate] });
}

test('prices and products of other cards bring about no evaluation, however often they change beside holds', async () => {
  const holder = await createHolder(api, 1000);
  const metric = { name: 'Calls', aggregation_type: 'COUNT' };
  const billable_metric_id = await createdId(api, METRICS, metric);
  const product_id = await createdId(api, PRODUCTS, { name: 'Calls', type: 'USAGE', billable_metric_id });
  const card = await createdId(api, RATE_CARDS, { name: 'Another' });
  await addRate(card, product_id, 1);
  await reserve(api, holder.hold(`${holder.customerId} first`, 1));
  const before = await evaluations();
  for (let round = 0; round < 4; round += 1) {
    const changes = [
      addRate(card, product_id, round),
      api.post(UPDATE_PRODUCT, { product_id, starting_at, name: `Calls ${round}` }),
      createdId(api, RATE_CARDS, { name: 'New', aliases: [{ name: `alias ${round}` }] }),
      createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' }),
    ];
    const holds = [0, 1, 2].map((index) =>
      reserve(api, holder.hold(`${holder.customerId} ${round} ${index}`, 1)),
    );
    await Promise.all(changes);
    for (const answer of await Promise.all(holds))
      expect(answer).toMatchObject([{ granted: true, amount: 1 }]);
  }
  expect(await evaluations()).toBe(before);
});

test('a changed product counts for the next request after its answer, on every card that has it', async () => {
  const holder = await createHolder(api, 1000);
  const { tokens: product_id } = holder.catalogue;
  await addRate(await createdId(api, RATE_CARDS, { name: 'Another' }), product_id, 1);
  expect(await reserve(api, holder.hold(`${holder.customerId} a`, 10))).toMatchObject([{ amount: 10 }]);
  await api.post(UPDATE_PRODUCT, {
    ...{ product_id, starting_at: '2026-11-01T00:00:00Z' },
    quantity_conversion: { conversion_factor: 2, operation: 'MULTIPLY' },
  });
  expect(await reserve(api, holder.hold(`${holder.customerId} b`, 10))).toMatchObject([{ amount: 20 }]);
});

test('requests are answered while the prices of their card change faster than a customer is evaluated', async () => {
  const holder = await createHolder(api, 1000);
  let isOver = false;
  const changes = (async () => {
    while (!isOver) await db.execute(sql`insert into price_changes default values`);
  })();
  try {
    for (let index = 0; index < 3; index += 1) {
      const hold = holder.hold(`${holder.customerId} ${index}`, 100);
      expect(await reserve(api, hold)).toMatchObject([{ granted: true, remaining: 900 - 100 * index }]);
      const check = await api.post(`/v1/customers/${holder.customerId}/check`, { event_type: 'use' });
      expect(check.at('data.remaining')).toBe(900 - 100 * index);
    }
    const many = await reserve(api, holder.hold(`${holder.customerId} many`, 701));
    expect(many).toMatchObject([{ granted: false, reason: 'balance', required: 701, remaining: 700 }]);
  } finally {
    isOver = true;
    await changes;
  }
  await addRate(holder.catalogue.card, holder.catalogue.tokens, 2);
  expect(await reserve(api, holder.hold(`${holder.customerId} after`, 10))).toMatchObject([
    { granted: true, amount: 20, remaining: 380 },
  ]);
});
