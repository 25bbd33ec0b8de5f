import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { sendWebhook } from '../../../src/notifications/webhooks/send.ts';

const servers: ReturnType<typeof createServer>[] = [];

afterAll(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

async function receiver(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const send = (url: string, timeoutMs = 2_000) =>
  sendWebhook(url, { headers: { 'x-own': '1' }, body: '{"é":1}' }, { allowPrivate: true, timeoutMs });

it('the sender of webhooks sends the exact bytes and takes every status up to 299 as an acknowledgment', async () => {
  const url = await receiver((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      response.writeHead(299).end(JSON.stringify([request.method, request.headers['x-own'], body]));
    });
  });
  expect(await send(url)).toEqual({ status: 299, answer: '["POST","1","{\\"é\\":1}"]', error: null });
});

it('the sender of webhooks does not follow a redirect', async () => {
  let wasFollowed = false;
  const other = await receiver((_request, response) => {
    wasFollowed = true;
    response.end();
  });
  const url = await receiver((_request, response) => response.writeHead(302, { location: other }).end());
  expect(await send(url)).toEqual({ status: 302, answer: '', error: 'status 302: redirects are refused' });
  expect(wasFollowed).toBe(false);
});

it.each([
  ['that never answers', () => undefined],
  ['that never ends its answer', (_request, response) => response.writeHead(200).write('x')],
  ['that answers too late', (_request, response) => void setTimeout(() => response.end(), 1_000)],
] satisfies [string, RequestListener][])(
  'the sender of webhooks gives up on a receiver %s',
  async (_name, answer) => {
    expect(await send(await receiver(answer), 150)).toEqual({
      status: null,
      answer: null,
      error: 'no answer within 0.15 s',
    });
  },
);

it('the sender of webhooks keeps the start of a long answer and does not read the rest', async () => {
  const url = await receiver((_request, response) => {
    response.writeHead(500);
    response.write('x'.repeat(1_000_000));
  });
  const { status, answer, error } = await send(url);
  expect([status, answer?.length, error]).toEqual([500, 1_000, 'status 500']);
});

it.each([
  'https://127.0.0.1:1',
  'https://[::1]:1',
  'https://0x7f.1:1',
  'https://localhost:1',
  'https://[::ffff:7f00:1]:1',
])('the sender of webhooks makes no connection to %s unless private addresses are allowed', async (url) => {
  const attempt = await sendWebhook(url, { headers: {}, body: '{}' }, { allowPrivate: false });
  expect(attempt.error).toMatch(/^address .* is not public$/);
});

it('the sender of webhooks sends nothing over http unless private addresses are allowed', async () => {
  const attempt = await sendWebhook(
    'http://receiver.example/',
    { headers: {}, body: '{}' },
    { allowPrivate: false },
  );
  expect(attempt).toEqual({ status: null, answer: null, error: 'the URL must have https' });
});

it('the sender of webhooks tells why there was no connection', async () => {
  const { status, error } = await send('http://127.0.0.1:1');
  expect([status, error]).toEqual([null, expect.stringMatching(/ECONNREFUSED|bad port/i)]);
});
