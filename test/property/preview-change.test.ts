/** A preview of a change is the draft after the change; one without an effect is the draft. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import {
  createMeteredCard,
  createMeteredCustomer,
  type Job,
  jobEvent,
  jobs,
  type MeteredCustomer,
  sendJobs,
} from '../support/metered-company.ts';
import { runs } from '../support/shares-of-tests.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-03T00:00:00Z' });
const { api } = service;
const cardId = await createMeteredCard(api);
const [productId = ''] = await productsOf(cardId);

async function productsOf(card: string): Promise<string[]> {
  const rates = await api.post('/v1/contract-pricing/rate-cards/getRates', {
    rate_card_id: card,
    at: '2026-11-03T00:00:00Z',
  });
  return rates.list('data').map((_, index) => rates.text(`data[${index}].product_id`));
}

async function customerWith(given: readonly Job[]): Promise<MeteredCustomer> {
  const customer = await createMeteredCustomer(api, cardId);
  await sendJobs(
    api,
    given.map((one, index) => jobEvent(customer.alias, one, index)),
  );
  return customer;
}

async function drafts({ customerId }: MeteredCustomer): Promise<unknown> {
  return (await api.get(`/v1/customers/${customerId}/invoices`)).at('data');
}

/** The previewed invoices of the customer. */
async function previewed(customer: MeteredCustomer, change: Record<string, unknown>): Promise<unknown[]> {
  const answer = await api.post('/v1/invoices/preview', { ...change, include_invoices: true });
  const own = answer
    .list('data')
    .findIndex((_, index) => answer.text(`data[${index}].customer_id`) === customer.customerId);
  return answer
    .list(`data[${own}].invoices`)
    .map((_, index) => answer.at(`data[${own}].invoices[${index}].invoice`));
}

/** An override of one product, from an hour on. */
const override = fc.record({
  hour: fc.integer({ min: 0, max: 40 }),
  multiplier: fc.integer({ min: 0, max: 30 }).map((tenths) => tenths / 10),
  entitled: fc.constantFrom(undefined, true, false),
});

const hourOfMonth = (hour: number) => new Date(Date.UTC(2026, 10, 1, hour)).toISOString();

it('an edit of a contract', async () => {
  await fc.assert(
    fc.asyncProperty(jobs, override, async (given, { hour, multiplier, entitled }) => {
      const customer = await customerWith(given);
      const { customerId: customer_id, contractId: contract_id } = customer;
      const unchanged = { edit: { customer_id, contract_id, update_contract_name: 'other' } };
      const before = await drafts(customer);
      expect(await previewed(customer, unchanged)).toEqual(before);
      const add_overrides = [
        { starting_at: hourOfMonth(hour), product_id: productId, type: 'MULTIPLIER', multiplier, entitled },
      ];
      const edit = { customer_id, contract_id, add_overrides };
      const preview = await previewed(customer, { edit });
      expect(await drafts(customer)).toEqual(before);
      await api.post('/v2/contracts/edit', edit);
      expect(preview).toEqual(await drafts(customer));
    }),
    { numRuns: runs(9) },
  );
});

it('rates of a card', async () => {
  await fc.assert(
    fc.asyncProperty(jobs, fc.integer({ min: 0, max: 40 }), fc.nat(50), async (given, hour, price) => {
      const customer = await customerWith(given);
      const rates = [
        { product_id: productId, starting_at: hourOfMonth(hour), entitled: true, rate_type: 'FLAT', price },
      ];
      const add_rates = { rate_card_id: cardId, rates };
      const before = await drafts(customer);
      const preview = await previewed(customer, { add_rates, customer_id: customer.customerId });
      expect(await drafts(customer)).toEqual(before);
      await api.post('/v1/contract-pricing/rate-cards/addRates', add_rates);
      expect(preview).toEqual(await drafts(customer));
    }),
    { numRuns: runs(9) },
  );
});
