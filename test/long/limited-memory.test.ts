/**
 * The service in a container with little memory, while six reports as CSV and five as JSON are asked for at once whose
 * making would take more than there is. Skipped where the memory of a program cannot be limited.
 */
import { afterEach, expect, it } from 'vitest';
import type { Program } from '../support/child-process.ts';
import { csvRows } from '../support/csv.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { limitedMemory } from '../support/limited-memory.ts';

const TOKEN = 'token-of-this-test';
const LIMIT_MB = 768;
const EVENTS = 40_000;
const USERS = 8_000;
const PER_REQUEST = 100;
const [START, NOW, END] = ['2026-11-01T00:00:00Z', '2026-11-26T00:00:00Z', '2026-12-01T00:00:00Z'];
const ELAPSED_MS = Date.parse(NOW) - Date.parse(START);

interface Answered {
  readonly status: number;
  readonly text: string;
}

const memory = limitedMemory(LIMIT_MB);
let service: Program | undefined;
let url = '';
afterEach(async () => {
  service?.child.kill('SIGTERM');
  await service?.ended;
  memory?.remove();
});

async function start(): Promise<void> {
  const env = { PORT: '0', API_TOKEN: TOKEN, LOG_LEVEL: 'warn', SANDBOX_NOW: NOW, RATE_LIMIT_INGEST: '0' };
  const options = [
    '--max-semi-space-size=64',
    '--heap-growing-percent=100',
    '--no-allocation-site-pretenuring',
  ];
  const command = [process.execPath, ...options, 'dist/tallyhouse.cjs', 'start'];
  service = memory?.run(command, { ...env, DATA_DIR: await createDataDirectory() });
  await service?.said('/docs');
  url = /ready at (http:\/\/[^/\s]+)/.exec(service?.stdout() ?? '')?.[1] ?? '';
}

async function ask(accept: string, path: string, body?: object): Promise<Answered> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', accept },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

const JSON_TYPE = 'application/json';
const asJson = (path: string, body?: object) => ask(JSON_TYPE, path, body);
const asCsv = (path: string, body?: object) => ask('text/csv', path, body);

async function created(path: string, body: object): Promise<string> {
  const { status, text } = await asJson(path, body);
  expect(status, text).toBe(200);
  return (JSON.parse(text) as { data: { id: string } }).data.id;
}

/** Two products, whose lines are of each user. */
async function createCustomer(): Promise<{ readonly customer: string; readonly metric: string }> {
  const customer = await created('/v1/customers', { name: 'Acme', ingest_aliases: ['acme'] });
  const card = await created('/v1/contract-pricing/rate-cards/create', { name: 'Card' });
  const metrics: string[] = [];
  for (const aggregation of ['COUNT', 'SUM']) {
    const metric = await created('/v1/billable-metrics/create', {
      ...{ name: aggregation, aggregation_type: aggregation, group_keys: [['user']] },
      ...(aggregation === 'SUM' ? { aggregation_key: 'n' } : {}),
      event_type_filter: { in_values: ['call'] },
      property_filters: ['user', 'n'].map((name) => ({ name, exists: true })),
    });
    const product = await created('/v1/contract-pricing/products/create', {
      ...{ name: aggregation, type: 'USAGE', billable_metric_id: metric, presentation_group_key: ['user'] },
    });
    const rate = { starting_at: START, entitled: true, rate_type: 'FLAT', price: 3 };
    await asJson('/v1/contract-pricing/rate-cards/addRate', {
      rate_card_id: card,
      product_id: product,
      ...rate,
    });
    metrics.push(metric);
  }
  await created('/v1/contracts/create', { customer_id: customer, rate_card_id: card, starting_at: START });
  return { customer, metric: metrics[0] ?? '' };
}

async function sendEvents(): Promise<void> {
  let sent = 0;
  const send = async () => {
    for (let first = sent; first < EVENTS; first = sent) {
      sent += PER_REQUEST;
      const events = Array.from({ length: PER_REQUEST }, (_, index) => ({
        ...{ transaction_id: `event-${first + index}`, customer_id: 'acme', event_type: 'call' },
        timestamp: new Date(Date.parse(START) + (((first + index) * 7_919_003) % ELAPSED_MS)).toISOString(),
        properties: { n: String((first + index) % 97), user: `user-${(first + index) % USERS}` },
      }));
      expect((await asJson('/v1/ingest', events)).status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: 8 }, send));
}

/** Whole, or refused with words that name the limit. */
function expectWhole(name: string, { status, text }: Answered, events: (text: string) => number): void {
  if (status === 200) expect(events(text), name).toBe(EVENTS);
  else {
    expect([400, 429, 503], `${name}: ${text}`).toContain(status);
    expect(text, name).toMatch(/memory/);
  }
}

const rowsOf = (text: string) => csvRows(text).length;
const countedIn = (text: string) =>
  csvRows(text).reduce((all, row) => all + (row.line_name === 'COUNT' ? Number(row.quantity) : 0), 0);
const usedIn = (text: string) => csvRows(text).reduce((all, { value }) => all + Number(value), 0);

interface JsonLines {
  readonly data: readonly { readonly line_items: readonly { name: string; quantity: number }[] }[];
}
const countedInJson = (text: string) =>
  (JSON.parse(text) as JsonLines).data
    .flatMap((invoice) => invoice.line_items)
    .reduce((all, line) => all + (line.name === 'COUNT' ? line.quantity : 0), 0);

it.skipIf(memory === null)(
  'reports that together need more memory than there is are whole or refused, and the service continues',
  async () => {
    await start();
    const { customer, metric } = await createCustomer();
    await sendEvents();
    const range = `starting_on=${START}&ending_before=${END}`;
    const invoices = `/v1/customers/${customer}/invoices`;
    const usage = {
      ...{ customer_id: customer, billable_metric_id: metric, window_size: 'HOUR', group_key: ['user'] },
      ...{ starting_on: START, ending_before: END },
    };
    const byDay = `${invoices}/breakdowns?window_size=DAY&${range}`;
    const byHour = `${invoices}/breakdowns?window_size=HOUR&${range}`;
    const reports: [string, Promise<Answered>, (text: string) => number][] = [
      ['breakdown by day', asCsv(byDay), countedIn],
      ['breakdown by day, again', asCsv(byDay), countedIn],
      ['invoices', asCsv(invoices), countedIn],
      ['usage by hour', asCsv('/v1/usage/groups', usage), usedIn],
      ['breakdown by hour', asCsv(byHour), countedIn],
      ['events', asCsv('/v1/sql', { sql: 'SELECT transaction_id FROM events' }), rowsOf],
      ['breakdown by day as JSON', asJson(byDay), countedInJson],
      ['breakdown by day as JSON, again', asJson(byDay), countedInJson],
      ['invoices as JSON', asJson(invoices), countedInJson],
      ['invoices as JSON, again', asJson(invoices), countedInJson],
      ['first hours as JSON', asJson(byHour), () => EVENTS],
    ];
    const answers = await Promise.all(
      reports.map(async ([name, answer, events]) => ({ name, events, got: await answer })),
    );
    let whole = 0;
    for (const { name, got, events } of answers) {
      whole += Number(got.status === 200);
      expectWhole(name, got, events);
    }
    expect(whole).toBeGreaterThan(0);
    expect((await asJson('/readyz')).status).toBe(200);
    expectWhole('invoices as CSV afterwards', await asCsv(invoices), countedIn);
    await expect.poll(() => memory?.usedMb(), { timeout: 30_000 }).toBeLessThan(LIMIT_MB * 0.9);
    expect(service?.child.exitCode).toBeNull();
  },
  600_000,
);
