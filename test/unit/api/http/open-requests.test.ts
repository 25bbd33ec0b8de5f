/** A request is either carried out or refused: who reads a refusal may send it again. */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Hono } from 'hono';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBodyBudget } from '../../../../src/api/http/body-budget.ts';
import { unreadableRequests } from '../../../../src/api/http/parser-errors.ts';
import { readBody } from '../../../../src/api/http/request-body.ts';
import { createHttpServer, HTTP_LIMITS } from '../../../../src/app/http/http-server.ts';

const limits = { ...HTTP_LIMITS, headersMs: 150, requestMs: 300, checkMs: 20 };
const bodies = { limitBytes: 10_000_000, budget: createBodyBudget(20_000_000) };

let server: ReturnType<typeof createHttpServer>;
let socket: Socket;
/** The bodies of the requests that were carried out. */
let carriedOut: string[];
let received: string;
/** Requests to `/held` are answered then. */
let release: () => void;

beforeEach(async () => {
  carriedOut = [];
  received = '';
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const app = new Hono().post('*', async (context) => {
    const { bytes } = await readBody(context, bodies);
    carriedOut.push(String(bytes));
    if (context.req.path === '/held') await held;
    return context.text('carried out');
  });
  server = createHttpServer((request, bindings) => app.fetch(request, bindings), limits);
  server.on('clientError', unreadableRequests({ observe() {} }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('data', (chunk) => (received += String(chunk)));
  socket.on('error', () => undefined);
  await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
});
afterEach(async () => {
  release();
  socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const head = (length: number, path = '/') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

describe('a request that arrives after it was refused as late is not carried out', () => {
  it.each([
    { late: 'its headers', first: head(5).slice(0, 20), rest: `${head(5).slice(20)}hello` },
    { late: 'its body', first: `${head(5)}he`, rest: 'llo' },
    { late: 'all of it, and another one follows', first: '', rest: `${head(5)}hello${head(5)}again` },
  ])('$late', async ({ first, rest }) => {
    socket.write(first);
    await expect.poll(() => received).toContain('408 Request Timeout');
    socket.end(rest);
    await once(socket, 'close');
    expect(carriedOut).toEqual([]);
    expect(received).not.toContain('200 OK');
  });
});

/** The thread does nothing else. */
function holdThread(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

describe('a request that was sent in time is carried out, although the service reads it late', () => {
  it.each([
    { what: 'a small one', body: 'hello' },
    { what: 'one that is read in many pieces', body: 'x'.repeat(5_000_000) },
  ])('a request that was sent in time is carried out although it is read late: $what', async ({ body }) => {
    socket.write(head(body.length));
    socket.write(body);
    holdThread(2 * limits.requestMs);
    await expect.poll(() => received).toContain('carried out');
    expect(received).not.toContain('408');
    expect(carriedOut).toEqual([body]);
  });
});

describe('a request that is being carried out gets its own answer, whatever follows it', () => {
  it.each([
    { next: 'no HTTP', rest: 'no HTTP\r\n\r\n' },
    { next: 'the beginning of a late request', rest: 'POST / HTTP/1.1\r\nHo' },
    { next: 'a request with a late body', rest: `${head(5)}he` },
  ])('a request under way gets its own answer when $next follows it', async ({ rest }) => {
    const closed = once(socket, 'close');
    const refused = once(server, 'clientError');
    socket.write(`${head(5, '/held')}hello`);
    await expect.poll(() => carriedOut).toEqual(['hello']);
    socket.write(rest);
    await refused;
    // So that a refusal is there by then.
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    release();
    await once(socket, 'end');
    socket.end();
    await closed;
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    expect(carriedOut).toEqual(['hello']);
  });
});
