import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createProgress } from '../../../src/app/commands/terminal/progress.ts';
import { createTerminal } from '../../../src/app/commands/terminal/terminal.ts';
import type { EventBatch } from '../../../src/demo/event-batches.ts';
import { createHttpApi } from '../../../src/demo/http-api.ts';
import { sendBatches } from '../../../src/demo/sender.ts';

/** A producer's view of ingest: it remembers what it stored, and can be busy or cut the connection. */
type Trouble = (request: number) => 'busy' | 'stored but cut' | 'broken' | 'refused' | null;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function startIngest(trouble: Trouble) {
  const stored = new Set<string>();
  let requests = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const ids: string[] = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const mishap = trouble(++requests);
    if (mishap === 'busy') return response.writeHead(429, { 'retry-after': '0' }).end('{"message":"busy"}');
    if (mishap === 'refused') return response.writeHead(400).end('{"message":"timestamp is too old"}');
    if (mishap === 'broken') return response.writeHead(503).end('oops');
    const fresh = ids.filter((id) => !stored.has(id));
    for (const id of fresh) stored.add(id);
    if (mishap === 'stored but cut') return request.socket.destroy();
    return response.end(JSON.stringify({ accepted: fresh.length, duplicates: ids.length - fresh.length }));
  };
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = new URL(`http://127.0.0.1:${address.port}`);
  const api = createHttpApi({ url, token: 't', signal: new AbortController().signal });
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { api, stored };
}

async function* batches(count: number): AsyncGenerator<EventBatch> {
  for (let i = 0; i < count; i++) {
    yield { body: Buffer.from(JSON.stringify([`${i}-a`, `${i}-b`])), events: 2 };
  }
}

const quiet = createProgress(createTerminal({ write: () => {} }), { unit: 'events', total: 1 });

describe('the producer', () => {
  it('the producer sends every event, and some of them twice on purpose', async () => {
    const { api, stored } = await startIngest(() => null);
    const report = await sendBatches(api, batches(60), 2, quiet);
    expect(stored.size).toBe(120);
    expect(report).toEqual({ events: 120, repeatedEvents: 4, accepted: 120, duplicates: 4, retries: 0 });
  });

  it('the producer sends again what was refused for being busy or failed, until it is taken', async () => {
    const { api, stored } = await startIngest((n) =>
      n === 1 || n === 5 ? 'busy' : n === 7 ? 'broken' : null,
    );
    const report = await sendBatches(api, batches(10), 2, quiet);
    expect(stored.size).toBe(20);
    expect(report).toMatchObject({ events: 20, accepted: 20, duplicates: 2, retries: 3 });
  });

  it('the producer counts an event once whose answer was lost after it had been stored', async () => {
    const { api, stored } = await startIngest((n) => (n === 4 ? 'stored but cut' : null));
    const report = await sendBatches(api, batches(10), 1, quiet);
    expect(stored.size).toBe(20);
    expect(report).toMatchObject({ events: 20, accepted: 20 });
  });

  it('the producer stops at a refusal and says why', async () => {
    const { api } = await startIngest((n) => (n === 3 ? 'refused' : null));
    await expect(sendBatches(api, batches(10), 1, quiet)).rejects.toThrow(
      'POST /v1/ingest was answered 400: timestamp is too old',
    );
  });
});

describe('the client', () => {
  it('the client says in words that no server answers', async () => {
    const { api, stored } = await startIngest(() => null);
    expect(stored.size).toBe(0);
    for (const close of closers.splice(0)) close();
    await expect(api.send('GET', '/v1/customers')).rejects.toThrow(/no server answers at http:\/\/127/);
  });
});
