/** What is still running when the service stops. */

import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type ServerType } from '@hono/node-server';
import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { drain } from '../../src/app/drain.ts';
import { Refusal } from '../../src/core/errors.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createTestClickHouse } from '../support/stores.ts';
import { storeEvents } from '../support/usage-events.ts';

const SLOW = 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)';

let clickhouse: ClickHouse;
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
  server = createAdaptorServer({ fetch: hono.fetch });
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
