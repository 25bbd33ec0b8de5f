import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { serve } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiClient } from '../../../support/api-client.ts';
import { testApp } from '../fixtures.ts';

const LIMIT_BYTES = 100_000;
const received: number[] = [];
const app = testApp([], {
  bodyLimitBytes: LIMIT_BYTES,
  bodiesLimitBytes: 3 * LIMIT_BYTES,
  ingest: async (body) => {
    received.push(body.length);
    return { accepted: 1, duplicates: 0 };
  },
});
let port = 0;
let server: ReturnType<typeof serve>;

beforeAll(async () => {
  await new Promise<void>((listening) => {
    server = serve({ fetch: app.hono.fetch, port: 0, hostname: '127.0.0.1' }, (info) => {
      port = info.port;
      listening();
    });
    server.on('clientError', app.refuseUnreadable);
  });
});
afterAll(() => server.close());

/** Sends raw HTTP and returns all that is answered until the connection is closed. */
function exchange(...parts: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part);
    });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (text.includes('\r\n\r\n')) socket.end();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

const head = 'POST /v1/ingest HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sender\r\n';

describe('a body over TCP', () => {
  it.each([1, 1_000, LIMIT_BYTES])('a body over TCP of %i bytes arrives whole', async (length) => {
    const client = createApiClient({ baseUrl: `http://127.0.0.1:${port}`, routes: app.routes }, 'sender');
    await client.post('/v1/ingest', undefined, { rawBody: 'x'.repeat(length) });
    expect(received.at(-1)).toBe(length);
  });

  it('a body over TCP that announces too much is refused before it is sent', async () => {
    expect(await exchange(`${head}Content-Length: ${LIMIT_BYTES + 1}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('a body over TCP that grows too large in chunks is refused while it is sent', async () => {
    const chunk = `${(50_001).toString(16)}\r\n${'x'.repeat(50_001)}\r\n`;
    const text = await exchange(`${head}Transfer-Encoding: chunked\r\n\r\n`, chunk, chunk);
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text).toContain(`larger than ${LIMIT_BYTES} bytes`);
  });

  it('a body over TCP in small chunks arrives whole', async () => {
    const text = await exchange(
      `${head}Transfer-Encoding: chunked\r\n\r\n`,
      '3\r\nabc\r\n',
      '4\r\ndefg\r\n',
      '0\r\n\r\n',
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(received.at(-1)).toBe(7);
  });

  it('a body over TCP that is cut off never reaches the handler', async () => {
    const before = received.length;
    await new Promise<void>((closed) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(`${head}Content-Length: 1000\r\n\r\nabc`, () => socket.destroy());
      });
      socket.on('close', () => closed());
    });
    const text = await exchange(`${head}Content-Length: 2\r\n\r\n[]`);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(received.length).toBe(before + 1);
  });

  it('a body over TCP leaves the connection usable for the next request', async () => {
    const client = createApiClient({ baseUrl: `http://127.0.0.1:${port}`, routes: app.routes }, 'sender');
    for (let i = 0; i < 3; i++) {
      const answer = await client.send('POST', '/v1/ingest', undefined, {
        rawBody: 'x'.repeat(LIMIT_BYTES + 1),
      });
      expect(answer.status).toBe(413);
      expect((await client.get('/healthz')).status).toBe(200);
    }
  });

  it('a body over TCP is refused while it arrives if it has taken the longest and others need the room', async () => {
    const unfinished = `${head}Content-Length: ${LIMIT_BYTES}\r\n\r\n${'x'.repeat(LIMIT_BYTES - 1)}`;
    const first = exchange(unfinished);
    const sockets = await Promise.all(Array.from({ length: 4 }, () => holdOpen(unfinished)));
    const text = await exchange(`${head}Content-Length: ${LIMIT_BYTES}\r\n\r\n${'x'.repeat(LIMIT_BYTES)}`);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(await first).toMatch(/^HTTP\/1\.1 429 .*retry-after: 1\r\n/is);
    for (const socket of sockets) socket.destroy();
  });
});

/** Sends raw HTTP and keeps the connection. */
function holdOpen(text: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text, () => resolve(socket)));
    socket.on('error', reject);
  });
}

/** As `/metrics` says it. */
async function unreadableRequests(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const line = /^tallyhouse_http_request_duration_seconds_count\{.*route="none".*status="400".*\} (\d+)$/m;
  return Number(line.exec(text)?.[1] ?? 0);
}

describe('what is not HTTP', () => {
  it.each([
    ['no request', 'hello\r\n\r\n', 400],
    ['a header without end', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`, 431],
    ['a length that is no number', `${head}Content-Length: many\r\n\r\n`, 400],
  ])('a text that is not HTTP is answered in JSON: %s', async (_what, sent, status) => {
    const text = await exchange(sent);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const body: unknown = JSON.parse(text.slice(text.indexOf('\r\n\r\n')));
    expect(body).toEqual({ message: expect.any(String) });
  });

  it('a text that is not HTTP is counted like requests that reach no route', async () => {
    const before = await unreadableRequests();
    await exchange('hello\r\n\r\n');
    expect(await unreadableRequests()).toBe(before + 1);
  });
});

describe('a compressed body over TCP', () => {
  const ROOM_BYTES = 50_000;
  const inflated: number[] = [];
  const small = testApp([], {
    bodyLimitBytes: LIMIT_BYTES,
    bodiesLimitBytes: ROOM_BYTES,
    ingestCloudEvents: async () => undefined,
    ingestSpans: async (body) => {
      inflated.push(body.length);
      return { accepted: 0, duplicates: 0, ignored: 0, refused: [], warned: [] };
    },
  });

  it('a compressed body over TCP takes room for its decompressed size, and gives it back', async () => {
    const listening = await new Promise<{ port: number; close(): void }>((resolve) => {
      const other = serve({ fetch: small.hono.fetch, port: 0, hostname: '127.0.0.1' }, (info) =>
        resolve({ port: info.port, close: () => other.close() }),
      );
    });
    const client = createApiClient(
      { baseUrl: `http://127.0.0.1:${listening.port}`, routes: small.routes },
      'sender',
    );
    const send = async (bytes: number) => {
      const rawBody = gzipSync(Buffer.alloc(bytes, ' '));
      const headers = { 'content-encoding': 'gzip' };
      return (await client.send('POST', '/v1/ingest/otlp', undefined, { rawBody, headers })).status;
    };
    const most = ROOM_BYTES - 1_000;
    expect([await send(ROOM_BYTES), await send(most), await send(LIMIT_BYTES + 1), await send(most)]).toEqual(
      [429, 200, 413, 200],
    );
    expect(inflated).toEqual([most, most]);
    listening.close();
  });
});
