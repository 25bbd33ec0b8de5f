import { expect, test } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';

const { api } = await serviceForFile({ sandboxNow: '2026-11-20T00:00:00Z' });
const LIST = '/v1/sql/queries';
const save = (body: object) => api.send('POST', `${LIST}/save`, body);
const names = async () => (await api.get(LIST)).list('data').map((row) => (row as { name: string }).name);

test('a query that is saved under a name that is there takes its place and keeps its id', async () => {
  const first = await save({ name: 'By type', sql: 'SELECT 1 AS one' });
  await save({ name: 'By day', sql: 'SELECT 2 AS two' });
  const again = await save({ name: ' By type ', sql: 'SELECT 3 AS three' });
  expect(again.body).toEqual(first.body);
  expect((await api.get(LIST)).list('data')).toEqual([
    expect.objectContaining({ name: 'By day' }),
    {
      id: first.text('data.id'),
      name: 'By type',
      sql: 'SELECT 3 AS three',
      saved_by: 'API_TOKEN',
      saved_at: '2026-11-20T00:00:00.000Z',
    },
  ]);
});

test('two savings of one new name at once are one query', async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => save({ name: 'Raced', sql: `SELECT ${index} AS x` })),
  );
  expect(new Set(answers.map((answer) => answer.text('data.id'))).size).toBe(1);
  expect((await names()).filter((name) => name === 'Raced')).toHaveLength(1);
});

test('a deleted query is gone, and an unknown one is refused', async () => {
  const id = (await save({ name: 'Short-lived', sql: 'SELECT 1 AS one' })).text('data.id');
  expect((await api.post(`${LIST}/delete`, { id })).text('data.id')).toBe(id);
  expect(await names()).not.toContain('Short-lived');
  const refused = await api.send('POST', `${LIST}/delete`, { id });
  expect([refused.status, refused.text('message')]).toEqual([404, `saved query ${id} not found`]);
});

test('a query without a name, without a text or with a longer one than runs is refused and not stored', async () => {
  const before = await names();
  for (const [body, field] of [
    [{ name: ' ', sql: 'SELECT 1 AS one' }, 'name'],
    [{ name: 'Empty', sql: '' }, 'sql'],
    [{ name: 'Long', sql: 'x'.repeat(10_001) }, 'sql'],
    [{ name: 'Other', sql: 'SELECT 1', owner: 'me' }, 'owner'],
  ] as const) {
    const refused = await save(body);
    expect([refused.status, refused.text('message')]).toEqual([400, expect.stringContaining(field)]);
  }
  expect(await names()).toEqual(before);
});

test('a token that only reads lists queries, and neither saves nor deletes', async () => {
  const token = (await api.post('/v1/tokens/create', { name: 'reader', scope: 'read' })).text('data.token');
  const status = async (method: 'GET' | 'POST', path: string, body?: object) =>
    (await api.send(method, path, body, { token })).status;
  expect(await status('GET', LIST)).toBe(200);
  expect(await status('POST', `${LIST}/save`, { name: 'x', sql: 'SELECT 1 AS one' })).toBe(403);
  expect(await status('POST', `${LIST}/delete`, { id: crypto.randomUUID() })).toBe(403);
});

test('pages hold every query once', async () => {
  const all = await names();
  const found: string[] = [];
  let next_page: string | undefined;
  do {
    const page = await api.get(LIST, { query: { limit: 2, next_page } });
    found.push(...page.list('data').map((row) => (row as { name: string }).name));
    next_page = page.at('next_page') === null ? undefined : page.text('next_page');
  } while (next_page !== undefined);
  expect(found).toEqual(all);
});
