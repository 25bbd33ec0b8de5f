/**
 * Calls that gateways, SDKs and collectors send (test/sources/, in their own formats) are billed, each call once:
 * alone, sent again, and together with reports of the same call by other sources.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { runBackfill } from '../../src/app/commands/backfill/backfill.ts';
import { openLocalFile, recognise } from '../../src/app/commands/backfill/files/input-file.ts';
import { createProgressFile, NOTHING_DONE } from '../../src/app/commands/backfill/progress-file.ts';
import { mappingOfFile } from '../../src/app/commands/backfill/rows/mapping.ts';
import { createBatchStore } from '../../src/app/commands/backfill/store-batch.ts';
import { loadConfig } from '../../src/config.ts';
import { createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { parquetOf } from '../support/event-files.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createTestDirectory } from '../support/stores.ts';

const service = await serviceForFile({
  sandboxNow: '2026-11-10T00:00:00Z',
  otlpCustomerAttributes: loadConfig({
    OTLP_CUSTOMER_ATTRIBUTES:
      'tallyhouse.customer,preset:litellm,preset:vercel,preset:portkey,preset:openrouter',
  }).otlpCustomerAttributes,
});
const { api } = service;
let card = '';

beforeAll(async () => {
  card = await createdId(api, RATE_CARDS, {
    name: 'Models',
    managed_pricing: { providers: ['openai', 'anthropic'], default_markup: 0 },
  });
});

const OTLP = '/v1/ingest/otlp/v1/traces';
const CLOUDEVENTS = '/api/v1/events';

function sourceFile(name: string): Promise<string> {
  return readFile(new URL(`../sources/${name}`, import.meta.url), 'utf8');
}

let sequence = 0;

/** A customer in the place of `acme`, and new ids of answers and traces. */
async function newCustomer() {
  sequence += 1;
  const alias = `source-${sequence}`;
  const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  await api.post('/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: card,
    starting_at: '2026-11-01T00:00:00Z',
  });
  const own = String(sequence).padStart(2, '0');
  const inOwnIds = (text: string) =>
    text
      .replaceAll('"acme"', `"${alias}"`)
      .replace(/"(chatcmpl-|gen-|msg_)/g, `"$1${own}`)
      .replace(/("traceId": ")../g, `$1${own}`)
      .replace(/("id": ")(?=3f0e|acme-cpu)/g, `$1${own}`);
  return { alias, customerId, inOwnIds };
}

async function send(path: string, text: string, type = 'application/json') {
  const response = await fetch(new URL(path, service.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': type },
    body: text,
  });
  return { status: response.status, text: await response.text() };
}

/** The tokens of the draft by product. */
async function tokensOf(customerId: string) {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status: 'DRAFT' } });
  const lines = answer
    .list('data[0].line_items')
    .map((_, index) => `data[0].line_items[${index}]`)
    .filter((line) => answer.at(`${line}.type`) === 'usage');
  // One product has a line for each id that a model goes by.
  const tokens: Record<string, number> = {};
  for (const line of lines) {
    const name = String(answer.at(`${line}.name`));
    tokens[name] = (tokens[name] ?? 0) + Math.round(Number(answer.at(`${line}.quantity`)) * 1e6);
  }
  return tokens;
}

const MINI = (input: number, cached: number, output: number) => ({
  'openai/gpt-4o-mini input tokens': input,
  ...(cached > 0 ? { 'openai/gpt-4o-mini cached input tokens': cached } : {}),
  'openai/gpt-4o-mini output tokens': output,
});

const CALLS: readonly [string, Readonly<Record<string, number>>][] = [
  ['openai-python', MINI(200, 1_000, 300)],
  ['openinference', MINI(70, 20, 30)],
  ['litellm-otlp', MINI(200, 1_000, 300)],
  ['openrouter-broadcast', MINI(300, 200, 100)],
  ['vercel-ai-sdk-6', MINI(300, 200, 100)],
  [
    'vercel-ai-sdk-7',
    {
      'anthropic/claude-sonnet-4-5 input tokens': 1_500,
      'anthropic/claude-sonnet-4-5 cached input tokens': 7_000,
      'anthropic/claude-sonnet-4-5 output tokens': 500,
    },
  ],
  ['portkey-complete-logs', MINI(80, 0, 20)],
  ['kong-ai-gateway', MINI(60, 0, 40)],
];

describe('the calls of', () => {
  test.each(CALLS)('%s are billed once, however often they are sent', async (name, tokens) => {
    const { customerId, inOwnIds } = await newCustomer();
    const text = inOwnIds(await sourceFile(`${name}.json`));
    expect(await send(OTLP, text)).toEqual({ status: 200, text: '{}' });
    expect(await send('/v1/ingest/otlp', text)).toEqual({ status: 200, text: '{}' });
    expect(await tokensOf(customerId)).toEqual(tokens);
  });

  test.each([
    [
      'an SDK, its gateway LiteLLM and a retry',
      ['openai-python', 'litellm-otlp', 'openai-python'],
      MINI(200, 1_000, 300),
    ],
    ['LiteLLM before the SDK', ['litellm-otlp', 'openai-python'], MINI(200, 1_000, 300)],
    ['the Vercel AI SDK and OpenRouter', ['vercel-ai-sdk-6', 'openrouter-broadcast'], MINI(300, 200, 100)],
  ])('%s are one line', async (_what, names, tokens) => {
    const { customerId, inOwnIds } = await newCustomer();
    for (const name of names) {
      expect(await send(OTLP, inOwnIds(await sourceFile(`${name}.json`)))).toEqual({
        status: 200,
        text: '{}',
      });
    }
    expect(await tokensOf(customerId)).toEqual(tokens);
  });

  test('all of them together are the sum of the calls', async () => {
    const { customerId, inOwnIds } = await newCustomer();
    for (const [name] of CALLS) await send(OTLP, inOwnIds(await sourceFile(`${name}.json`)));
    expect(await tokensOf(customerId)).toEqual({
      ...MINI(200 + 70 + 300 + 80 + 60, 1_220, 300 + 30 + 100 + 20 + 40),
      ...CALLS.find(([name]) => name === 'vercel-ai-sdk-7')?.[1],
    });
  });
});

test('sums of Portkey are refused in words', async () => {
  const answer = await send('/v1/ingest/otlp', await sourceFile('portkey-analytics.json'));
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('these are sums, which have no calls to bill');
});

/** The sum of a property over the events of a type. */
async function sumOf(customerId: string, eventType: string, property: string): Promise<number> {
  const metricId = await createdId(api, '/v1/billable-metrics/create', {
    name: `${property} of ${eventType}`,
    aggregation_type: 'SUM',
    aggregation_key: property,
    event_type_filter: { in_values: [eventType] },
    property_filters: [{ name: property, exists: true }],
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

test.each([
  ['litellm-openmeter', 'litellm_tokens', 'total_tokens', 1_500],
  ['openmeter-kubernetes', 'kube-pod-exec-time', 'duration_seconds', 45],
  ['openmeter-prometheus', 'cpu_seconds', 'value', 42.5],
])('the CloudEvents of %s count once', async (name, eventType, property, sum) => {
  const { customerId, inOwnIds } = await newCustomer();
  const text = inOwnIds(await sourceFile(`${name}.json`));
  const type = `application/cloudevents${text.startsWith('[') ? '-batch' : ''}+json`;
  for (let times = 0; times < 2; times += 1) {
    expect(await send(CLOUDEVENTS, text, type)).toEqual({ status: 204, text: '' });
  }
  expect(await sumOf(customerId, eventType, property)).toBe(sum);
});

/** The function in JavaScript that a page of docs/how-to/sources has. */
async function functionOf(page: string, name: string): Promise<(...args: unknown[]) => unknown> {
  const text = await readFile(new URL(`../../docs/how-to/sources/${page}.md`, import.meta.url), 'utf8');
  const code = /```js\n([^`]*)```/.exec(text)?.[1] ?? '';
  const made: unknown = new Function('fetch', `${code}\nreturn ${name};`)(fetch);
  if (typeof made !== 'function') throw new Error(`the page has no function ${name}`);
  return (...args) => Reflect.apply(made, undefined, args);
}

test('the function of the page on Segment sends a track call, which counts once', async () => {
  const { customerId, alias, inOwnIds } = await newCustomer();
  const onTrack = await functionOf('segment', 'onTrack');
  const track = JSON.parse(inOwnIds(await sourceFile('segment-track.json')));
  const settings = { url: String(service.url).replace(/\/$/, ''), token: service.token };
  for (let times = 0; times < 2; times += 1) await onTrack(track, settings);
  expect(track.userId).toBe(alias);
  expect(await sumOf(customerId, 'Report Generated', 'pages')).toBe(12);
});

/** Rows of an export of Langfuse, as it writes them in each format. */
async function langfuseFile(format: string, lines: string): Promise<Buffer> {
  const rows = z
    .array(z.record(z.string(), z.unknown()))
    .parse(lines.split('\n').map((line) => JSON.parse(line)));
  if (format === 'jsonl') return Buffer.from(lines);
  if (format === 'csv') {
    const columns = Object.keys(rows[0] ?? {});
    const cell = (value: unknown) =>
      typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
    return Buffer.from(
      stringify([columns, ...rows.map((row) => columns.map((column) => cell(row[column])))]),
    );
  }
  const columns =
    "id String, type String, end_time DateTime64(6, 'UTC'), user_id String, provided_model_name Nullable(String), usage_details Map(String, UInt64)";
  return await parquetOf(
    service.clickhouse,
    'SELECT * FROM format(JSONEachRow, {columns:String}, {lines:String})',
    { output_format_parquet_string_as_string: 1, input_format_skip_unknown_fields: 1 },
    { columns, lines },
  );
}

test('the mapping of the page on Langfuse makes an event of each generation of an export, in every format', async () => {
  const { customerId, inOwnIds } = await newCustomer();
  const page = await readFile(new URL('../../docs/how-to/sources/langfuse.md', import.meta.url), 'utf8');
  const reading = { mapping: mappingOfFile(/```json\n([^`]*)```/.exec(page)?.[1] ?? ''), delimiter: null };
  const lines = inOwnIds(await sourceFile('langfuse-observations.jsonl'))
    .trim()
    .replaceAll('obs-', `obs-${customerId}-`);
  const directory = await createTestDirectory();
  const counted = { stored: 0, duplicates: 0, leftOut: 0 };
  for (const format of ['parquet', 'csv', 'jsonl']) {
    const path = join(directory, `observations.${format}`);
    await writeFile(path, await langfuseFile(format, lines));
    const file = await recognise(await openLocalFile(path), null);
    const done = await runBackfill({
      store: createBatchStore(service.clickhouse),
      clock: { now: () => Date.UTC(2026, 10, 10) },
      file,
      reading,
      from: NOTHING_DONE,
      progressFile: createProgressFile(directory, file, 'test'),
      report: null,
      onProgress: () => {},
      signal: new AbortController().signal,
    });
    for (const count of ['stored', 'duplicates', 'leftOut'] as const) counted[count] += done[count];
  }
  expect(counted).toEqual({ stored: 1, duplicates: 2, leftOut: 3 });
  expect(await tokensOf(customerId)).toEqual(MINI(200, 1_000, 300));
});
