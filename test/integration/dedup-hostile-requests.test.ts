/**
 * Hostile bodies sent to the real ingest route: each is refused with 400 and the positions of its invalid events,
 * nothing of it is stored, and concurrent requests are not affected.
 */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serviceForFile } from '../support/file-fixtures.ts';

const NOW = '2026-11-20T12:00:00Z';
/** The maximum size of a body. */
const LIMIT_BYTES = 2 * 1024 * 1024;

const service = await serviceForFile({ sandboxNow: NOW });

const answerBody = z.object({
  message: z.string(),
  errors: z
    .array(z.object({ index: z.number(), transaction_id: z.string().nullable(), message: z.string() }))
    .optional(),
});

async function send(body: string | Uint8Array<ArrayBuffer>): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${service.url}/v1/ingest`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body,
  });
  return { status: response.status, body: await response.json() };
}

function event(id: string, fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    transaction_id: id,
    customer_id: 'acme',
    event_type: 'tokens',
    timestamp: '2026-11-20T11:00:00Z',
    properties: { n: 1 },
    ...fields,
  };
}

async function storedIds(): Promise<string[]> {
  const rows = await service.clickhouse.query({
    sql: 'SELECT transaction_id FROM usage_events FINAL ORDER BY transaction_id',
    schema: z.object({ transaction_id: z.string() }),
  });
  return rows.map((row) => row.transaction_id);
}

/** Refused as a whole, with these positions, and nothing stored. */
async function expectRefused(body: string | Uint8Array<ArrayBuffer>, indexes: number[]): Promise<void> {
  const before = await storedIds();
  const answer = await send(body);
  expect(answer.status).toBe(400);
  const { message, errors = [] } = answerBody.parse(answer.body);
  expect(message).not.toBe('');
  expect(errors.map((error) => error.index)).toEqual(indexes);
  // A hostile body is not sent back.
  expect(JSON.stringify(answer.body).length).toBeLessThan(30_000);
  expect(await storedIds()).toEqual(before);
}

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const withProperties = (json: string) =>
  JSON.stringify([event('hostile', { properties: 'HERE' })]).replace('"HERE"', json);

describe('a body that is no list of events', () => {
  it.each([
    ['empty', ''],
    ['white space', ' \n'],
    ['cut off', '[{"transaction_id":"a"'],
    ['a trailing comma', '[{},]'],
    ['text behind the array', `${JSON.stringify([event('a')])} x`],
    ['two arrays', '[][]'],
    ['a comment', '[/* none */]'],
    ['single quotes', "[{'transaction_id':'a'}]"],
    ['an object', JSON.stringify(event('a'))],
    ['a string', '"events"'],
    ['null', 'null'],
    ['an empty array', '[]'],
    ['101 events', JSON.stringify(Array.from({ length: 101 }, (_, i) => event(`many-${i}`)))],
    ['NaN', withProperties('{"n":NaN}')],
    ['Infinity', withProperties('{"n":-Infinity}')],
    ['a number with a leading zero', withProperties('{"n":01}')],
    ['half an escape', withProperties('{"n":"\\u12"}')],
    ['a control character in a string', withProperties('{"n":"\u0001"}')],
    ['a byte order mark', `\uFEFF${JSON.stringify([event('a')])}`],
    ['arrays nested 100,000 deep', '['.repeat(100_000)],
  ])('a body that is no list of events is refused: %s', async (_, body) => {
    await expectRefused(body, []);
  });

  it('a body that is no list of events is refused: invalid UTF-8, whichever way it is invalid', async () => {
    const [head = '', tail = ''] = JSON.stringify([event('utf8', { properties: { n: '|' } })]).split('|');
    for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
      const body = Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)]);
      await expectRefused(new Uint8Array(body), []);
    }
  });
});

/**
 * The status of the answer to a body that is announced with this length and of which only `sent` ever arrives.
 */
async function announce(length: number, sent: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${service.token}`, 'content-length': length };
  const posted = request(`${service.url}/v1/ingest`, { method: 'POST', headers });
  posted.write(sent);
  try {
    const [answer] = (await once(posted, 'response')) as [IncomingMessage];
    return answer.statusCode;
  } finally {
    posted.destroy();
  }
}

describe('a body larger than any request', () => {
  it('a body larger than any request is refused as such, and nothing of it is stored', async () => {
    const before = await storedIds();
    const body = JSON.stringify([event('huge')]);
    for (const length of [LIMIT_BYTES + 1, 20_000_000]) expect(await announce(length, body)).toBe(413);
    expect(await storedIds()).toEqual(before);
    const largest = await send(body + ' '.repeat(LIMIT_BYTES - body.length));
    expect(largest.status).toBe(200);
  });
});

describe('an event that must not be stored', () => {
  it.each([
    ['id is missing', { transaction_id: undefined }],
    ['id is empty', { transaction_id: '' }],
    ['id is a number', { transaction_id: 7 }],
    ['id is an object that looks like a string', { transaction_id: { length: 3 } }],
    ['id has 129 characters', { transaction_id: 'x'.repeat(129) }],
    ['id has 2 million characters', { transaction_id: 'x'.repeat(2_000_000) }],
    ['id has U+0000', { transaction_id: 'a\u0000b' }],
    ['id has half a surrogate pair', { transaction_id: 'a\ud800b' }],
    ['customer is empty', { customer_id: '' }],
    ['customer is null', { customer_id: null }],
    ['customer is 257 long', { customer_id: 'c'.repeat(257) }],
    ['event type is an array', { event_type: ['tokens'] }],
    ['event type is 1 MB', { event_type: 't'.repeat(1_000_000) }],
    ['properties are a string', { properties: 'n=1' }],
    ['properties are an array', { properties: [1, 2] }],
    ['a value is a huge string', { properties: { n: 'x'.repeat(2_000_000) } }],
    ['there are 10,000 keys', { properties: Object.fromEntries(numbered(10_000)) }],
    ['a key is huge', { properties: { ['k'.repeat(100_000)]: 1 } }],
  ])('an event that must not be stored is refused: %s', async (_, fields) => {
    await expectRefused(JSON.stringify([event('good-1'), event('bad', fields), event('good-2')]), [1]);
  });

  it.each([
    ['1e400', '{"n":1e400}'],
    ['-1e400', '{"n":-1e400}'],
    ['1e-400', '{"n":1e-400}'],
    ['a billion as exponent', '{"n":1e1000000000}'],
    ['a number of 10,000 digits', `{"n":${'9'.repeat(10_000)}}`],
    ['1e400 in a nested value', '{"n":{"deep":[1,{"x":1e400}]}}'],
    ['objects nested 17 deep', nested(18)],
    ['objects nested 5,000 deep', nested(5_000)],
    ['an array nested 5,000 deep', `{"n":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
  ])('an event that must not be stored is refused: properties with %s', async (_, json) => {
    await expectRefused(withProperties(json), [0]);
  });

  it.each([
    '',
    'now',
    '2026-11-20',
    '2026-11-20 11:00:00Z',
    '2026-11-20T11:00:00',
    '2026-11-20T11:00Z',
    '2026-11-20T11:00:00+0100',
    '2026-11-20T24:00:00Z',
    '2026-11-20T11:60:00Z',
    '2026-11-31T11:00:00Z',
    '2026-02-29T11:00:00Z',
    '2026-13-01T00:00:00Z',
    '+2026-11-20T11:00:00Z',
    '02026-11-20T11:00:00Z',
    '26-11-20T11:00:00Z',
    '２０２６-11-20T11:00:00Z',
    '2026-11-20T11:00:00.Z',
    '2026-11-20T11:00:00Z ',
    '2026-W47-5T11:00:00Z',
    '1763636400',
    1_763_636_400,
    1_763_636_400_000,
    null,
    true,
    { $date: '2026-11-20T11:00:00Z' },
    '2026-11-21T12:00:00.001Z',
    '2027-11-20T11:00:00Z',
    '9999-12-31T23:59:59Z',
    '2026-10-17T11:59:59.999Z',
    '1969-12-31T23:59:59Z',
    '0000-01-01T00:00:00Z',
  ])('an event that must not be stored is refused: timestamp %j', async (timestamp) => {
    await expectRefused(JSON.stringify([event('odd-time', { timestamp })]), [0]);
  });

  it('an event that must not be stored is named with its position and id, each of them, wherever they stand', async () => {
    const events: unknown[] = Array.from({ length: 100 }, (_, i) => event(`list-${i}`));
    events[0] = null;
    events[7] = event('list-7', { event_type: '' });
    events[50] = 'text';
    events[99] = event('list-99', { timestamp: '2027-01-01T00:00:00Z' });
    const answer = await send(JSON.stringify(events));
    expect(answer.status).toBe(400);
    expect(
      answerBody.parse(answer.body).errors?.map(({ index, transaction_id }) => [index, transaction_id]),
    ).toEqual([
      [0, null],
      [7, 'list-7'],
      [50, null],
      [99, 'list-99'],
    ]);
    expect(await storedIds()).not.toContain('list-1');
  });
});

function numbered(count: number): Array<[string, number]> {
  return Array.from({ length: count }, (_, i) => [`key${i}`, i]);
}

describe('an event at the edge', () => {
  it.each([
    ['24 hours ahead', { timestamp: '2026-11-21T12:00:00Z' }],
    ['a window back', { timestamp: '2026-10-17T12:00:00Z' }],
    ['with an offset', { timestamp: '2026-11-20T13:00:00+01:30' }],
    ['an id of 128 characters of two code units', { transaction_id: '\u{1F600}'.repeat(128) }],
    ['1,000 keys', { properties: Object.fromEntries(numbered(1_000)) }],
    ['names of members of every object', { properties: JSON.parse('{"__proto__":"x","constructor":"y"}') }],
    ['no properties', { properties: undefined }],
  ])('an event at the edge is stored: %s', async (name, fields) => {
    const sent = event(`edge-${name}`, fields);
    expect(await send(JSON.stringify([sent]))).toMatchObject({ status: 200 });
    expect(await storedIds()).toContain(sent.transaction_id);
  });
});

describe('a bad request among good ones', () => {
  it('poisons none of them, however many come at the same time and share a batch', async () => {
    const good = (n: number) => [event(`good-${n}`), event(`shared-${n % 3}`)];
    // Each bad one names ids of good ones: refused, it must not reserve them.
    const bad = (n: number): string => {
      const events = [...good(n), event(`broken-${n}`, { timestamp: 'now' })];
      return n % 2 === 0 ? JSON.stringify(events) : `${JSON.stringify(events)}]`;
    };
    const requests = Array.from({ length: 60 }, (_, n) => n);
    const answers = await Promise.all(
      requests.flatMap((n) => [send(bad(n)), send(JSON.stringify(good(n))), send(bad(n))]),
    );
    expect(answers.map((answer) => answer.status)).toEqual(requests.flatMap(() => [400, 200, 400]));
    const expected = [...requests.map((n) => `good-${n}`), 'shared-0', 'shared-1', 'shared-2'].sort();
    const stored = (await storedIds()).filter((id) => /^(?:good|shared|broken)-\d+$/.test(id)).sort();
    expect(stored).toEqual(expected);
  });
});
