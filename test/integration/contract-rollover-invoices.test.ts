/** Rollovers do not change once the renewing contract has a finalized invoice. */
import { beforeAll, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
let scenario: Scenario;

beforeAll(async () => {
  scenario = await createScenario(service.api, { alias: 'acme' });
});

const reference = (contract_id: string) => ({ customer_id: scenario.customerId, contract_id });

async function read(contract_id: string): Promise<ApiAnswer> {
  const options = { include_balance: true, include_ledgers: true };
  return service.api.post('/v2/contracts/get', { ...reference(contract_id), ...options });
}

test('amounts follow their source until then, and both sides stay as they are afterwards', async () => {
  const { api } = service;
  const older = scenario.contractId;
  const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Fee',
    type: 'FIXED',
  });
  const year = { starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' };
  await api.post('/v2/contracts/edit', {
    ...reference(older),
    add_commits: [
      {
        type: 'PREPAID',
        product_id,
        rollover_fraction: 0.5,
        access_schedule: { schedule_items: [{ amount: 100, ...year }] },
      },
    ],
  });
  const newer = await createdId(api, '/v1/contracts/create', {
    customer_id: scenario.customerId,
    rate_card_id: scenario.rateCardId,
    starting_at: '2026-12-01T00:00:00Z',
    transition: { type: 'RENEWAL', from_contract_id: older },
  });
  const source = await read(older);
  const commit_id = source.text('data.commits[0].id');
  const id = source.text('data.commits[0].access_schedule.schedule_items[0].id');
  const change = (amount: number) =>
    api.send('POST', '/v2/contracts/edit', {
      ...reference(older),
      update_commits: [{ commit_id, access_schedule: { update_schedule_items: [{ id, amount }] } }],
    });

  await service.moveClock('2026-12-20T00:00:00Z');
  expect((await change(80)).status).toBe(200);
  expect((await read(newer)).at('data.commits[0].balance')).toBe(40);

  await service.moveClock('2027-01-05T00:00:00Z');
  const refused = await change(60);
  expect(refused.status).toBe(400);
  expect(refused.text('message')).toBe(
    'update_commits[0].access_schedule: has rolled over to a contract that has a finalized invoice',
  );
  const fraction = await api.send('POST', '/v2/contracts/edit', {
    ...reference(older),
    update_commits: [{ commit_id, rollover_fraction: 0 }],
  });
  expect(fraction.text('message')).toMatch(/^update_commits\[0\]\.rollover_fraction: has rolled over/);
  const earlierEnd = { ...reference(older), ending_before: '2026-11-15T00:00:00Z' };
  await api.post('/v1/contracts/updateEndDate', earlierEnd);
  expect((await read(newer)).at('data.commits[0].balance')).toBe(40);
  expect((await read(older)).at('data.commits[0].ledger')).toMatchObject([
    { type: 'PREPAID_COMMIT_SEGMENT_START', amount: 80 },
    { type: 'PREPAID_COMMIT_ROLLOVER', amount: -40, timestamp: '2026-11-15T00:00:00.000Z' },
    { type: 'PREPAID_COMMIT_EXPIRATION', amount: -40, timestamp: '2026-11-15T00:00:00.000Z' },
  ]);
});
