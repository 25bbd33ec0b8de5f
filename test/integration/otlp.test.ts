/** Spans of AI gateways are billed: from the export request to the lines of a managed rate card's invoice. */
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { importPrices } from '../../src/billing/token-billing/import-prices.ts';
import { readPriceFile } from '../../src/billing/token-billing/price-files.ts';
import { createStoredCalls, soughtTime } from '../../src/metering/otlp/stored-calls.ts';
import { createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { linesOf } from '../support/draft-lines.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { modelCall, requestJson, requestOf, requestProtobuf, type SentSpan } from '../support/otlp.ts';
import { importModels, LARGE, SMALL } from '../support/token-prices.ts';

const NOW = Date.UTC(2026, 10, 10);
const AT = '2026-11-02T10:00:00Z';
const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db } = service;
let card = '';

beforeAll(async () => {
  await importModels({ db, now: NOW }, [LARGE, SMALL]);
  const free = { litellm_provider: 'acme', mode: 'chat', input_cost_per_token: 0, output_cost_per_token: 0 };
  const { models } = readPriceFile(JSON.stringify({ 'acme/free': free }), {
    validFrom: Date.UTC(2026, 9, 1),
  });
  await importPrices({ db, clock: { now: () => NOW } }, models);
  card = await createdId(api, RATE_CARDS, {
    name: 'Models',
    managed_pricing: { providers: ['acme'], default_markup: 0.2 },
  });
});

let sequence = 0;

async function newCustomer() {
  sequence += 1;
  const alias = `customer-${sequence}`;
  const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  await api.post('/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: card,
    starting_at: '2026-11-01T00:00:00Z',
  });
  return { alias, customerId };
}

async function exportSpans(spans: readonly SentSpan[], token = service.token) {
  const response = await fetch(new URL('/v1/ingest/otlp', service.url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
    },
    body: gzipSync(requestProtobuf(requestOf(spans))),
  });
  return { status: response.status, text: await response.text() };
}

const exportJson = (spans: readonly SentSpan[]) =>
  api.post('/v1/ingest/otlp', undefined, { rawBody: requestJson(requestOf(spans)) });

async function spanCounts() {
  const { body } = await api.get('/metrics');
  const counts = String(body).matchAll(/^tallyhouse_otlp_spans_total\{outcome="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...counts].map(([, outcome, count]) => [outcome, Number(count)]));
}

test('the tokens of spans are priced lines of the draft, each kind of tokens once', async () => {
  const { alias, customerId } = await newCustomer();
  const tokens = {
    input_tokens: 1_300_008,
    'cache_read.input_tokens': 300_000,
    'cache_creation.input_tokens': 8,
    output_tokens: 123_457,
  };
  const small = [
    ['gen_ai.response.model', { string: 'small' }],
    ['gen_ai.usage.output_tokens', { int: 1_000n }],
  ] as const;
  expect(
    await exportSpans([
      modelCall(AT, { customer: alias, tokens }),
      modelCall(AT, { customer: alias, attributes: small }),
    ]),
  ).toEqual({ status: 200, text: '' });
  // 2.5 USD × 1.2 = 300 cents a million, and so on.
  expect(await linesOf(api, customerId)).toEqual([
    ['acme/large input tokens', '1', '300', '300'],
    ['acme/large cached input tokens', '0.3', '30', '9'],
    ['acme/large output tokens', '0.123457', '1200', '148.1484'],
    ['acme/large cached write tokens', '0.000008', '375', '0.003'],
    ['acme/small output tokens', '0.001', '72', '0.072'],
  ]);
});

test('spans of providers that a price file of LiteLLM names otherwise have the prices of the file', async () => {
  const of = (provider: string) => ({ litellm_provider: provider, mode: 'chat', input_cost_per_token: 1e-6 });
  const file = {
    'us.amazon.nova-pro-v1:0': of('bedrock_converse'),
    'gemini-2.5-pro': of('vertex_ai-language-models'),
    'gemini/gemini-2.5-flash': of('gemini'),
  };
  const { models } = readPriceFile(JSON.stringify(file), { validFrom: Date.UTC(2026, 9, 1) });
  await importPrices({ db, clock: { now: () => NOW } }, models);
  const card = await createdId(api, RATE_CARDS, {
    name: 'LiteLLM',
    managed_pricing: { providers: ['aws.bedrock', 'vertex_ai', 'gemini'], default_markup: 0 },
  });
  const alias = 'customer-of-litellm';
  const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  await api.post('/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: card,
    starting_at: '2026-11-01T00:00:00Z',
  });
  const called = [
    ['aws.bedrock', 'us.amazon.nova-pro-v1:0'],
    ['vertex_ai', 'publishers/google/models/gemini-2.5-pro'],
    ['gcp.gemini', 'models/gemini-2.5-flash'],
  ];
  await exportSpans(
    called.map(([provider = '', model = '']) =>
      modelCall(AT, {
        customer: alias,
        tokens: { input_tokens: 1_000_000 },
        attributes: [
          ['gen_ai.provider.name', { string: provider }],
          ['gen_ai.response.model', { string: model }],
        ],
      }),
    ),
  );
  const lines = await linesOf(api, customerId);
  expect(lines.map(([name, , , total]) => [name, total])).toEqual([
    ['bedrock/us.amazon.nova-pro-v1:0 input tokens', '100'],
    ['gemini/gemini-2.5-flash input tokens', '100'],
    ['vertex_ai/gemini-2.5-pro input tokens', '100'],
  ]);
});

test('the tokens of a free model are a line of nothing, and no warning', async () => {
  const { alias, customerId } = await newCustomer();
  const attributes = [['gen_ai.response.model', { string: 'free' }]] as const;
  const tokens = { input_tokens: 100, 'cache_read.input_tokens': 60, output_tokens: 10 };
  await exportSpans([modelCall(AT, { customer: alias, tokens, attributes })]);
  const lines = await linesOf(api, customerId);
  expect(lines.map(([name, , , total]) => [name, total])).toEqual([
    ['acme/free input tokens', '0'],
    ['acme/free cached input tokens', '0'],
    ['acme/free output tokens', '0'],
  ]);
  const unpriced = await api.get('/v1/token-billing/unpriced');
  expect(JSON.stringify(unpriced.body)).not.toContain(alias);
  const draft = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status: 'DRAFT' } });
  expect(JSON.stringify(draft.body)).not.toContain('unpriced_usage');
});

test('spans that are exported again, in either encoding and also as events, are billed once', async () => {
  const { alias, customerId } = await newCustomer();
  const spans = Array.from({ length: 230 }, () =>
    modelCall(AT, { customer: alias, tokens: { output_tokens: 10_000 } }),
  );
  const before = await spanCounts();
  await Promise.all([exportSpans(spans), exportSpans(spans)]);
  expect((await exportJson(spans)).body).toEqual({});
  const [span] = spans;
  if (span === undefined) throw new Error('there are spans');
  const id = [span.traceId, span.spanId].map((bytes) => Buffer.from(bytes).toString('hex')).join(':');
  const event = { customer_id: alias, event_type: 'token-billing', timestamp: AT };
  const answer = await api.post('/v1/ingest', [{ ...event, transaction_id: id }]);
  expect(answer.body).toEqual({ accepted: 0, duplicates: 1 });
  expect(await linesOf(api, customerId)).toEqual([['acme/large output tokens', '2.3', '1200', '2760']]);
  const after = await spanCounts();
  expect([after.accepted, after.duplicate].map(Number)).toEqual([
    Number(before.accepted) + 230,
    Number(before.duplicate) + 460,
  ]);
});

test('the spans of a call by an SDK, a gateway and a retry are one line, over either path', async () => {
  const { alias, customerId } = await newCustomer();
  const tokens = { input_tokens: 10_000, output_tokens: 10_000 };
  const answer = (provider: string) => [
    ['gen_ai.response.id', { string: `chatcmpl-of-${alias}-with-a-long-id` }] as const,
    ['gen_ai.provider.name', { string: provider }] as const,
  ];
  const [sdk, gateway] = ['openai', 'acme'].map((provider) =>
    modelCall(AT, { customer: alias, tokens, attributes: answer(provider) }),
  );
  if (sdk === undefined || gateway === undefined) throw new Error('there are two spans');
  const generation = modelCall(AT, { customer: alias, tokens });
  const attempt = { ...modelCall(AT, { customer: alias, tokens }), traceId: generation.traceId };
  const attempts = [generation, { ...attempt, parentSpanId: generation.spanId }];
  for (const spans of [[gateway], [sdk], [gateway, sdk], attempts, attempts]) {
    for (const path of ['/v1/ingest/otlp', '/v1/ingest/otlp/v1/traces']) {
      const sent = await api.post(path, undefined, { rawBody: requestJson(requestOf(spans)) });
      expect(sent.body).toEqual({});
    }
  }
  expect(await linesOf(api, customerId)).toEqual([
    ['acme/large input tokens', '0.02', '300', '6'],
    ['acme/large output tokens', '0.02', '1200', '24'],
  ]);
});

test('the spans of a trace that come in several requests are one call, and another process finds them stored', async () => {
  const { alias, customerId } = await newCustomer();
  const tokens = { input_tokens: 10_000, 'cache_read.input_tokens': 4_000, output_tokens: 10_000 };
  const outer = modelCall(AT, {
    customer: alias,
    tokens,
    attributes: [['gen_ai.response.id', { string: `msg_of_${alias}_with_a_long_id` }]],
  });
  const answer = `chatcmpl-of-${alias}-with-a-long-id`;
  const inner = {
    ...modelCall(AT, {
      customer: alias,
      tokens,
      attributes: [['gen_ai.response.id', { string: answer }]],
    }),
    traceId: outer.traceId,
    parentSpanId: outer.spanId,
  };
  const other = modelCall(AT, { customer: alias, tokens: { output_tokens: 1 } });
  for (const span of [inner, outer, inner, other]) expect((await exportJson([span])).body).toEqual({});
  expect(await linesOf(api, customerId)).toEqual([
    ['acme/large input tokens', '0.006', '300', '1.8'],
    ['acme/large cached input tokens', '0.004', '30', '0.12'],
    ['acme/large output tokens', '0.010001', '1200', '12.0012'],
  ]);

  const id = `genai:${answer}`;
  const stored = createStoredCalls({
    clickhouse: service.clickhouse,
    storedAmong: async (ids) => new Set(ids),
    isShared: true,
  });
  const at = Date.parse(AT);
  const traceId = Buffer.from(outer.traceId).toString('hex');
  const sought = { traceIds: [traceId], customers: ['nobody', alias], ...soughtTime(at - 5_000, at) };
  const call = {
    ...{ transactionId: id, customer: alias, endedAt: at, traceId },
    spanId: Buffer.from(inner.spanId).toString('hex'),
    parentSpanId: Buffer.from(outer.spanId).toString('hex'),
    ...{ input: 10_000n, uncached: 6_000n, output: 10_000n },
  };
  expect(await stored.inTraces(sought)).toEqual([call]);
  expect(await stored.inTraces({ ...sought, customers: ['nobody'] })).toEqual([]);
  expect(await stored.inTraces({ ...sought, ...soughtTime(at + 120_000, at + 180_000) })).toEqual([]);
  expect(await stored.byId([id, 'genai:nobody'])).toEqual([call]);
});

test('spans beyond the limits of events are refused with the reason of ingestion, without the others', async () => {
  const { alias, customerId } = await newCustomer();
  const tokens = { output_tokens: 1_000_000 };
  const good = modelCall(AT, { customer: alias, tokens });
  const bad = [
    modelCall('2026-08-01T00:00:00Z', { customer: alias, tokens }),
    modelCall('2026-11-12T00:00:00Z', { customer: alias, tokens }),
    modelCall(AT, { customer: 'x'.repeat(257), tokens }),
    modelCall(AT, { customer: 'half \ud800', tokens }),
    { ...modelCall(AT, { customer: alias, tokens }), end: 2n ** 64n - 1n },
  ];
  const answer = await exportJson([...bad.slice(0, 2), good, ...bad.slice(2)]);
  expect(answer.at('partialSuccess.rejectedSpans')).toBe('5');
  const message = answer.text('partialSuccess.errorMessage');
  for (const reason of [
    'timestamp: is too far in the past, must not be before 2026-10-07T00:00:00.000Z',
    'timestamp: must be at most 24 hours in the future',
    'customer_id: must have 1 to 256 characters',
    'customer_id: must not contain half of a surrogate pair',
  ]) {
    expect(message).toContain(reason);
  }
  expect(await linesOf(api, customerId)).toEqual([['acme/large output tokens', '1', '1200', '1200']]);
});

test('a token of ingestion exports spans, and one that only reads does not', async () => {
  const { alias, customerId } = await newCustomer();
  const spans = [modelCall(AT, { customer: alias, tokens: { output_tokens: 1_000_000 } })];
  const tokenOf = async (scope: string) =>
    (await api.post('/v1/tokens/create', { name: `exporter ${scope}`, scope })).text('data.token');
  expect((await exportSpans(spans, await tokenOf('read'))).status).toBe(403);
  expect(await linesOf(api, customerId)).toEqual([]);
  expect((await exportSpans(spans, await tokenOf('ingest'))).status).toBe(200);
  expect(await linesOf(api, customerId)).toHaveLength(1);
});

test('the example of the documentation is answered as it says', async () => {
  const page = await readFile(new URL('../../docs/explanation/token-billing.md', import.meta.url), 'utf8');
  const example =
    /ingest\/otlp -H .* -d '(?<request>[^']+)'\n```\n\n```json\n(?<answer>.+)\n```\n\nThe stored event:\n\n```json\n(?<event>[^`]+)```/;
  const { request = '', answer = '', event = '' } = example.exec(page)?.groups ?? {};
  // The day after the example.
  await service.moveClock('2026-11-24T00:00:00Z');
  const sent = await api.post('/v1/ingest/otlp', undefined, { rawBody: request });
  expect(sent.body).toEqual(JSON.parse(answer));
  const expected = JSON.parse(event);
  const found = await api.post('/v1/events/search', { transactionIds: [expected.transaction_id] });
  expect(found.body).toMatchObject([expected]);
});
