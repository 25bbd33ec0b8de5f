/** Numbers, due dates and payable amounts of invoices through the API. */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let ada: Scenario;
let bob: Scenario;

beforeAll(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  ada = await createScenario(service.api, { alias: 'ada' });
  bob = await createScenario(service.api, { alias: 'bob' });
  // 500.5 tokens at 0.005 cents are 2.5025 cents; 101 more are 3.0075 cents.
  await service.api.post('/v1/ingest', [
    completion('bob', { id: 'b1', at: '2026-11-05T00:00:00Z', tokens: '500.5', model: 'small' }),
  ]);
});
afterAll(() => service.close());

async function invoicesOf({ customerId }: Scenario) {
  const answer = await service.api.get(`/v1/customers/${customerId}/invoices`);
  return answer.list('data').map((_, index) => {
    const at = (name: string) => answer.at(`data[${index}].${name}`);
    return {
      id: answer.text(`data[${index}].id`),
      status: at('status'),
      issuedAt: answer.text(`data[${index}].issued_at`),
      number: at('invoice_number'),
      dueAt: at('due_at'),
      total: answer.digits(`data[${index}].total`),
      payable: answer.digits(`data[${index}].payable_amount`),
    };
  });
}

async function createWithTerms(days: number): Promise<string> {
  return createdId(service.api, '/v1/contracts/create', {
    customer_id: bob.customerId,
    rate_card_id: bob.rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
    net_payment_terms_days: days,
  });
}

test('a draft has no number, but what would be due', async () => {
  const [draft] = await invoicesOf(bob);
  // The event is also a request, at 2 cents.
  expect(draft).toMatchObject({
    status: 'DRAFT',
    number: undefined,
    dueAt: undefined,
    total: '4.5025',
    payable: '5',
  });
});

describe('when the sandbox clock moves on', () => {
  beforeAll(async () => {
    await createWithTerms(30);
    await service.moveClock('2027-02-10T00:00:00Z');
  });

  test('the invoices of all customers are numbered by year in the order of issue date and id', async () => {
    const all = [...(await invoicesOf(ada)), ...(await invoicesOf(bob))]
      .filter(({ status }) => status === 'FINALIZED')
      .sort((a, b) => a.issuedAt.localeCompare(b.issuedAt) || (a.id < b.id ? -1 : 1));
    expect(all.map(({ number }) => number)).toEqual([
      'INV-2026-000001',
      'INV-2026-000002',
      'INV-2026-000003',
      'INV-2027-000001',
      'INV-2027-000002',
      'INV-2027-000003',
      'INV-2027-000004',
      'INV-2027-000005',
      'INV-2027-000006',
    ]);
  });

  test('an invoice is due its payment terms after its issue date, and not otherwise', async () => {
    const invoices = await invoicesOf(bob);
    const dueDates = invoices
      .filter(({ issuedAt }) => issuedAt.startsWith('2026-12'))
      .map(({ dueAt }) => dueAt);
    expect(dueDates.toSorted()).toEqual(['2027-01-01T00:00:00.000Z', undefined]);
  });

  test('a single invoice and its windows tell the number too', async () => {
    const [first] = await invoicesOf(ada);
    const one = await service.api.get(`/v1/customers/${ada.customerId}/invoices/${first?.id}`);
    expect(one.at('data.invoice_number')).toBe(first?.number);
    const windows = await service.api.get(`/v1/customers/${ada.customerId}/invoices/breakdowns`, {
      query: { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' },
    });
    expect(windows.at('data[3].invoice_number')).toBe(first?.number);
    expect(windows.at('data[3].payable_amount')).toBeUndefined();
  });

  test('a voided invoice keeps its number', async () => {
    const before = await invoicesOf(ada);
    await service.api.post('/v1/contracts/archive', {
      customer_id: ada.customerId,
      contract_id: ada.contractId,
      void_invoices: true,
    });
    const after = (await invoicesOf(ada)).filter(({ status }) => status === 'VOID');
    expect(after).toHaveLength(3);
    expect(after.map(({ number }) => number)).toEqual(before.slice(0, 3).map(({ number }) => number));
  });

  test('no job is left', async () => {
    const left = await service.db.execute(sql`select 1 from jobs where kind = 'number_invoices'`);
    expect(left).toHaveLength(0);
  });
});
