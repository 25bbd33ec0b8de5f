/** Changes of what seats are granted: credits that have begun keep what they were granted for. */
import { expect, test } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import {
  balanceOfCredit,
  createSeatCatalogue,
  createSeatCompany,
  editSubscription,
  seatsOfCredit,
  sendCalls,
} from '../support/seat-company.ts';

const service = await serviceForFile({ sandboxNow: '2028-01-10T00:00:00Z' });
const { api } = service;
const catalogue = await createSeatCatalogue(api);

test('a credit that has begun keeps its shares when the amount of a seat changes', async () => {
  const company = await createSeatCompany(api, catalogue, {
    ...{ alias: 'price', start: '2028-01-01T00:00:00Z', seats: ['ada', 'bob'], allowance: 100 },
  });
  const state = await api.post('/v2/contracts/get', {
    ...{ customer_id: company.customer, contract_id: company.contract },
  });
  const edited = await api.send('POST', '/v2/contracts/edit', {
    ...{ customer_id: company.customer, contract_id: company.contract },
    update_recurring_credits: [
      {
        recurring_credit_id: state.text('data.recurring_credits[0].id'),
        access_amount: { unit_price: 40 },
      },
    ],
  });
  console.log(edited.status, JSON.stringify(edited.body).slice(0,300));
  console.log(await seatsOfCredit(api, company), await balanceOfCredit(api, company));
  await editSubscription(api, company, { seat_updates: { add_seat_ids: [{ seat_ids: ['cleo'], starting_at: '2028-01-11T00:00:00Z' }] } });
  await service.moveClock('2028-01-12T00:00:00Z');
  console.log(await seatsOfCredit(api, company), await balanceOfCredit(api, company));
  await sendCalls(api, company, { user: 'ada', at: '2028-01-11T00:00:00Z', count: 40 });
  await service.moveClock('2028-02-03T00:00:00Z');
  console.log(await seatsOfCredit(api, company), await balanceOfCredit(api, company));
  expect(1).toBe(1);
});
