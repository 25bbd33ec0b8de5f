/** Changes of what seats are granted: credits that have begun keep what they were granted for. */
import { expect, test } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { reconcile } from '../support/reconciled.ts';
import {
  balanceOfCredit,
  createSeatCatalogue,
  createSeatCompany,
  editSubscription,
  type SeatCompany,
  seatsOfCredit,
  sendCalls,
} from '../support/seat-company.ts';

const service = await serviceForFile({ sandboxNow: '2028-01-10T00:00:00Z' });
const { api } = service;
const catalogue = await createSeatCatalogue(api);

let companies = 0;

/** Two seats with 100 each in January, of which a seat is granted another amount from the 10th on. */
async function companyWithNewAmount(unit_price: number): Promise<SeatCompany> {
  companies += 1;
  const company = await createSeatCompany(api, catalogue, {
    ...{ alias: `changed-${companies}`, start: '2028-01-01T00:00:00Z', seats: ['ada', 'bob'] },
  });
  const ids = { customer_id: company.customer, contract_id: company.contract };
  const state = await api.post('/v2/contracts/get', ids);
  const recurring_credit_id = state.text('data.recurring_credits[0].id');
  await api.post('/v2/contracts/edit', {
    ...ids,
    update_recurring_credits: [{ recurring_credit_id, access_amount: { unit_price } }],
  });
  return company;
}

test.each([40, 50, 200, 250, 300])(
  'two seats with 100 keep them when a seat is granted %i',
  async (amount) => {
    const company = await companyWithNewAmount(amount);
    expect(await seatsOfCredit(api, company)).toEqual(['ada 100', 'bob 100']);
    expect(await balanceOfCredit(api, company)).toBe('200');
  },
);

test('a seat that is added later has the new amount, and one that goes leaves the others what they had', async () => {
  const company = await companyWithNewAmount(40);
  const startingAt = '2028-01-10T00:00:00Z';
  await editSubscription(api, company, {
    seat_updates: {
      add_seat_ids: [{ seat_ids: ['cleo'], starting_at: startingAt }],
    },
  });
  await editSubscription(api, company, {
    seat_updates: { remove_seat_ids: [{ seat_ids: ['bob'], starting_at: '2028-01-05T00:00:00Z' }] },
  });
  expect((await seatsOfCredit(api, company)).toSorted()).toEqual(['ada 100', 'bob 100', 'cleo 40']);
});

test('usage draws what was granted, and everything agrees when it is issued', async () => {
  const company = await companyWithNewAmount(40);
  await sendCalls(api, company, { user: 'ada', at: '2028-01-09T00:00:00Z', count: 50 });
  await service.moveClock('2028-02-03T00:00:00Z');
  const range = { starting_on: '2028-01-01T00:00:00Z', ending_before: '2028-02-01T00:00:00Z' };
  expect(await reconcile(api, { ...range, customer_id: company.customer })).toMatchObject({
    ...{ differences: [], unchecked: [] },
  });
  const answer = await api.get(`/v1/customers/${company.customer}/invoices`, {
    query: { type: 'USAGE', status: 'FINALIZED' },
  });
  const applied = answer.list('data[0].line_items').flatMap((_, index) => {
    const line = `data[0].line_items[${index}]`;
    const isApplied = answer.text(`${line}.type`) === 'applied_commit_or_credit';
    return isApplied ? [answer.digits(`${line}.total`)] : [];
  });
  expect(applied).toEqual(['-100']);
});
