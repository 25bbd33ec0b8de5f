/** CloudEvents are events of usage: stored once, whole or not at all, and billed like any other. */
import zlib, { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createOlderCloudEventIds } from '../../src/metering/ingest/older-cloud-event-ids.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api } = service;

async function send(
  path: string,
  type: string,
  body: unknown,
  options: { readonly gzip?: boolean; readonly token?: string } = {},
) {
  const text = JSON.stringify(body);
  const response = await fetch(new URL(path, service.url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${options.token ?? service.token}`,
      'content-type': type,
      ...(options.gzip === true ? { 'content-encoding': 'gzip' } : {}),
    },
    body: options.gzip === true ? gzipSync(text) : text,
  });
  return { status: response.status, text: await response.text() };
}

const ONE = 'application/cloudevents+json';
const BATCH = 'application/cloudevents-batch+json; charset=utf-8';

function cloudEvent(id: string, subject: string, data: object = { tokens: 1 }) {
  return {
    specversion: '1.0',
    id,
    source: 'gateway',
    type: 'call',
    subject,
    time: '2026-11-09T10:00:00Z',
    data,
  };
}

/** The sum of the customer's tokens. */
async function tokensOf(subject: string): Promise<number> {
  const customerId = await createdId(api, '/v1/customers', { name: subject, ingest_aliases: [subject] });
  const metricId = await createdId(api, '/v1/billable-metrics/create', {
    name: `Tokens of ${subject}`,
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    event_type_filter: { in_values: ['call'] },
    property_filters: [{ name: 'tokens', exists: true }],
  });
  const usage = await api.post('/v1/usage/groups', {
    customer_id: customerId,
    billable_metric_id: metricId,
    window_size: 'NONE',
    starting_on: '2026-11-01T00:00:00Z',
    ending_before: '2026-12-01T00:00:00Z',
  });
  return Number(usage.at('data[0].value') ?? 0);
}

test('one, a batch and plain JSON are stored once, on both paths, and compressed too', async () => {
  const events = Array.from({ length: 1_000 }, (_, n) => cloudEvent(`e${n}`, 'many'));
  expect(await send('/api/v1/events', ONE, events[0])).toEqual({ status: 204, text: '' });
  expect(await send('/v1/ingest/cloudevents', BATCH, events, { gzip: true })).toEqual({
    status: 204,
    text: '',
  });
  expect(await send('/api/v1/events', 'application/json', events.slice(0, 10))).toEqual({
    status: 204,
    text: '',
  });
  expect(await send('/api/v1/events', BATCH, [])).toEqual({ status: 204, text: '' });
  expect(await tokensOf('many')).toBe(1_000);
});

test('a batch with a wrong event stores nothing, and says what is wrong', async () => {
  const events = [
    cloudEvent('w1', 'whole'),
    { ...cloudEvent('w2', 'whole'), subject: '' },
    cloudEvent('w3', 'whole'),
  ];
  const answer = await send('/v1/ingest/cloudevents', BATCH, events);
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text)).toMatchObject({
    message: expect.stringContaining('1 of 3 events are invalid, nothing was stored'),
    errors: [{ index: 1, transaction_id: 'gateway/w2', message: 'subject: must have 1 to 256 characters' }],
  });
  expect(await tokensOf('whole')).toBe(0);
});

test('events of one id and two sources are two, and nested values are JSON text', async () => {
  const events = [
    cloudEvent('same', 'sources', { tokens: 5, nested: { a: [1.5] }, gone: null }),
    { ...cloudEvent('same', 'sources', { tokens: 7 }), source: 'other' },
  ];
  expect((await send('/v1/ingest/cloudevents', BATCH, events)).status).toBe(204);
  expect(await tokensOf('sources')).toBe(12);
  const found = await api.post('/v1/events/search', { transactionIds: ['gateway/same'] });
  expect(found.body).toMatchObject([
    {
      transaction_id: 'gateway/same',
      customer_id: 'sources',
      event_type: 'call',
      timestamp: '2026-11-09T10:00:00.000Z',
      properties: { tokens: '5', nested: '{"a":[1.5]}' },
    },
  ]);
});

test('events of sources and ids that join to one text are all counted', async () => {
  const events = Array.from({ length: 10 }, (_, n) => [
    { ...cloudEvent(`a/${n}`, 'joined'), source: 'x' },
    { ...cloudEvent(`${n}`, 'joined'), source: 'x/a' },
  ]).flat();
  for (let time = 0; time < 2; time += 1) {
    expect((await send('/v1/ingest/cloudevents', BATCH, events)).status).toBe(204);
  }
  expect(await tokensOf('joined')).toBe(20);
});

test('an event that an earlier version stored under a joined id is known after the upgrade, and a later one is not', async () => {
  const event = { customer_id: 'older', event_type: 'call', timestamp: '2026-11-09T10:00:00Z' };
  await api.post('/v1/ingest', [{ ...event, transaction_id: 'x/older/1' }]);
  const body = Buffer.from(
    JSON.stringify(['older/1', 'older/2'].map((id) => ({ ...cloudEvent(id, 'older'), source: 'x' }))),
  );
  const olderIds = (apartFrom: number | null) =>
    createOlderCloudEventIds({
      ...{ identity: 'source-and-id', windowDays: 34, clickhouse: service.clickhouse, apartFrom },
      clock: { now: () => Date.UTC(2026, 10, 10) },
      storedAmong: async (ids) => new Set(ids),
    })(body);
  expect(await olderIds(Date.UTC(2026, 10, 10))).toEqual(new Set(['x/older/1']));
  // Accepted after the upgrade, or when it can no longer be known.
  expect(await olderIds(Date.UTC(2026, 10, 9, 22))).toEqual(new Set());
  expect(await olderIds(Date.UTC(2026, 9, 1))).toEqual(new Set());
  expect(await olderIds(null)).toEqual(new Set());
});

test('a body of another type or form is refused', async () => {
  const one = cloudEvent('form', 'form');
  expect((await send('/api/v1/events', 'text/plain', one)).status).toBe(415);
  expect((await send('/api/v1/events', 'application/cloudevents+xml', one)).status).toBe(415);
  expect(await send('/api/v1/events', ONE, [one])).toMatchObject({ status: 400 });
  expect(await send('/api/v1/events', BATCH, one)).toMatchObject({ status: 400 });
  expect((await send('/api/v1/events', ONE, one, { token: 'nobody' })).status).toBe(401);
  expect(await tokensOf('form')).toBe(0);
});

/** How a body is compressed, and what it is sent to. */
async function sendCompressed(path: string, encoding: string, body: Buffer<ArrayBuffer>) {
  const response = await fetch(new URL(path, service.url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.token}`,
      'content-type': 'application/json',
      'content-encoding': encoding,
    },
    body,
  });
  return { status: response.status, text: await response.text() };
}

const zstdCompress: unknown = Reflect.get(zlib, 'zstdCompressSync');

test.each(['/v1/ingest', '/v1/ingest/cloudevents', '/v1/ingest/otlp'])(
  'a compressed body of %s is bounded when it is unpacked, and of a known compression',
  async (path) => {
    const bomb = Buffer.from(gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')));
    expect(bomb.length).toBeLessThan(100_000);
    expect((await sendCompressed(path, 'gzip', bomb)).status).toBe(413);
    expect((await sendCompressed(path, 'gzip', Buffer.from('no gzip'))).status).toBe(400);
    expect((await sendCompressed(path, 'br', Buffer.from('x'))).status).toBe(415);
    const content = path === '/v1/ingest/otlp' ? '{}' : '[ ]';
    const status = (await sendCompressed(path, 'gzip', Buffer.from(gzipSync(content)))).status;
    expect(status).toBe({ '/v1/ingest': 400, '/v1/ingest/cloudevents': 204 }[path] ?? 200);
    const zstd =
      typeof zstdCompress === 'function' ? Reflect.apply(zstdCompress, zlib, [Buffer.from(content)]) : null;
    const unpacked = await sendCompressed(path, 'zstd', zstd ?? Buffer.from('x'));
    expect(unpacked.status).toBe(zstd === null ? 415 : status);
  },
);

test('a compressed request of events is stored, with at most 100 of them', async () => {
  const events = Array.from({ length: 101 }, (_, n) => ({
    transaction_id: `gzip-${n}`,
    customer_id: 'gzip',
    event_type: 'call',
    timestamp: '2026-11-09T10:00:00Z',
    properties: { tokens: 2 },
  }));
  const packed = (count: number) => Buffer.from(gzipSync(JSON.stringify(events.slice(0, count))));
  expect(await sendCompressed('/v1/ingest', 'gzip', packed(101))).toMatchObject({ status: 400 });
  expect(await sendCompressed('/v1/ingest', 'gzip', packed(100))).toEqual({
    status: 200,
    text: '{"accepted":100,"duplicates":0}',
  });
  expect(await tokensOf('gzip')).toBe(200);
});
