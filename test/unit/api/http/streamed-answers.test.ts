/** Streamed answers are written as they are taken, stop with the client, and fail visibly. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createExchange } from '../../../../src/api/http/exchange.ts';
import { createMetrics } from '../../../../src/api/http/metrics.ts';
import { startedStream } from '../../../../src/api/http/started-stream.ts';
import { Refusal } from '../../../../src/core/errors.ts';

let log: Record<string, unknown>[];
let made: number;
let hasEnded: boolean;

beforeEach(() => {
  log = [];
  made = 0;
  hasEnded = false;
});

/** More than a string can hold, and the buffers of the operating system. */
const MEGABYTES = 600;

/** Pieces of a megabyte; the one at `failsAt` fails. */
async function* pieces(failsAt: number, failure: Error): AsyncGenerator<string, void, undefined> {
  try {
    for (let index = 0; index < MEGABYTES; index += 1) {
      if (index === failsAt) throw failure;
      made += 1;
      yield 'x'.repeat(1_000_000);
    }
  } finally {
    hasEnded = true;
  }
}

function appOf(failsAt = -1, failure = new Error('the store is gone')): Hono {
  const logger = pino({ level: 'warn' }, { write: (line: string) => log.push(JSON.parse(line)) });
  const exchange = createExchange({ log: logger, metrics: createMetrics(() => new Registry()) });
  return new Hono().get('/', (context) =>
    exchange(context, { path: '/' }, async () => ({
      body: await startedStream(pieces(failsAt, failure)),
      mediaType: 'text/csv',
    })),
  );
}

async function request(...options: Parameters<typeof appOf>): Promise<Response> {
  return appOf(...options).request('/');
}

test('no piece is written before the client takes it', async () => {
  const response = await request();
  const reader = response.body?.getReader();
  expect(made).toBe(1);
  for (let index = 0; index < 5; index += 1) await reader?.read();
  expect(made).toBeLessThanOrEqual(6);
  await reader?.cancel();
  expect(hasEnded).toBe(true);
});

test('a refusal before the first piece is an ordinary one', async () => {
  const response = await request(0, new Refusal('not_found', 'there is none'));
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({ message: 'there is none' });
  expect(log).toEqual([]);
});

test('a failure after it breaks the answer off and is logged', async () => {
  const response = await request(2);
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow('broken off');
  expect(log).toMatchObject([{ level: 50, route: '/', err: { message: 'the store is gone' } }]);
});

describe('over TCP', () => {
  let server: Server;
  let port: number;

  async function listen(...options: Parameters<typeof appOf>): Promise<void> {
    server = createServer(getRequestListener(appOf(...options).fetch));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  }
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  test('a client gets all of it', async () => {
    await listen();
    const response = await fetch(`http://127.0.0.1:${port}/`);
    let bytes = 0;
    for await (const chunk of response.body ?? []) bytes += chunk.length;
    expect(bytes).toBe(MEGABYTES * 1_000_000);
  });

  test('a client learns that an answer was broken off', async () => {
    await listen(2);
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect(log).toHaveLength(1);
  });

  test('a client that does not read is not written to, and one that leaves ends the work', async () => {
    await listen();
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    let before = -1;
    // Until the buffers of the operating system are full.
    while (made !== before || made === 0) {
      before = made;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(made).toBeLessThan(100);
    socket.destroy();
    await expect.poll(() => hasEnded).toBe(true);
    expect(log).toEqual([]);
  });
});
