/** Answers as JSON whose size is known only while they are built, beside answers as CSV, under one budget. */
import { AsyncResource } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { csvTable } from '../../../src/api/http/csv.ts';
import { type RouteDefinition, route } from '../../../src/api/http/route.ts';
import { countMemory } from '../../../src/runtime/answer-memory.ts';
import { testApp } from './fixtures.ts';

const MB = 1024 * 1024;
const STREAM_BYTES = 100 * MB;

let held = 0;
let most = 0;
let attempts = 0;

/** A list whose making takes so many megabytes, one by one, of which it gives back what it does not send. */
const large = route({
  method: 'get',
  path: '/v1/large',
  operationId: 'listLarge',
  summary: 'Large',
  tags: ['Test'],
  scope: 'read',
  query: z.object({ megabytes: z.coerce.number(), text: z.coerce.number().optional() }),
  response: z.object({ text: z.string() }),
  async handler({ query }) {
    attempts += 1;
    let own = 0;
    try {
      while (own < query.megabytes) {
        countMemory(MB);
        own += 1;
        held += 1;
        most = Math.max(most, held);
        await pause();
      }

      return { text: 'x'.repeat(query.text ?? 1) };
    } finally {
      held -= own;
    }
  },
});

const item = z.object({ n: z.number() });
const endless = route({
  method: 'get',
  path: '/v1/endless',
  operationId: 'listEndless',
  summary: 'Endless',
  tags: ['Test'],
  scope: 'read',
  query: z.object({ next_page: z.coerce.number().optional() }),
  response: z.object({ data: z.array(item), next_page: z.string().nullable() }),
  csv: csvTable(
    [{ name: 'n', description: 'A number.', value: ({ n }: z.output<typeof item>) => n }],
    (each) => [each],
  ),
  handler: async ({ query: { next_page: n = 0 } }) => ({ data: [{ n }], next_page: String(n + 1) }),
});

function appOf(megabytes: number, waitMs = 60_000, ...others: RouteDefinition[]) {
  const answerLimits = {
    bytes: megabytes * MB,
    streamBytes: STREAM_BYTES,
    ...{ waiting: 10, waitMs, answerMs: 60_000 },
  };
  return testApp([large, endless, ...others], { answerLimits });
}

type App = ReturnType<typeof appOf>;

function ask({ hono }: App, path: string, accept = 'application/json', method = 'GET'): Promise<Response> {
  const headers = { authorization: 'Bearer reader', accept };
  return Promise.resolve(hono.fetch(new Request(`http://service/v1/${path}`, { method, headers })));
}

it('large ones wait for one another, and what they hold together stays within the budget', async () => {
  const app = appOf(200);
  [held, most] = [0, 0];
  const answers = await Promise.all(Array.from({ length: 6 }, () => ask(app, 'large?megabytes=90')));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
  // The memory that each may take beside the budget.
  const small = 8;
  expect(most).toBeLessThanOrEqual(200 + 6 * small);
  // The budget is whole again: two answers as CSV fit in.
  for (const stream of await Promise.all([
    ask(app, 'endless', 'text/csv'),
    ask(app, 'endless', 'text/csv'),
  ])) {
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
  }
});

it('small ones are answered at once while the budget is taken; large ones are refused in time, with Retry-After', async () => {
  const app = appOf(100, 200);
  const stream = await ask(app, 'endless', 'text/csv');
  expect((await ask(app, 'large?megabytes=7')).status).toBe(200);
  const refused = await ask(app, 'large?megabytes=20');
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  await stream.body?.cancel();
  expect((await ask(app, 'large?megabytes=20')).status).toBe(200);
});

it('an answer that is larger than the budget is built alone, and one that is far larger is refused', async () => {
  const app = appOf(100);
  expect((await ask(app, 'large?megabytes=150')).status).toBe(200);
  const refused = await ask(app, 'large?megabytes=300');
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('ask for fewer items');
  const stream = await ask(app, 'endless', 'text/csv');
  expect(stream.status).toBe(200);
  await stream.body?.cancel();
});

it('an answer that finds no room gives up its share, and starts again when there is room', async () => {
  const app = appOf(100);
  const stream = await ask(app, 'endless', 'text/csv');
  [attempts, held] = [0, 0];
  const waiting = ask(app, 'large?megabytes=50');
  await vi.waitUntil(() => attempts === 1 && held === 0);
  await stream.body?.cancel();
  expect((await waiting).status).toBe(200);
  expect(attempts).toBe(2);
});

it('the text of an answer keeps its share until it has been sent, or the client has gone', async () => {
  const app = appOf(100, 200);
  const large = 'large?megabytes=30&text=20000000';
  const answer = await ask(app, large);
  const length = Number(answer.headers.get('content-length'));
  // A stream wants the whole budget here.
  expect((await ask(app, 'endless', 'text/csv')).status).toBe(429);
  expect((await answer.arrayBuffer()).byteLength).toBe(length);
  expect(length).toBe(20_000_011);
  const dropped = await ask(app, large);
  await dropped.body?.cancel();
  expect((await ask(app, large, 'application/json', 'HEAD')).status).toBe(200);
  const stream = await ask(app, 'endless', 'text/csv');
  expect(stream.status).toBe(200);
  await stream.body?.cancel();
});

it('work that continues after an answer was built takes nothing', async () => {
  let countLater = () => {};
  const lasting = route({
    method: 'get',
    path: '/v1/lasting',
    operationId: 'readLasting',
    summary: 'Lasting',
    tags: ['Test'],
    scope: 'read',
    response: z.object({}),
    handler: async () => {
      countLater = AsyncResource.bind(() => countMemory(50 * MB));
      return {};
    },
  });
  const app = appOf(100, 200, lasting);
  expect((await ask(app, 'lasting')).status).toBe(200);
  countLater();
  const stream = await ask(app, 'endless', 'text/csv');
  expect(stream.status).toBe(200);
  await stream.body?.cancel();
});
