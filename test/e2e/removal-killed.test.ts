/**
 * Processes that are killed in the middle of removing months of old events, and of erasing a customer. The next one
 * continues, nothing is gone that an invoice, a draft or deduplication needs, and no data counts as damaged.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type BillingProcess,
  created,
  createPayingCustomers,
  moveClock,
  startBillingProcess,
} from '../support/billing-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';

const START = '2026-11-10T00:00:00Z';

let dataDir = '';
let service: BillingProcess;

beforeEach(async () => {
  dataDir = await createDataDirectory();
  service = await startBillingProcess(null, dataDir, START);
  await createPayingCustomers(service, 2, '2026-11-01T00:00:00Z');
});

afterEach(async () => {
  await service.kill();
});

/** Starts the service of the next step, and returns the months of which it found events. */
async function restart(env: Record<string, string> = {}): Promise<string> {
  await service.kill();
  const file = 'test/support/programs/service-killed-at.ts';
  service = await startBillingProcess(null, dataDir, START, env, file);
  return /months: ([\d ]*)\./.exec(service.program.stdout())?.[1] ?? '';
}

async function ok(path: string, body?: unknown) {
  const answer = await service.call(path, body);
  expect(`${answer.status} ${answer.status === 200 ? '' : answer.body}`).toBe('200 ');
  return JSON.parse(answer.body);
}

async function use(timestamp: string, properties = {}): Promise<unknown> {
  const event = { transaction_id: timestamp, customer_id: 'customer-0', event_type: 'request', timestamp };
  const { status } = await service.call('/v1/ingest', [{ ...event, properties }]);
  return status;
}

async function figure(name: string): Promise<string | undefined> {
  const { body } = await service.call('/metrics');
  return new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(body)?.[1];
}

async function customerId(name: string): Promise<string> {
  const { data } = await ok(`/v1/customers?ingest_alias=${name}`);
  return data[0].id;
}

async function auditRows(action: string): Promise<number> {
  const { data } = await ok('/v1/auditLogs?limit=100&sort=date_desc');
  return data.filter((row: { action: string }) => row.action === action).length;
}

/** Three months: two are there for the last kill at least, and one afterwards. Corrections of a month go before it. */
const KILLS = [
  '0 after ALTER TABLE corrected_events DROP PARTITION',
  ...['before', 'after', 'during'].map((when) => `0 ${when} ALTER TABLE usage_events DROP PARTITION`),
];

it('removal of old months continues after kill -9 at any moment, and leaves what is needed', async () => {
  for (const month of ['2026-12', '2027-01', '2027-02', '2027-03']) {
    await moveClock(service, `${month}-10T00:00:00Z`);
    expect(await use(`${month}-09T00:00:00Z`)).toBe(200);
  }
  await moveClock(service, '2027-03-20T00:00:00Z');
  const path = `/v1/customers/${await customerId('customer-0')}/invoices`;
  const invoices = await ok(`${path}?sort=date_asc`);
  expect(invoices.data.map(({ total }: { total: number }) => total)).toEqual([2, 2, 2, 2, 2]);

  const months = '202611 202612 202701 202702 202703';
  for (const kill of KILLS) {
    const found = await restart({ EVENT_RETENTION_MONTHS: '1', KILL_AT: kill });
    expect(months.endsWith(found)).toBe(true);
    expect(found).toContain('202702 202703');
    expect(await service.program.ended).toBe('SIGKILL');
  }
  await restart({ EVENT_RETENTION_MONTHS: '1' });
  // All that was left is counted at the end of the run that has removed it.
  await expect.poll(() => figure('tallyhouse_events_removed_total')).toMatch(/^[12]$/);
  expect(await restart({ EVENT_RETENTION_MONTHS: '1' })).toBe('202702 202703');
  const keptFrom = await figure('tallyhouse_events_kept_from_timestamp_seconds');
  expect(keptFrom).toBe(String(Date.parse('2027-02-01') / 1_000));
  expect((await service.call('/readyz')).status).toBe(200);
  expect(await auditRows('removeOldEvents')).toBe(1);

  expect((await ok(`${path}?sort=date_asc`)).data).toEqual(invoices.data);
  expect(await use('2027-03-09T00:00:00Z')).toBe(200);
  expect(await figure('tallyhouse_events_duplicate_total')).toBe('1');
  expect(await figure('tallyhouse_events_accepted_total')).toBe('0');
});

it('removal of a customer continues after kill -9 at any moment, and leaves what invoices need, and other customers', async () => {
  const [gone, other] = [await customerId('customer-0'), await customerId('customer-1')];
  const { data: contracts } = await ok('/v2/contracts/list', { customer_id: gone });
  await use('2026-11-09T00:00:00Z', { email: 'ada@example.com' });
  const end = { customer_id: gone, contract_id: contracts[0].id, ending_before: '2026-12-01T00:00:00Z' };
  await ok('/v1/contracts/updateEndDate', end);
  await moveClock(service, '2026-12-10T00:00:00Z');
  const path = `/v1/customers/${gone}/invoices`;
  const [invoice] = (await ok(path)).data;
  expect(invoice).toMatchObject({ status: 'FINALIZED', total: 4 });

  await restart({ KILL_AT: '0 before UPDATE properties' });
  // The job may come before the answer.
  await service.call(`/v1/customers/${gone}/erase`, {}).catch(() => undefined);
  expect(await service.program.ended).toBe('SIGKILL');
  for (const kill of ['0 during UPDATE properties', '0 after UPDATE properties', '0 after DELETE']) {
    await restart({ KILL_AT: kill });
    expect(await service.program.ended).toBe('SIGKILL');
  }
  await restart();
  await expect.poll(() => auditRows('eraseEvents')).toBe(1);
  expect(await auditRows('eraseCustomer')).toBe(1);
  expect((await service.call('/readyz')).status).toBe(200);
  const search = { transactionIds: ['2026-11-09T00:00:00Z', 'customer-1'] };
  const found: { transaction_id: string; properties: object }[] = await ok('/v1/events/search', search);
  expect(found.find(({ transaction_id }) => transaction_id !== 'customer-1')?.properties).toEqual({});
  expect(found).toHaveLength(2);

  // Who it was is gone from it, and nothing else.
  const erased = { customer_name: 'Erased customer', customer_external_id: invoice.customer_id };
  expect((await ok(path)).data).toEqual([{ ...invoice, ...erased }]);
  expect((await ok(`${path}/${invoice.id}/explain`)).data).toBeDefined();
  const { data: drafts } = await ok(`/v1/customers/${other}/invoices?status=DRAFT`);
  expect(drafts).toHaveLength(1);
  expect(await created(service, '/v1/customers', { name: 'Next' })).not.toBe('');
});
