import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpServer, HTTP_LIMITS, listen } from '../../../../src/app/http/http-server.ts';

const limits = {
  ...HTTP_LIMITS,
  headersMs: 200,
  requestMs: 400,
  silenceMs: 600,
  checkMs: 50,
  connectionsMax: 5,
};
let server: ReturnType<typeof createHttpServer> | undefined;

afterEach(async () => {
  await new Promise((resolve) => server?.close(resolve));
});

/** A big answer to `/big`; what the request body was otherwise. */
async function start(): Promise<number> {
  server = createHttpServer(
    async (request) =>
      request.url.endsWith('/big')
        ? new Response('x'.repeat(50_000_000))
        : new Response(await request.text()),
    limits,
  );
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Sends `text`, and resolves with what came back when the server closes the connection. */
function untilClosed(port: number, text: string, read = true): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    if (read) socket.on('data', (chunk) => (answer += String(chunk)));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
    socket.write(text);
    // Without reading, the end is noticed by writing.
    if (!read) setInterval(() => socket.write('x'), 50).unref();
  });
}

it('the server keeps idle connections for longer than load balancers, which keep them for up to 65 seconds', () => {
  server = createHttpServer(() => new Response());
  expect('keepAliveTimeout' in server && server.keepAliveTimeout).toBeGreaterThan(65_000);
});

/** Connects while the thread of the server is busy, and stores the number of connections that the kernel took. */
const MANY_CLIENTS = `
  const { workerData: { port, count, connected } } = require('node:worker_threads');
  const { connect } = require('node:net');
  for (let opened = 0; opened < count; opened += 1) {
    const socket = connect(port, '127.0.0.1', () => {
      if (Atomics.add(connected, 0, 1) + 1 === count) Atomics.notify(connected, 1);
    });
    socket.on('error', () => {});
  }
`;

it('the server takes connections that arrive while its thread is busy, as many as the kernel lets wait', async () => {
  const allowed = Number(await readFile('/proc/sys/net/core/somaxconn', 'utf8').catch(() => '128'));
  const count = Math.min(1_000, allowed);
  server = createHttpServer(() => new Response());
  await listen(server, { host: '127.0.0.1', port: 0 });
  const { port } = server.address() as AddressInfo;
  const connected = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(MANY_CLIENTS, { eval: true, workerData: { port, count, connected } });
  await once(worker, 'online');
  // Nothing is accepted meanwhile.
  Atomics.wait(connected, 1, 0, 20_000);
  expect(Atomics.load(connected, 0)).toBe(count);
  await worker.terminate();
  server.closeAllConnections();
}, 40_000);

describe('a client that', () => {
  it.each([
    ['says nothing', ''],
    ['does not finish its headers', 'POST / HTTP/1.1\r\nHost: x\r\n'],
    ['does not finish its body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n123'],
  ])('%s is cut off', async (_, text) => {
    expect(await untilClosed(await start(), text)).not.toContain('200 OK');
  });

  it('a client that does not read its answer is cut off', async () => {
    const port = await start();
    expect(await untilClosed(port, 'GET /big HTTP/1.1\r\nHost: x\r\n\r\n', false)).toBe('');
  });

  it('a connection beyond the limit is cut off, and others are answered', async () => {
    const port = await start();
    const first = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'first' });
    expect(await first.text()).toBe('first');
    const waiting = Array.from({ length: 8 }, () => untilClosed(port, ''));
    const outcomes = await Promise.all(waiting);
    expect(outcomes.every((text) => !text.includes('200'))).toBe(true);
    const later = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'later' });
    expect(await later.text()).toBe('later');
  });
});

describe('a body that is refused before it has arrived', () => {
  const REFUSED = '413 Payload Too Large';

  /** Reads a part of the body first, or nothing of it. */
  async function refuse(requestMs: number, reads: boolean): Promise<number> {
    const refusal = async ({ method }: Request, bindings: object = {}) => {
      const begins = reads && method === 'POST';
      if (begins && 'incoming' in bindings) await once(bindings.incoming as IncomingMessage, 'data');
      return new Response('too large', { status: 413 });
    };
    server = createHttpServer(refusal, { ...limits, requestMs });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  /** As many clients do: everything is sent before anything is read. The pauses are longer than buffers last. */
  async function sendThenRead(port: number, chunks: number): Promise<string> {
    const socket = connect(port, '127.0.0.1').pause();
    const chunk = Buffer.alloc(1_000_000);
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${chunks * chunk.length}\r\n\r\n`);
    for (let sent = 0; sent < chunks; sent += 1) {
      if (!socket.write(chunk)) await once(socket, 'drain');
      await delay(200);
    }
    let answer = '';
    socket.on('data', (bytes) => (answer += String(bytes))).resume();
    await expect.poll(() => answer).toContain('too large');
    socket.end('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await once(socket, 'close');
    return answer;
  }

  it.each([false, true])(
    'a body that is refused before it has arrived is read to its end, so that the client sees the answer (begun: %s)',
    async (reads) => {
      const answers = await sendThenRead(await refuse(60_000, reads), 8);
      expect(answers.split(REFUSED)).toHaveLength(3);
    },
  );

  it('a body that is refused before it has arrived is cut off at the time limit of a request', async () => {
    const sending = sendThenRead(await refuse(limits.requestMs, true), 1_000);
    await expect(sending).rejects.toThrow(/ECONNRESET|EPIPE/);
  });
});
