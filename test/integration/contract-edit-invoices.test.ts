/** The effects of an edit on the usage invoices of a contract. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let scenario: Scenario;

beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  scenario = await createScenario(service.api, { alias: 'ada' });
  const at = '2026-11-03T00:00:00Z';
  // 2 for the request and 5 for 1,000 small tokens.
  await service.api.post('/v1/ingest', [completion('ada', { id: at, at, tokens: 1_000, model: 'small' })]);
});
afterEach(() => service.close());

async function edit(changes: object, status = 200): Promise<string> {
  const { customerId: customer_id, contractId: contract_id } = scenario;
  const answer = await service.api.send('POST', '/v2/contracts/edit', {
    customer_id,
    contract_id,
    ...changes,
  });
  expect(answer.status).toBe(status);
  return status === 200 ? answer.text('data.id') : answer.text('message');
}

/** Newest first. */
async function invoices(): Promise<[string, string, string][]> {
  const answer = await service.api.get(`/v1/customers/${scenario.customerId}/invoices`, {
    query: { sort: 'date_desc' },
  });
  return answer
    .list('data')
    .map((_, index) => [
      answer.text(`data[${index}].status`),
      answer.text(`data[${index}].end_timestamp`).slice(0, 10),
      answer.digits(`data[${index}].total`),
    ]);
}

const half = () => ({
  starting_at: '2026-11-01T00:00:00Z',
  type: 'MULTIPLIER',
  multiplier: 0.5,
  product_id: scenario.requestsProductId,
});

test('drafts of the whole open period follow at once', async () => {
  expect(await invoices()).toEqual([['DRAFT', '2026-12-01', '7']]);
  await edit({ add_overrides: [half()] });
  expect(await invoices()).toEqual([['DRAFT', '2026-12-01', '6']]);
});

test('finalized invoices stay as they are', async () => {
  await service.moveClock('2026-12-02T00:00:00Z');
  await edit({ add_overrides: [half()] });
  expect((await invoices()).at(-1)).toEqual(['FINALIZED', '2026-12-01', '7']);
});

test('an earlier end cuts the draft and brings its finalization forward', async () => {
  await edit({ update_contract_end_date: '2026-11-05T00:00:00Z' });
  expect(await invoices()).toEqual([['DRAFT', '2026-11-05', '7']]);
  await service.moveClock('2026-11-10T00:00:01Z');
  expect(await invoices()).toEqual([['FINALIZED', '2026-11-05', '7']]);
});

test('an end before a finalized invoice is refused where that is asked for, and nothing changes', async () => {
  await service.moveClock('2026-12-02T00:00:00Z');
  const end = { update_contract_end_date: '2026-11-05T00:00:00Z', update_contract_name: 'X' };
  const strict = { ...end, allow_contract_ending_before_finalized_invoice: false };
  expect(await edit(strict, 400)).toMatch(/^update_contract_end_date: a finalized invoice reaches until/);
  const { customerId: customer_id, contractId: contract_id } = scenario;
  const contract = await service.api.post('/v2/contracts/get', { customer_id, contract_id });
  expect(contract.at('data.name')).toBeUndefined();
  await edit(end);
  expect(await invoices()).toEqual([['FINALIZED', '2026-12-01', '7']]);
});
