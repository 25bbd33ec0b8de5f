/** Archiving customers with their contracts and invoices. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { finalizationJobKind } from '../../src/jobs/invoice-jobs.ts';
import type { JobKind } from '../../src/jobs/job-kind.ts';
import { createJobRunner } from '../../src/jobs/job-runner.ts';
import { loadContracts } from '../../src/store/contracts/contracts.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { jobsContext } from '../support/billing-context.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { waitForLock } from '../support/wait-for-lock.ts';

let service: TestService;
let scenario: Scenario;

beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  scenario = await createScenario(service.api, { alias: 'ada' });
});
afterEach(() => service.close());

const ARCHIVE = '/v1/customers/archive';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const NOW = '2026-11-10T00:00:00.000Z';

const archive = () => service.api.post(ARCHIVE, { id: scenario.customerId });
const customer = () => service.api.get(`/v1/customers/${scenario.customerId}`);

async function contracts(): Promise<ApiAnswer> {
  return service.api.post('/v2/contracts/list', {
    customer_id: scenario.customerId,
    include_archived: true,
  });
}

async function statuses(): Promise<string[]> {
  const answer = await service.api.get(`/v1/customers/${scenario.customerId}/invoices`);
  return answer.list('data').map((_, index) => answer.text(`data[${index}].status`));
}

async function create(body: object = {}): Promise<ApiAnswer> {
  const { customerId: customer_id, rateCardId: rate_card_id } = scenario;
  const starting_at = '2026-11-01T00:00:00Z';
  return service.api.send('POST', CONTRACTS, { customer_id, rate_card_id, starting_at, ...body });
}

async function listed(only_archived: boolean): Promise<string[]> {
  const answer = await service.api.get('/v1/customers', { query: { only_archived } });
  return answer.list('data').map((_, index) => answer.text(`data[${index}].id`));
}

describe('an archived customer', () => {
  test('an archived customer has its contracts archived, its invoices voided and no drafts, and can be read', async () => {
    const at = '2026-11-03T00:00:00Z';
    await service.api.post('/v1/ingest', [completion('ada', { id: 'a', at, tokens: 1_000 })]);
    await service.moveClock('2026-12-03T00:00:00Z');
    await create({ starting_at: '2026-12-01T00:00:00Z' });
    expect((await statuses()).sort()).toEqual(['DRAFT', 'DRAFT', 'FINALIZED']);
    expect((await archive()).body).toEqual({ data: { id: scenario.customerId } });
    const archived_at = '2026-12-03T00:00:00.000Z';
    expect((await customer()).at('data')).toMatchObject({ archived_at, updated_at: archived_at });
    const all = await contracts();
    expect(all.list('data')).toHaveLength(2);
    for (const path of ['data[0]', 'data[1]']) expect(all.text(`${path}.archived_at`)).toBe(archived_at);
    const history = await service.api.post('/v2/contracts/getEditHistory', {
      customer_id: scenario.customerId,
      contract_id: scenario.contractId,
    });
    expect(history.list('data')).toMatchObject([{ timestamp: archived_at, archived_at }]);
    expect(await statuses()).toEqual(['VOID']);
    await service.moveClock('2027-02-10T00:00:00Z');
    expect(await statuses()).toEqual(['VOID']);
  });

  test('an archived customer loses the invoices of contracts that were archived before too', async () => {
    await service.moveClock('2026-12-03T00:00:00Z');
    const { customerId: customer_id, contractId: contract_id } = scenario;
    await service.api.post('/v1/contracts/archive', { customer_id, contract_id, void_invoices: false });
    expect(await statuses()).toEqual(['FINALIZED']);
    await archive();
    expect(await statuses()).toEqual(['VOID']);
    expect((await contracts()).list('data')).toHaveLength(1);
  });

  test('an archived customer is listed on request only, and nobody else is then', async () => {
    const other = await createdId(service.api, '/v1/customers', { name: 'Other' });
    await archive();
    expect(await listed(true)).toEqual([scenario.customerId]);
    expect(await listed(false)).toEqual([other]);
  });

  test('an archived customer has no new contracts and no new billing configurations', async () => {
    await archive();
    const answer = await create();
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^customer_id: .* is archived$/);
    const configured = await service.api.send('POST', '/v1/setCustomerBillingProviderConfigurations', {
      data: [
        {
          customer_id: scenario.customerId,
          billing_provider: 'stripe',
          delivery_method: 'direct_to_billing_provider',
        },
      ],
    });
    expect(configured.status).toBe(400);
    expect(configured.text('message')).toMatch(/^data\[0\]\.customer_id: .* is archived$/);
  });

  test('usage of an archived customer is still metered', async () => {
    await archive();
    const at = '2026-11-03T00:00:00Z';
    const answer = await service.api.post('/v1/ingest', [completion('ada', { id: 'b', at, tokens: 7 })]);
    expect(answer.at('accepted')).toBe(1);
    const usage = await service.api.post('/v1/usage', {
      customer_ids: [scenario.customerId],
      billable_metrics: [{ id: scenario.tokensMetricId }],
      starting_on: '2026-11-01T00:00:00Z',
      ending_before: '2026-11-05T00:00:00Z',
      window_size: 'none',
    });
    expect(usage.digits('data[0].value')).toBe('7');
  });

  test('an archived customer keeps its ingest aliases until they are taken away', async () => {
    await archive();
    const body = { name: 'Next', ingest_aliases: ['ada'] };
    expect((await service.api.send('POST', '/v1/customers', body)).status).toBe(409);
    await service.api.post(`/v1/customers/${scenario.customerId}/setIngestAliases`, { ingest_aliases: [] });
    await service.api.post('/v1/customers', body);
  });

  test('an archived customer cannot be archived again: 400, and nothing changes', async () => {
    await archive();
    await service.moveClock('2026-11-11T00:00:00Z');
    const answer = await service.api.send('POST', ARCHIVE, { id: scenario.customerId });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^id: .* is already archived$/);
    expect((await customer()).text('data.archived_at')).toBe(NOW);
  });
});

test.each<[string, number, RegExp]>([
  [UNKNOWN, 404, /^customer .* not found$/],
  ['nobody', 400, /^id: must be a UUID/],
])('archiving the customer %s answers %i', async (id, status, message) => {
  const answer = await service.api.send('POST', ARCHIVE, { id });
  expect(answer.status).toBe(status);
  expect(answer.text('message')).toMatch(message);
  if (status === 404) expect(answer.at('code')).toBe('CustomerNotFound');
});

describe('archiving a customer', () => {
  test('archiving a customer while contracts are created and edited leaves none that is not archived, and deadlocks with none', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await createdId(service.api, '/v1/customers', { name: 'Busy' });
      const own = { customer_id: id };
      const made = await Promise.all(Array.from({ length: 3 }, () => create(own)));
      const [first = '', second = '', third = ''] = made.map((answer) => answer.text('data.id'));
      const edit = (contract_id: string) =>
        service.api.send('POST', '/v2/contracts/edit', { ...own, contract_id, update_contract_name: 'X' });
      const parent = { contract_id: first, customer_id: id };
      const renewal = { type: 'RENEWAL', from_contract_id: second };
      const answers = await Promise.all([
        edit(third),
        create(own),
        create({ ...own, hierarchy_configuration: { parent } }),
        service.api.send('POST', ARCHIVE, { id }),
        create({ ...own, starting_at: '2026-12-01T00:00:00Z', transition: renewal }),
        create(own),
        edit(first),
        edit(second),
      ]);
      for (const { status } of answers) expect([200, 400]).toContain(status);
      expect(await loadContracts(service.db, { customerIds: [id] })).toEqual([]);
    }
  });

  test('archiving a customer waits for an invoice that is being finalized, and voids it', async () => {
    const clock = { now: () => Date.UTC(2026, 11, 3) };
    const { db, clickhouse } = service;
    const kind = finalizationJobKind(jobsContext({ db, clock, clickhouse }));
    let archived: Promise<ApiAnswer> | undefined;
    const slow: JobKind = {
      ...kind,
      prepare: async (batch, inTurn) => {
        const prepared = await kind.prepare(batch, inTurn);
        return {
          ...prepared,
          write: async (tx, jobs) => {
            await prepared.write(tx, jobs);
            archived = archive();
            await waitForLock(db);
          },
        };
      },
    };
    const runner = createJobRunner(jobsContext({ db, clock, ping: async () => undefined }), [slow]);
    expect(await runner.runDue(clock.now())).toMatchObject({ done: 1, failed: 0 });
    await archived;
    expect(await statuses()).toEqual(['VOID']);
    await service.moveClock('2027-01-10T00:00:00Z');
    expect(await statuses()).toEqual(['VOID']);
  });
});
