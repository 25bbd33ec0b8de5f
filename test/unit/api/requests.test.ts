import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { route } from '../../../src/api/http/route.ts';
import { commaList, exactNumber, exactValue, limit, uuid } from '../../../src/api/wire/fields.ts';
import { conflict, notFound } from '../../../src/core/errors.ts';
import { testApp } from './fixtures.ts';

const ID = 'd7abd0cd-4ae9-4db7-8676-e986a4ebd8dc';
const facts = { summary: 'Test', tags: ['test'] };

const echo = route({
  ...facts,
  method: 'post',
  path: '/v1/echo',
  operationId: 'echo',
  scope: 'write',
  body: z.object({ name: z.string().default('nobody'), amount: exactNumber().optional() }),
  response: z.object({ name: z.string(), amount: exactValue.optional() }),
  handler: async ({ body }) => body,
});
const readThing = route({
  ...facts,
  method: 'get',
  path: '/v1/things/{thing_id}',
  operationId: 'readThing',
  scope: 'read',
  params: z.object({ thing_id: uuid }),
  query: z.object({ limit: limit(1, 5, 2) }),
  response: z.object({ id: z.string(), limit: z.number(), actor: z.string() }),
  handler: async ({ params, query, actor }) => ({
    id: params.thing_id,
    limit: query.limit,
    actor: actor.name,
  }),
});
const search = route({
  ...facts,
  method: 'get',
  path: '/v1/search',
  operationId: 'search',
  scope: 'read',
  query: z.object({
    limit: limit(1, 5, 2),
    kinds: commaList(z.string()).optional(),
    text: z.string().optional(),
  }),
  response: z.object({
    limit: z.number(),
    kinds: z.array(z.string()).optional(),
    text: z.string().optional(),
  }),
  handler: async ({ query }) => query,
});
const special = route({
  ...facts,
  method: 'get',
  path: '/v1/things/special',
  operationId: 'special',
  scope: 'read',
  response: z.object({ special: z.boolean() }),
  handler: async () => ({ special: true }),
});
const clear = route({
  ...facts,
  method: 'delete',
  path: '/v1/things/{thing_id}',
  operationId: 'clear',
  scope: 'write',
  params: z.object({ thing_id: uuid }),
  errors: [409],
  response: 'empty',
  handler: async ({ params }) => {
    if (params.thing_id === ID) throw conflict('This uniqueness key has already been used.');
  },
});
const broken = route({
  ...facts,
  method: 'get',
  path: '/v1/broken',
  operationId: 'broken',
  scope: 'read',
  response: z.object({}),
  handler: async () => {
    throw new Error('connection to secret-host failed');
  },
});
const routes = [echo, readThing, search, special, clear, broken];

describe('a body', () => {
  const { client } = testApp(routes);

  it('a body keeps every digit of its numbers, there and back', async () => {
    const amount = '123456789012345678901234567890.123456789';
    const answer = await client.post('/v1/echo', undefined, { rawBody: `{"name":"x","amount":${amount}}` });
    expect(answer.digits('amount')).toBe(amount);
  });
  it('a body of no length at all counts as an empty object', async () => {
    const answer = await client.send('POST', '/v1/echo', undefined, {
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.body).toEqual({ name: 'nobody' });
  });
  it('a body that is not JSON is refused naming the position', async () => {
    const answer = await client.send('POST', '/v1/echo', undefined, { rawBody: '{"name": }' });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^body is not valid JSON: .*position 9/);
  });
  it('a body that is not UTF-8 is refused', async () => {
    const answer = await client.send('POST', '/v1/echo', undefined, {
      rawBody: new Uint8Array([0x22, 0xff, 0x22]),
    });
    expect([answer.status, answer.text('message')]).toEqual([400, 'body is not valid UTF-8']);
  });
  it('a body that is compressed is refused', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const answer = await client.send('POST', '/v1/echo', {}, { headers });
    expect([answer.status, answer.text('message')]).toEqual([400, expect.stringContaining('gzip')]);
  });
  it('a body over the limit is refused with 413, at the limit it is read', async () => {
    const small = testApp(routes, { bodyLimitBytes: 20 }).client;
    expect((await small.send('POST', '/v1/echo', { name: '123456789' })).status).toBe(200);
    expect((await small.send('POST', '/v1/echo', { name: '1234567890' })).status).toBe(413);
  });
  it('a body with a wrong field is refused naming it', async () => {
    const answer = await client.send('POST', '/v1/echo', { name: 5 });
    expect([answer.status, answer.body]).toEqual([400, { message: 'name: must be a string' }]);
  });
});

describe('a token', () => {
  const { client } = testApp(routes);

  it.each([
    ['none', null],
    ['an unknown one', 'stranger'],
  ])('%s answers 401, before the body is looked at', async (_what, token) => {
    const answer = await client.send('POST', '/v1/echo', undefined, { token, rawBody: '{' });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.text('message')).not.toBe('');
  });
  it.each(['Basic d3JpdGVyOg==', 'writer', 'Bearer', 'Bearer writer extra'])(
    'a token as %s answers 401',
    async (header) => {
      const answer = await client.send('GET', '/v1/things/special', undefined, {
        token: null,
        headers: { authorization: header },
      });
      expect(answer.status).toBe(401);
    },
  );
  it.each([
    ['reader', 200, 403],
    ['writer', 200, 200],
    ['sender', 403, 403],
  ])('%s may read: %i, may write: %i', async (token, read, write) => {
    expect((await client.send('GET', '/v1/things/special', undefined, { token })).status).toBe(read);
    expect((await client.send('POST', '/v1/echo', {}, { token })).status).toBe(write);
  });
  it('a token tells the handler who is calling', async () => {
    expect((await client.get(`/v1/things/${ID}`, { token: 'reader' })).text('actor')).toBe('reader');
  });
});

describe('routing', () => {
  const { client } = testApp(routes);

  it('prefers a fixed segment to a parameter, whatever the order of the list', async () => {
    expect((await client.get('/v1/things/special')).body).toEqual({ special: true });
  });
  it('routing answers a malformed id in a path with 404', async () => {
    const answer = await client.send('GET', '/v1/things/nonsense');
    expect([answer.status, answer.body]).toEqual([404, { message: 'thing nonsense not found' }]);
  });
  it('routing answers a path that is none of ours with 404 and a message', async () => {
    const answer = await client.send('GET', '/v1/nowhere', undefined, { token: null });
    expect([answer.status, answer.body]).toEqual([404, { message: 'There is no operation GET /v1/nowhere' }]);
  });
  it('routing answers a method that a path does not take with 405 and those it takes', async () => {
    const answer = await client.send('PUT', `/v1/things/${ID}`, {});
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, DELETE']);
  });
  it('decodes path parameters and treats a parameter without a value as not given', async () => {
    const escaped = ID.replaceAll('-', '%2D');
    expect((await client.get(`/v1/things/${escaped}?limit=`)).body).toMatchObject({ id: ID, limit: 2 });
  });
  it.each(['__proto__=1&__proto__=2', 'constructor=x', 'toString[]=1'])(
    'routing ignores the odd parameter %s',
    async (query) => {
      expect((await client.send('GET', `/v1/things/${ID}?${query}`)).status).toBe(200);
    },
  );
  it('routing refuses to start with two routes that answer the same requests', () => {
    expect(() => testApp([echo, echo])).toThrow(/two routes/);
    expect(() => testApp([readThing, { ...special, path: '/v1/things/{other}' }])).toThrow(/two routes/);
  });
});

describe('query parameters', () => {
  const { client } = testApp(routes);
  const ask = async (query: string) => {
    const { status, body } = await client.send('GET', `/v1/search?${query}`);
    return [status, body];
  };

  it.each([
    ['a plus and percent escapes', 'text=a+b%20c%2Cd%3D', { text: 'a b c,d=' }],
    ['an equals sign in a value', 'text=a=b', { text: 'a=b' }],
    ['an escaped name', 'te%78t=a', { text: 'a' }],
    ['a list joined with commas', 'kinds=x,y', { kinds: ['x', 'y'] }],
    ['a list as a repeated parameter', 'kinds=x&kinds=y,z', { kinds: ['x', 'y', 'z'] }],
    ['a repetition without a value', 'text=&text=a&text', { text: 'a' }],
    ['nothing but parameters without a value', 'text=&kinds&limit=', {}],
    ['names that nobody knows', 'other=1&text=a', { text: 'a' }],
  ])('query parameters are read: %s', async (_what, query, parameters) => {
    expect(await ask(query)).toEqual([200, { limit: 2, ...parameters }]);
  });

  it.each([
    ['a value of the wrong kind', 'limit=x', 'limit: must be a whole number from 1 to 5'],
    ['one that is given twice', 'limit=1&limit=2', 'limit: must be given once'],
    ['the character U+0000', 'limit=9&text=a%00', 'text: must not contain the character U+0000'],
    ['the same in one that nobody knows', 'other=%00', 'other: must not contain the character U+0000'],
    [
      'several at once',
      'text=a&text=b&limit=6',
      'limit: must be a whole number from 1 to 5; text: must be a string',
    ],
  ])('query parameters are refused by name: %s', async (_what, query, message) => {
    expect(await ask(query)).toEqual([400, { message }]);
  });

  it('query parameters are looked at after the path', async () => {
    const answer = await client.send('GET', '/v1/things/nonsense?limit=x');
    expect([answer.status, answer.body]).toEqual([404, { message: 'thing nonsense not found' }]);
  });
});

describe('an answer', () => {
  it('an answer without a body has length 0 and no JSON content type', async () => {
    const { client } = testApp(routes);
    const answer = await client.delete('/v1/things/00000000-0000-4000-8000-000000000000');
    expect(answer.headers.get('content-type')).toBeNull();
    expect(answer.headers.get('content-length')).toBe('0');
  });
  it('an answer of 409 tells the official client not to try again', async () => {
    const { client } = testApp(routes);
    const answer = await client.send('DELETE', `/v1/things/${ID}`);
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([409, 'false']);
  });
  it('an answer of 500 has a fixed text and a request id; the details are only in the log', async () => {
    const { client, logged } = testApp(routes);
    const answer = await client.send('GET', '/v1/broken', undefined, {
      headers: { 'x-request-id': 'my-request' },
    });
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      message: 'Internal error. The log has the details under request id my-request.',
    });
    expect(logged.find((line) => line.includes('secret-host'))).toContain('"requestId":"my-request"');
  });
  it('an answer carries the request id that the client gave, or one of ours if that is odd', async () => {
    const { client } = testApp(routes);
    const given = async (id: string) =>
      (await client.get('/v1/things/special', { headers: { 'x-request-id': id } })).headers.get(
        'x-request-id',
      );
    expect(await given('abc-1')).toBe('abc-1');
    expect(await given('<script>')).toMatch(/^[0-9a-f-]{36}$/);
  });
  it('an answer is logged with route and status, never with the token', async () => {
    const { client, logged } = testApp(routes);
    await client.get('/v1/things/special');
    expect(logged.join('')).toMatch(/"route":"\/v1\/things\/special","status":200/);
    expect(logged.join('')).not.toContain('writer');
  });
});

describe('the client of the tests', () => {
  const fail = (response: z.ZodType, result: unknown) =>
    testApp([{ ...special, response, run: async () => result }]).client.get('/v1/things/special');

  it('the client of the tests notices a body that breaks its schema', async () => {
    await expect(fail(z.object({ a: z.string() }), { a: 1 })).rejects.toThrow(/breaks its contract/);
  });
  it('the client of the tests notices a member that the schema does not name', async () => {
    await expect(fail(z.object({ a: z.array(z.object({})) }), { a: [{}, { b: 1 }] })).rejects.toThrow(
      /a\[1\]\.b/,
    );
  });
  it('the client of the tests notices a status that the route does not declare', async () => {
    const undeclared = { ...special, run: async () => Promise.reject(notFound('thing', 'x')) };
    await expect(testApp([undeclared]).client.send('GET', '/v1/things/special')).rejects.toThrow(
      /404 is not declared/,
    );
  });
});
