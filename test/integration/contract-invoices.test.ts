/** The effects of a change of a contract on its usage invoices: those that are drafts, and those that are final. */
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { jobs } from '../../src/store/jobs/jobs.tables.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let scenario: Scenario;

beforeEach(async () => {
  service = await startTestService({ usage: 'naive', sandboxNow: '2026-11-10T00:00:00Z' });
  scenario = await createScenario(service.api, { alias: 'ada' });
});
afterEach(() => service.close());

interface InvoiceSummary {
  readonly status: string;
  readonly from: string;
  readonly to: string;
  readonly total: string;
}

/** Newest first. */
async function invoices(): Promise<InvoiceSummary[]> {
  const answer = await service.api.get(`/v1/customers/${scenario.customerId}/invoices`, {
    query: { sort: 'date_desc' },
  });
  return answer.list('data').map((_, index) => ({
    status: answer.text(`data[${index}].status`),
    from: answer.text(`data[${index}].start_timestamp`).slice(0, 10),
    to: answer.text(`data[${index}].end_timestamp`).slice(0, 10),
    total: answer.digits(`data[${index}].total`),
  }));
}

async function change(operation: string, body: Record<string, unknown>): Promise<void> {
  const { customerId, contractId } = scenario;
  await service.api.post(`/v1/contracts/${operation}`, {
    customer_id: customerId,
    contract_id: contractId,
    ...body,
  });
}

/** Each costs 2 for the request and 5 for 1,000 small tokens. */
async function use(...times: string[]): Promise<void> {
  const events = times.map((at) => completion('ada', { id: at, at, tokens: 1_000, model: 'small' }));
  await service.api.post('/v1/ingest', events);
}

test('an earlier end cuts the draft and brings its finalization forward', async () => {
  await use('2026-11-03T00:00:00Z', '2026-11-07T00:00:00Z');
  expect(await invoices()).toEqual([{ status: 'DRAFT', from: '2026-11-01', to: '2026-12-01', total: '14' }]);
  await change('updateEndDate', { ending_before: '2026-11-05T00:00:00Z' });
  expect(await invoices()).toEqual([{ status: 'DRAFT', from: '2026-11-01', to: '2026-11-05', total: '7' }]);
  await service.moveClock('2026-11-10T00:00:01Z');
  expect(await invoices()).toEqual([
    { status: 'FINALIZED', from: '2026-11-01', to: '2026-11-05', total: '7' },
  ]);
});

test('a contract that ended and continues is billed for the rest of its last period', async () => {
  await use('2026-11-03T00:00:00Z', '2026-11-07T00:00:00Z');
  await change('updateEndDate', { ending_before: '2026-11-05T00:00:00Z' });
  await service.moveClock('2026-11-11T00:00:00Z');
  await change('updateEndDate', {});
  const issued = { status: 'FINALIZED', from: '2026-11-01', to: '2026-11-05', total: '7' };
  expect(await invoices()).toEqual([
    { status: 'DRAFT', from: '2026-11-05', to: '2026-12-01', total: '7' },
    issued,
  ]);
  await service.moveClock('2026-12-02T00:00:00Z');
  expect(await invoices()).toEqual([
    { status: 'DRAFT', from: '2026-12-01', to: '2027-01-01', total: '0' },
    { status: 'FINALIZED', from: '2026-11-05', to: '2026-12-01', total: '7' },
    issued,
  ]);
});

test('an end before a finalized invoice leaves it alone, and is refused where that is asked for', async () => {
  await use('2026-11-03T00:00:00Z');
  await service.moveClock('2026-12-02T00:00:00Z');
  const [, issued] = await invoices();
  expect(issued).toEqual({ status: 'FINALIZED', from: '2026-11-01', to: '2026-12-01', total: '7' });
  const { customerId: customer_id, contractId: contract_id } = scenario;
  const end = { customer_id, contract_id, ending_before: '2026-11-05T00:00:00Z' };
  const path = '/v1/contracts/updateEndDate';
  const strict = { ...end, allow_ending_before_finalized_invoice: false };
  const refused = await service.api.send('POST', path, strict);
  expect(refused.status).toBe(400);
  expect(refused.text('message')).toMatch(/^ending_before: a finalized invoice reaches until 2026-12-01/);
  await service.api.post(path, end);
  expect(await invoices()).toEqual([issued]);
});

test('the end that a renewal brings closes the period, and the new contract opens its own', async () => {
  await use('2026-11-03T00:00:00Z', '2026-11-07T00:00:00Z');
  await service.api.post('/v1/contracts/create', {
    customer_id: scenario.customerId,
    rate_card_id: scenario.rateCardId,
    starting_at: '2026-11-05T00:00:00Z',
    transition: { type: 'RENEWAL', from_contract_id: scenario.contractId },
  });
  await service.moveClock('2026-11-10T00:00:01Z');
  expect(await invoices()).toEqual([
    { status: 'DRAFT', from: '2026-11-05', to: '2026-12-01', total: '7' },
    { status: 'FINALIZED', from: '2026-11-01', to: '2026-11-05', total: '7' },
  ]);
});

test('an end that is refused before a finalized invoice is never accepted while that is being finalized', async () => {
  const { customerId: customer_id, rateCardId: rate_card_id } = scenario;
  const contracts = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const body = { customer_id, rate_card_id, starting_at: '2026-11-01T00:00:00Z' };
      return (await service.api.post('/v1/contracts/create', body)).text('data.id');
    }),
  );
  const clock = service.moveClock('2026-12-02T00:00:00Z');
  const answers = [];
  for (const contract_id of contracts) {
    const end = { customer_id, contract_id, ending_before: '2026-11-05T00:00:00Z' };
    const strict = { ...end, allow_ending_before_finalized_invoice: false };
    answers.push(await service.api.send('POST', '/v1/contracts/updateEndDate', strict));
  }
  await clock;
  await service.moveClock('2026-12-02T00:00:01Z');
  for (const [index, contract_id] of contracts.entries()) {
    const page = await service.api.get(`/v1/customers/${customer_id}/invoices`, {
      query: { contract_id, status: 'FINALIZED' },
    });
    const ends = page.list('data').map((_, at) => page.text(`data[${at}].end_timestamp`).slice(0, 10));
    const isAccepted = answers[index]?.status === 200;
    expect(ends).toEqual([isAccepted ? '2026-11-05' : '2026-12-01']);
  }
});

test('a renewal from before the end of a finalized invoice is refused, and stores nothing', async () => {
  await use('2026-11-03T00:00:00Z');
  await service.moveClock('2026-12-02T00:00:00Z');
  const renewal = (starting_at: string) =>
    service.api.send('POST', '/v1/contracts/create', {
      customer_id: scenario.customerId,
      rate_card_id: scenario.rateCardId,
      starting_at,
      transition: { type: 'RENEWAL', from_contract_id: scenario.contractId },
    });
  const refused = await renewal('2026-11-30T23:00:00Z');
  expect(refused.status).toBe(400);
  expect(refused.text('message')).toMatch(
    new RegExp(
      `^starting_at: invoice .* of contract ${scenario.contractId} is finalized and reaches until 2026-12-01`,
    ),
  );
  const totals = (await invoices()).map(({ from, total }) => [from, total]);
  expect(totals).toEqual([
    ['2026-12-01', '0'],
    ['2026-11-01', '7'],
  ]);
  expect((await renewal('2026-12-01T00:00:00Z')).status).toBe(200);
});

test.each([
  [false, 'FINALIZED'],
  [true, 'VOID'],
])(
  'archiving takes the draft away for good; void_invoices %s makes final ones %s',
  async (void_invoices, status) => {
    await use('2026-11-03T00:00:00Z');
    await service.moveClock('2026-12-02T00:00:00Z');
    await change('archive', { void_invoices });
    const expected = [{ status, from: '2026-11-01', to: '2026-12-01', total: '7' }];
    expect(await invoices()).toEqual(expected);
    await service.moveClock('2027-01-03T00:00:00Z');
    expect(await invoices()).toEqual(expected);
  },
);

test('usage invoices begin where they are to be generated from, even inside a period', async () => {
  await use('2026-10-15T00:00:00Z', '2026-11-03T00:00:00Z');
  const { customer_id, contract_id } = await imported('2026-10-20T00:00:00Z');
  await service.moveClock('2026-12-02T00:00:00Z');
  const answer = await service.api.get(`/v1/customers/${customer_id}/invoices`, {
    query: { status: 'FINALIZED' },
  });
  const own = answer
    .list('data')
    .map((_, index) => [
      answer.text(`data[${index}].contract_id`),
      answer.text(`data[${index}].start_timestamp`),
    ])
    .filter(([id]) => id === contract_id);
  expect(own).toEqual([
    [contract_id, '2026-10-20T00:00:00.000Z'],
    [contract_id, '2026-11-01T00:00:00.000Z'],
  ]);
});

test('a period that an earlier version skipped is issued before the one that it had queued', async () => {
  const { customer_id, contract_id } = await imported('2026-11-05T00:00:00Z');
  const december = { contract_id, period_start: Date.UTC(2026, 11, 1) };
  await service.db
    .update(jobs)
    .set({ key: `${contract_id}:2026-12-01T00:00:00.000Z`, runAt: Date.UTC(2027, 0, 2), payload: december })
    .where(eq(jobs.subject, contract_id));
  await service.moveClock('2027-01-03T00:00:00Z');
  const page = await service.api.get(`/v1/customers/${customer_id}/invoices`, {
    query: { contract_id, status: 'FINALIZED', sort: 'date_asc' },
  });
  const starts = page.list('data').map((_, at) => page.text(`data[${at}].start_timestamp`).slice(0, 10));
  expect(starts.sort()).toEqual(['2026-11-05', '2026-12-01']);
});

/** A contract with history: its invoices begin later than it does. */
async function imported(invoice_generation_starting_at: string) {
  const customer_id = scenario.customerId;
  const answer = await service.api.post('/v1/contracts/create', {
    customer_id,
    rate_card_id: scenario.rateCardId,
    starting_at: '2026-08-01T00:00:00Z',
    usage_statement_schedule: { frequency: 'MONTHLY', invoice_generation_starting_at },
  });
  return { customer_id, contract_id: answer.text('data.id') };
}
