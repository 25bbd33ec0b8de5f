/**
 * The memory of the service while six lists as CSV and twelve large answers as JSON are asked for at once, over a million
 * events with 20,000 group values (`BENCH_EVENTS`). Run it where memory is limited to see whether it holds, such as
 * `systemd-run --scope -p MemoryMax=2G npm run bench -- answers-at-once`.
 */
import { readFile } from 'node:fs/promises';
import { processEnvironment } from '../src/config.ts';
import { table } from './report.ts';
import { startTemporaryService, type TemporaryService, withTemporaryDirectory } from './temporary-service.ts';

const { BENCH_EVENTS } = processEnvironment();
const EVENTS = Number(BENCH_EVENTS ?? 1_000_000);
const GROUP_VALUES = 20_000;
const PER_REQUEST = 100;
const SENDERS = 16;
const CSV = 'text/csv';
const JSON_TYPE = 'application/json';
const SAMPLE_MS = 200;

export async function benchAnswersAtOnce(): Promise<string> {
  return await withTemporaryDirectory(async (directory) => {
    const filled = await startTemporaryService(directory);
    const { customer, metric } = await createCustomer(filled);
    await sendUsage(filled);
    await filled.close();
    const service = await startTemporaryService(directory);
    try {
      const before = await service.memoryMb();
      let most = before;
      const sampling = setInterval(async () => {
        most = Math.max(most, await service.memoryMb());
      }, SAMPLE_MS);
      const answers = await askAtOnce(service, customer, metric);
      clearInterval(sampling);
      const count = (status: number) => String(answers.filter((answer) => answer.status === status).length);
      const bytes = answers.reduce((total, answer) => total + answer.bytes, 0);
      return table(
        ['what', 'value'],
        [
          ['answers at once, 6 as CSV and 12 as JSON', String(answers.length)],
          ['answered 200', count(200)],
          ['answered 429', count(429)],
          ['sent, MB', (bytes / 1e6).toFixed(0)],
          ['memory of the process before, MB', before.toFixed(0)],
          ['most memory of the process, MB', most.toFixed(0)],
          ['processes that were ended', (await isAnswering(service)) ? '0' : '1'],
        ],
      );
    } finally {
      await service.close();
    }
  });
}

/** Events of one customer in the present month, of each hour up to now. */
async function sendUsage(service: TemporaryService): Promise<void> {
  const start = Date.parse(thisMonth().start);
  const elapsedMs = Date.now() - start;
  let sent = 0;
  const send = async () => {
    for (let first = sent; first < EVENTS; first = sent) {
      sent += PER_REQUEST;
      const events = Array.from({ length: Math.min(PER_REQUEST, EVENTS - first) }, (_, index) => ({
        ...{ transaction_id: `event-${first + index}`, customer_id: 'measured', event_type: 'call' },
        timestamp: new Date(start + (((first + index) * 7_919_000) % elapsedMs)).toISOString(),
        properties: { n: String((first + index) % 97), user: `user-${(first + index) % GROUP_VALUES}` },
      }));
      await service.post('/v1/ingest', events);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
}

async function createCustomer(service: TemporaryService): Promise<{ customer: string; metric: string }> {
  const created = async (path: string, body: object) => {
    const { body: answer } = await service.post(path, body);
    return (answer as { data: { id: string } }).data.id;
  };
  const customer = await created('/v1/customers', { name: 'Measured', ingest_aliases: ['measured'] });
  const metric = await created('/v1/billable-metrics/create', {
    ...{ name: 'calls', aggregation_type: 'SUM', aggregation_key: 'n', group_keys: [['user']] },
    event_type_filter: { in_values: ['call'] },
    property_filters: [
      { name: 'user', exists: true },
      { name: 'n', exists: true },
    ],
  });
  const product = await created('/v1/contract-pricing/products/create', {
    ...{ name: 'Calls', type: 'USAGE', billable_metric_id: metric, presentation_group_key: ['user'] },
  });
  const card = await created('/v1/contract-pricing/rate-cards/create', { name: 'Card' });
  const { start } = thisMonth();
  const priced = { product_id: product, starting_at: start, entitled: true, rate_type: 'FLAT', price: 3 };
  await service.post('/v1/contract-pricing/rate-cards/addRate', { rate_card_id: card, ...priced });
  const contract = { customer_id: customer, rate_card_id: card, starting_at: start };
  await service.post('/v1/contracts/create', contract);
  return { customer, metric };
}

function thisMonth(): { readonly start: string; readonly end: string } {
  const now = new Date();
  const at = (months: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months)).toISOString();
  return { start: at(0), end: at(1) };
}

interface Answered {
  readonly status: number;
  readonly bytes: number;
}

async function askAtOnce(service: TemporaryService, customer: string, metric: string): Promise<Answered[]> {
  const { start, end } = thisMonth();
  const range = `starting_on=${start}&ending_before=${end}`;
  const invoices = `/v1/customers/${customer}/invoices`;
  const usage = {
    ...{ customer_id: customer, billable_metric_id: metric, window_size: 'DAY', group_key: ['user'] },
    ...{ starting_on: start, ending_before: end },
  };
  const ask = async (accept: string, path: string, body?: object): Promise<Answered> => {
    const response = await fetch(`http://${service.host}:${service.port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': JSON_TYPE, accept },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    let bytes = 0;
    for await (const piece of response.body ?? []) bytes += piece.length;
    return { status: response.status, bytes };
  };
  const lists = [
    invoices,
    `${invoices}/breakdowns?window_size=DAY&${range}`,
    `/v1/customers/${customer}/costs?${range}`,
  ];
  const asCsv = [...lists, ...lists.slice(0, 2)].map((path) => ask(CSV, path));
  const asJson = [...lists, ...lists, ...lists].map((path) => ask(JSON_TYPE, path));
  const groups = [JSON_TYPE, JSON_TYPE, JSON_TYPE].map((accept) => ask(accept, '/v1/usage/groups', usage));
  return await Promise.all([...asCsv, ask(CSV, '/v1/usage/groups', usage), ...asJson, ...groups]);
}

async function isAnswering({ pid }: TemporaryService): Promise<boolean> {
  return (await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')) !== '';
}
