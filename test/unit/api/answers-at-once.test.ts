/** Lists as CSV that are asked for at once, over HTTP. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { csvTable } from '../../../src/api/http/csv.ts';
import { route } from '../../../src/api/http/route.ts';
import { testApp } from './fixtures.ts';

const item = z.object({ n: z.number() });
const column = { name: 'n', description: 'A number.', value: ({ n }: z.output<typeof item>) => n };
let pagesRead = 0;

/** A list without end. */
const numbers = route({
  method: 'get',
  path: '/v1/numbers',
  operationId: 'listNumbers',
  summary: 'Numbers',
  tags: ['Test'],
  scope: 'read',
  query: z.object({ next_page: z.coerce.number().optional(), limit: z.coerce.number().optional() }),
  response: z.object({ data: z.array(item), next_page: z.string().nullable() }),
  csv: csvTable([column], (each: z.output<typeof item>) => [each]),
  async handler({ query }) {
    pagesRead += 1;
    const n = query.next_page ?? 0;
    return { data: [{ n }], next_page: String(n + 1) };
  },
});

const app = testApp([numbers], {
  answerLimits: { bytes: 2, streamBytes: 1, waiting: 1, waitMs: 100, answerMs: 60_000 },
});

function ask(method: 'GET' | 'HEAD' = 'GET', accept = 'text/csv'): Promise<Response> {
  const headers = { authorization: 'Bearer reader', accept };
  return Promise.resolve(app.hono.fetch(new Request('http://service/v1/numbers', { method, headers })));
}

it('lists as CSV are sent two at a time here; further ones wait, or are answered 429 with Retry-After', async () => {
  const [first, second] = [await ask(), await ask()];
  const reader = first.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('n\r\n0\r\n');
  // At the limit nothing more is read for anybody, whatever else is asked.
  const before = pagesRead;
  const refused = await Promise.all([ask(), ask()]);
  expect(refused.map(({ status }) => status)).toEqual([429, 429]);
  for (const answer of refused) expect(answer.headers.get('retry-after')).not.toBeNull();
  expect(pagesRead - before).toBeLessThan(2);
  // An answer as JSON is one page and takes no place.
  expect((await ask('GET', 'application/json')).status).toBe(200);
  const waiting = ask();
  await reader?.cancel();
  const third = await waiting;
  expect(third.status).toBe(200);
  for (const answer of [second, third]) await answer.body?.cancel();
});

it('lists as CSV leave their place to others where they are asked for their headers only', async () => {
  for (let time = 0; time < 5; time += 1) expect((await ask('HEAD')).status).toBe(200);
  const answer = await ask();
  expect(answer.status).toBe(200);
  await answer.body?.cancel();
});
