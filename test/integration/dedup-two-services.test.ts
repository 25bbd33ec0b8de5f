/**
 * Two whole services, separate processes, on one ClickHouse over HTTP: whatever reaches both at the same
 * time, every id counts once, also when one of them is killed in between.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { type Program, runProgram } from '../support/child-process.ts';
import { type FrontProcess, frontUrl, startFrontProcess } from '../support/front-process.ts';
import { createTestDirectory } from '../support/stores.ts';

const TOKEN = 'token-of-this-test';
const REQUESTS = 20;
const EVENTS_PER_REQUEST = 20;

interface Life {
  readonly program: Program;
  readonly url: string;
}

let front: FrontProcess;
let directory: string;
const lives = new Map<string, Life>();

beforeAll(async () => {
  directory = await createTestDirectory();
  front = await startFrontProcess({
    directory: join(directory, 'front'),
    port: 0,
    cluster: inject('clickhouse')?.cluster,
  });
  await start('one');
  await start('two');
});

afterAll(async () => {
  for (const { program } of lives.values()) program.child.kill('SIGKILL');
  await Promise.all([...lives.values()].map(({ program }) => program.ended));
  await front.kill();
});

/** Each has a separate PostgreSQL: the paths of an event need none. */
async function start(name: string): Promise<void> {
  const cluster = inject('clickhouse')?.cluster;
  const program = runProgram('src/main.ts', [], {
    PORT: '0',
    API_TOKEN: TOKEN,
    LOG_LEVEL: 'fatal',
    DATA_DIR: join(directory, name),
    CLICKHOUSE_URL: frontUrl(front.port, 'shared'),
    ...(cluster === undefined ? {} : { CLICKHOUSE_CLUSTER: cluster }),
  });
  await program.said('/docs');
  const url = /ready at (\S+)/.exec(program.stdout())?.[1] ?? '';
  lives.set(name, { program, url });
}

async function call(name: string, path: string, body?: unknown): Promise<string> {
  const response = await fetch(`${lives.get(name)?.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status} ${text}`);
  return text;
}

/** The same ids from everybody, with another event type from each. */
function events(request: number, type: string): object[] {
  const timestamp = new Date(Date.now() - 60_000).toISOString();
  return Array.from({ length: EVENTS_PER_REQUEST }, (_, i) => ({
    transaction_id: `shared-${request}-${i}`,
    customer_id: 'both',
    event_type: type,
    timestamp,
    properties: {},
  }));
}

const createdBody = z.object({ data: z.object({ id: z.string() }) });
const usageBody = z.object({ data: z.array(z.object({ value: z.number().nullable() })) });

async function created(path: string, body: unknown): Promise<string> {
  return createdBody.parse(JSON.parse(await call('one', path, body))).data.id;
}

async function measure(name: string, figure: string): Promise<number> {
  return Number(new RegExp(`^${figure} (\\S+)$`, 'm').exec(await call(name, '/metrics'))?.[1]);
}

it('deduplication across two services counts every id once, through races, a kill and restarts', async () => {
  const customerId = await created('/v1/customers', { name: 'Both', ingest_aliases: ['both'] });
  const metricId = await created('/v1/billable-metrics/create', { name: 'all', aggregation_type: 'COUNT' });
  const counted = async () => {
    const day = 86_400_000;
    const today = Math.floor(Date.now() / day) * day;
    const answer = await call('one', '/v1/usage/groups', {
      customer_id: customerId,
      billable_metric_id: metricId,
      window_size: 'NONE',
      starting_on: new Date(today - day).toISOString(),
      ending_before: new Date(today + 2 * day).toISOString(),
    });
    return usageBody.parse(JSON.parse(answer)).data[0]?.value ?? 0;
  };
  const race = (first: number) =>
    Promise.allSettled(
      Array.from({ length: REQUESTS }, (_, i) => [
        call('one', '/v1/ingest', events(first + i, 'from-one')),
        call('two', '/v1/ingest', events(first + i, 'from-two')),
      ]).flat(),
    );
  const ids = REQUESTS * EVENTS_PER_REQUEST;

  const outcomes = await race(0);
  expect(outcomes.filter((outcome) => outcome.status === 'rejected')).toEqual([]);
  await expect.poll(counted, { interval: 100 }).toBe(ids);
  for (const name of ['one', 'two']) {
    await expect
      .poll(() => measure(name, 'tallyhouse_known_transaction_ids\\{tier="recent"\\}'), { interval: 100 })
      .toBe(ids);
    expect(JSON.parse(await call(name, '/v1/ingest', events(3, 'later')))).toEqual({
      accepted: 0,
      duplicates: EVENTS_PER_REQUEST,
    });
  }

  const interrupted = race(REQUESTS);
  lives.get('two')?.program.child.kill('SIGKILL');
  await interrupted;
  await start('two');
  await expect.poll(counted, { interval: 100 }).toBe(2 * ids);
  expect(JSON.parse(await call('two', '/v1/ingest', events(REQUESTS, 'later')))).toEqual({
    accepted: 0,
    duplicates: EVENTS_PER_REQUEST,
  });
  expect(await counted()).toBe(2 * ids);
});
