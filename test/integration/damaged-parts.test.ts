/** Files of ClickHouse that are damaged or removed while the service runs. */
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { acceptLossCommand } from '../../src/app/commands/accept-loss-command.ts';
import { unsettledLosses } from '../../src/store/events/event-store.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let scenario: Scenario;

beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  scenario = await createScenario(service.api, { alias: 'acme' });
  // Requests at 2 cents each, in a separate part.
  await send('first', '2026-11-02T00:00:00Z');
  // A read brings what was acknowledged to ClickHouse.
  await draftTotal();
  await send('second', '2026-11-03T00:00:00Z');
  await draftTotal();
});

afterEach(() => service.close());

const events = (id: string, at: string) => [completion('acme', { id, at, tokens: 0, model: 'small' })];

async function send(id: string, at: string) {
  return await service.api.send('POST', '/v1/ingest', events(id, at));
}

const usage = () =>
  service.api.send('POST', '/v1/usage', {
    starting_on: '2026-11-01T00:00:00Z',
    ending_before: '2026-11-05T00:00:00Z',
    window_size: 'day',
  });
const invoices = () => service.api.send('GET', `/v1/customers/${scenario.customerId}/invoices`);
const readiness = () => service.api.send('GET', '/readyz');

async function draftTotal(): Promise<string> {
  const answer = await invoices();
  return answer.digits('data[0].total');
}

const partRow = z.object({ name: z.string(), path: z.string() });

/** The newest part of the events. */
async function newestPart(): Promise<z.infer<typeof partRow>> {
  const [part] = await service.clickhouse.query({
    sql: `SELECT name, path FROM system.parts
      WHERE database = currentDatabase() AND table = 'usage_events' AND active ORDER BY max_block_number DESC LIMIT 1`,
    schema: partRow,
  });
  if (part === undefined) throw new Error('no part');
  return part;
}

/** Changes bytes in the file that holds the data of a small part. */
async function damage(path: string): Promise<void> {
  const file = await open(join(path, 'data.bin'), 'r+');
  const { size } = await file.stat();
  for (let at = 16; at < size; at += 64) await file.write(Buffer.from([0xff]), 0, 1, at);
  await file.close();
}

async function accept(name: string): Promise<string[]> {
  return await acceptLossCommand([name], service.connection);
}

async function jobsDue(): Promise<string> {
  const answer = await service.api.send('GET', '/metrics');
  return (
    /tallyhouse_jobs_done_total\{kind="finalize_usage_invoice"\} (\d+)/.exec(String(answer.body))?.[1] ?? ''
  );
}

test('a part that cannot be read stops invoices, usage and ingest until its loss is accepted, which is recorded', async () => {
  expect(await draftTotal()).toBe('4');
  const { name, path } = await newestPart();
  await damage(path);
  await service.clickhouse.command('SYSTEM DROP MARK CACHE');
  // The draft was read before the damage, and its events are taken; a query of usage reads the part.
  expect((await usage()).status).toBe(500);
  await expect.poll(async () => (await readiness()).text('message')).toContain('npm run accept-loss');
  const answer = await readiness();
  expect(answer.status).toBe(503);
  expect(answer.at('checks')).toEqual({ postgresql: true, clickhouse: true, data: false, disk: true });
  expect(answer.text('message')).toBe(
    `Not ready: data. usage_events/${name} is damaged and cannot be read (1 events). Restore ClickHouse from a ` +
      `backup, or accept the loss: npm run accept-loss -- usage_events/${name}`,
  );
  expect((await invoices()).status).toBe(503);
  expect((await send('third', '2026-11-04T00:00:00Z')).status).toBe(503);
  const moved = await service.api.send('POST', '/v1/sandbox/clock', { now: '2026-12-05T00:00:00Z' });
  expect(moved.status).toBe(503);
  expect(await jobsDue()).toBe('0');

  await expect(accept('usage_events/202611_9_9_9')).rejects.toThrow('not among the open losses');
  expect(await accept(`usage_events/${name}`)).toEqual([
    `Accepted the loss of usage_events/${name}: 1 rows (unreadable)`,
  ]);
  expect((await readiness()).status).toBe(200);
  expect(await draftTotal()).toBe('2');
  await service.moveClock('2026-12-05T00:00:00Z');
  expect(await jobsDue()).toBe('1');
});

test('a part whose directory disappears is noticed without a query, and is not forgotten by a restart', async () => {
  // The first look after the start has recorded no part yet.
  await service.restart();
  const { name, path } = await newestPart();
  await rm(path, { recursive: true });
  await expect.poll(async () => (await readiness()).status).toBe(503);
  expect((await readiness()).text('message')).toContain(
    `usage_events/${name} was there and is missing (1 events)`,
  );
  expect(await unsettledLosses(service.db)).toMatchObject([
    { table: 'usage_events', part: name, kind: 'missing', rows: 1, acceptedAt: null },
  ]);
  await service.restart();
  expect((await readiness()).status).toBe(503);
});
