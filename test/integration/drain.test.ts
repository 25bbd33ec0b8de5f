/** Work that is still running when the service stops. */

import { type AddressInfo, connect } from 'node:net';
import { createAdaptorServer, type ServerType } from '@hono/node-server';
import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { drain } from '../../src/app/http/drain.ts';
import { createRunningRequests, type RunningRequests } from '../../src/app/http/running-requests.ts';
import { Refusal } from '../../src/core/errors.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createTestClickHouse } from '../support/stores.ts';
import { storeEvents } from '../support/usage-events.ts';

const SLOW = 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)';

let clickhouse: ClickHouse;
let requests: RunningRequests;
let server: ServerType;
let url: string;

beforeAll(async () => {
  clickhouse = await createTestClickHouse();
  const hono = new Hono();
  hono.get('/slow', async (context) => {
    await slowQuery();
    return context.text('done');
  });
  hono.onError((error, context) => context.text(error instanceof Refusal ? error.kind : String(error), 503));
  requests = createRunningRequests((request, bindings) => hono.fetch(request, bindings));
  server = createAdaptorServer({ fetch: requests.fetch });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => clickhouse.close());

function slowQuery(): Promise<unknown> {
  const settings = { max_execution_time: 120, max_threads: 1 };
  return clickhouse.query({ sql: SLOW, settings, schema: z.unknown() });
}

/** Queries that run or wait. */
function underWay(): number {
  const figures = clickhouse.laneFigures().get('requests');
  return (figures?.running ?? 0) + (figures?.waiting ?? 0);
}

test('a stop waits for running work, then ends its queries, answers its requests and writes what was accepted', async () => {
  const answer = fetch(`${url}/slow`);
  const job = slowQuery().catch((error: unknown) => error);
  await expect.poll(underWay).toBe(2);
  const startedAt = performance.now();
  await drain({
    server,
    waitMs: 1_000,
    requestsEnded: () => requests.ended(),
    endJobs: async () => {
      await job;
    },
    cancelQueries: () => clickhouse.cancelQueries(),
  });
  const tookMs = performance.now() - startedAt;
  expect(tookMs).toBeGreaterThanOrEqual(990);
  // The query on its own takes two minutes.
  expect(tookMs).toBeLessThan(60_000);
  const response = await answer;
  expect([response.status, await response.text()]).toEqual([503, 'unavailable']);
  expect(await job).toMatchObject({ kind: 'unavailable' });
  // The last batch of events is written after that.
  const event = {
    transactionId: 't',
    customerRef: 'c',
    eventType: 'e',
    timestamp: 0,
    properties: {},
    ingestedAt: 1,
  };
  await expect(storeEvents(clickhouse, [event])).resolves.toBeUndefined();
});

test('a stop waits for a request whose client has gone, so that it never uses a store that is closed', async () => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const order: string[] = [];
  const hono = new Hono();
  hono.get('/gone', async (context) => {
    order.push('begun');
    await gate;
    order.push('read');
    return context.text('nobody reads it');
  });
  const running = createRunningRequests((request, bindings) => hono.fetch(request, bindings));
  const listening = createAdaptorServer({ fetch: running.fetch });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const client = connect((listening.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET /gone HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await expect.poll(() => order).toEqual(['begun']);
  client.destroy();
  const connections = () => new Promise((resolve) => listening.getConnections((_, count) => resolve(count)));
  await expect.poll(connections).toBe(0);
  listening.once('close', () => order.push('no connection is left'));
  const stopped = drain({
    server: listening,
    waitMs: 60_000,
    requestsEnded: () => running.ended(),
    endJobs: async () => undefined,
    cancelQueries: async () => undefined,
  }).then(() => order.push('stores are closed'));
  await expect.poll(() => order).toContain('no connection is left');
  open();
  await stopped;
  expect(order).toEqual(['begun', 'no connection is left', 'read', 'stores are closed']);
  await expect(running.ended()).resolves.toBeUndefined();
});
