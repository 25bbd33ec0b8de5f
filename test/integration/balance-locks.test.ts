/** Changes of one balance at the same time: each comes before or after the others, and none fails. */
import { expect, test } from 'vitest';
import { createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api } = service;

const ROUNDS = 12;

test('a credit of a customer is lowered, raised and corrected by hand', async () => {
  const product_id = await createdId(api, PRODUCTS, { name: 'Credit', type: 'FIXED' });
  const customer_id = await createdId(api, '/v1/customers', { name: 'locks' });
  const credit_id = await createdId(api, '/v1/contracts/customerCredits/create', {
    ...{ customer_id, product_id, priority: 1 },
    access_schedule: {
      schedule_items: [
        { amount: 1_000, starting_at: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' },
      ],
    },
  });
  const list = () => api.post('/v1/contracts/customerCredits/list', { customer_id, include_balance: true });
  const id = (await list()).text('data[0].access_schedule.schedule_items[0].id');
  const amountOf = (round: number) => 500 + (round % 5) * 100;
  const answers = await Promise.all(
    Array.from({ length: ROUNDS }, (_, round) => [
      api.send('POST', '/v2/contracts/credits/edit', {
        ...{ customer_id, credit_id },
        access_schedule: { update_schedule_items: [{ id, amount: amountOf(round) }] },
      }),
      api.send('POST', '/v1/contracts/addManualBalanceLedgerEntry', {
        ...{ customer_id, id: credit_id, segment_id: id, amount: 1, reason: `round ${round}` },
      }),
    ]).flat(),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const after = await list();
  const amount = Number(after.digits('data[0].access_schedule.schedule_items[0].amount'));
  expect(Number(after.digits('data[0].balance'))).toBe(amount + ROUNDS);
});
