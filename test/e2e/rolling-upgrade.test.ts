/**
 * The last release and this version on the same servers: its processes are replaced one after the other, while events
 * arrive. The migration of a version to come, which only adds something, is applied in between.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatInstant, HOUR_MS, type Instant } from '../../src/core/time.ts';
import { migrateDatabase } from '../../src/store/migrations/migrate.ts';
import { type Program, runCommand, runProgram } from '../support/child-process.ts';
import { type FrontProcess, frontUrl, startFrontProcess } from '../support/front-process.ts';
import { unpackLastRelease } from '../support/frozen-program.ts';
import { drizzleFolderWith } from '../support/migration-folders.ts';
import { type PostgresGateway, startPostgresGateway } from '../support/postgres-gateway.ts';
import { createTestDirectory } from '../support/stores.ts';

const TOKEN = 'token-of-this-test';
const BATCH = 20;
/** Sent by each mixture of processes. */
const BATCHES_EACH = 10;

interface Life {
  readonly program: Program;
  readonly url: string;
}

let gateway: PostgresGateway;
let front: FrontProcess;
let lastRelease: string;
let env: Record<string, string>;
const started: Program[] = [];

beforeAll(async () => {
  gateway = await startPostgresGateway();
  front = await startFrontProcess({ directory: await createTestDirectory(), port: 0 });
  lastRelease = await unpackLastRelease();
  env = {
    PORT: '0',
    API_TOKEN: TOKEN,
    LOG_LEVEL: 'fatal',
    DATABASE_URL: await gateway.createDatabase(),
    CLICKHOUSE_URL: frontUrl(front.port, 'tallyhouse'),
  };
});
afterAll(async () => {
  for (const { child, ended } of started) {
    child.kill('SIGKILL');
    await ended;
  }
  await front?.kill();
  await gateway?.close();
});

async function ready(program: Program): Promise<Life> {
  started.push(program);
  await program.said('/docs');
  const url = /ready at (\S+)/.exec(program.stdout())?.[1];
  if (url === undefined) throw new Error(`not ready: ${program.stdout()}${program.stderr()}`);
  return { program, url };
}

const settings = async () => ({ ...env, DATA_DIR: await createTestDirectory() });
const startLast = async () => ready(runCommand(process.execPath, [lastRelease], await settings()));
const startPresent = async () => ready(runProgram('src/main.ts', [], await settings()));

async function stop({ program }: Life): Promise<void> {
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
}

async function send(life: Life, path: string, body?: unknown): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${life.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

async function answered(life: Life, path: string, body?: unknown): Promise<string> {
  const { status, text } = await send(life, path, body);
  if (status !== 200) throw new Error(`${path} answered ${status} ${text}`);
  return text;
}

async function created(life: Life, path: string, body: unknown): Promise<string> {
  return (JSON.parse(await answered(life, path, body)) as { data: { id: string } }).data.id;
}

/** A customer that pays 2 cents for a request, and owes a charge of 500 cents since an hour. */
async function createPayingCustomer(life: Life, alias: string, now: Instant): Promise<string> {
  const customer = await created(life, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const metric = await created(life, '/v1/billable-metrics/create', {
    name: alias,
    aggregation_type: 'COUNT',
    event_type_filter: { in_values: ['request'] },
  });
  const products = '/v1/contract-pricing/products/create';
  const usage = await created(life, products, { name: alias, type: 'USAGE', billable_metric_id: metric });
  const fee = await created(life, products, { name: `Fee of ${alias}`, type: 'FIXED' });
  const cards = '/v1/contract-pricing/rate-cards';
  const card = await created(life, `${cards}/create`, { name: alias });
  const since = formatInstant(Math.floor(now / HOUR_MS) * HOUR_MS - 24 * HOUR_MS);
  await answered(life, `${cards}/addRate`, {
    rate_card_id: card,
    product_id: usage,
    ...{ starting_at: since, entitled: true, rate_type: 'FLAT', price: 2 },
  });
  const due = formatInstant(Math.floor(now / HOUR_MS) * HOUR_MS);
  await created(life, '/v1/contracts/create', {
    customer_id: customer,
    rate_card_id: card,
    starting_at: since,
    scheduled_charges: [{ product_id: fee, schedule: { schedule_items: [{ timestamp: due, amount: 500 }] } }],
  });
  return customer;
}

interface Invoice {
  readonly status: string;
  readonly type: string;
  readonly total: number;
}

const invoicesPath = (customer: string) => `/v1/customers/${customer}/invoices?sort=date_asc`;
const invoices = async (life: Life, customer: string) =>
  (JSON.parse(await answered(life, invoicesPath(customer))) as { data: Invoice[] }).data;

interface Threshold {
  readonly customer_id: string;
  readonly contract_id: string;
}

/** One that counts holds, which the last release does not know. */
async function createThreshold(life: Life, customer_id: string): Promise<Threshold> {
  const products = '/v1/contract-pricing/products/create';
  const product_id = await created(life, products, { name: 'Top-up', type: 'FIXED' });
  const contract_id = await created(life, '/v1/contracts/create', {
    customer_id,
    starting_at: '2026-01-01T00:00:00Z',
    prepaid_balance_threshold_configuration: {
      ...{ is_enabled: false, threshold_amount: 1000, recharge_to_amount: 5000, count_holds: true },
      ...{ commit: { product_id }, payment_gate_config: { payment_gate_type: 'NONE' } },
    },
  });
  return { customer_id, contract_id };
}

async function editThreshold(life: Life, of: Threshold, change: object) {
  return send(life, '/v2/contracts/edit', { ...of, update_prepaid_balance_threshold_configuration: change });
}

/** The amount and whether holds count, as this version has them. */
async function thresholdOf(life: Life, of: Threshold): Promise<[number, boolean]> {
  const { data } = JSON.parse(await answered(life, '/v2/contracts/get', of));
  const { threshold_amount, count_holds } = data.prepaid_balance_threshold_configuration;
  return [threshold_amount, count_holds ?? false];
}

/** Until a job of one of the processes has issued the charge. */
async function issuedCharges(life: Life, customer: string): Promise<Invoice[]> {
  const read = async () =>
    (await invoices(life, customer)).filter(({ type, status }) => type === 'SCHEDULED' && status !== 'DRAFT');
  await expect.poll(async () => (await read()).length, { timeout: 60_000, interval: 250 }).toBeGreaterThan(0);
  return read();
}

/** Sends batches in turns; one without an answer is sent again to the next process. Returns the events sent. */
function sender(): { sendBatches: (to: readonly Life[]) => Promise<void>; sent: () => number } {
  let number = 0;
  const sendBatches = async (to: readonly Life[]) => {
    for (let batch = 0; batch < BATCHES_EACH; batch += 1) {
      const events = Array.from({ length: BATCH }, (_, index) => ({
        transaction_id: `request-${number + index}`,
        customer_id: 'acme',
        event_type: 'request',
        timestamp: formatInstant(Date.now()),
        properties: {},
      }));
      for (let at = batch; ; at += 1) {
        const life = to[at % to.length];
        if (life === undefined) throw new Error('no process to send to');
        const answer = await send(life, '/v1/ingest', events).catch(() => undefined);
        if (answer?.status === 200) break;
        if (answer !== undefined && answer.status !== 503) throw new Error(answer.text);
        if (at > batch + 100) throw new Error('no process takes events');
        await delay(50);
      }
      number += BATCH;
    }
  };
  return { sendBatches, sent: () => number };
}

test('processes are replaced one after the other: no event is lost or counts twice, one invoice is issued, what one version writes the other reads', async () => {
  const now = Date.now();
  const { sendBatches, sent } = sender();
  const first = await startLast();
  const second = await startLast();
  const acme = await createPayingCustomer(first, 'acme', now);
  await sendBatches([first, second]);

  // The additions of a later version: this one and the last start and continue beside it.
  const added = {
    '0801_expand_customers':
      'ALTER TABLE "customers" ADD COLUMN "of_a_version_to_come" text DEFAULT \'\' NOT NULL;',
  };
  await migrateDatabase({ url: env.DATABASE_URL ?? '' }, await drizzleFolderWith(added));
  const third = await startPresent();
  await sendBatches([first, second, third]);

  // Each of them reads the rows that the other writes.
  const late = await createPayingCustomer(second, 'late', now);
  const early = await createPayingCustomer(third, 'early', now);
  for (const customer of [late, early]) {
    expect(await issuedCharges(third, customer)).toMatchObject([{ status: 'FINALIZED', total: 500 }]);
    expect(await answered(third, invoicesPath(customer))).toBe(
      await answered(second, invoicesPath(customer)),
    );
  }
  await Promise.all([stop(first), sendBatches([first, second, third])]);

  // A process of the last release that dies in the meantime starts again.
  second.program.child.kill('SIGKILL');
  await second.program.ended;
  const again = await startLast();
  await sendBatches([again, third]);
  const fourth = await startPresent();
  await Promise.all([stop(again), sendBatches([again, third, fourth])]);

  for (const life of [third, fourth]) {
    const usage = (await invoices(life, acme)).filter(({ type }) => type === 'USAGE');
    expect(usage.reduce((total, invoice) => total + invoice.total, 0)).toBe(2 * sent());
    expect(await issuedCharges(life, acme)).toMatchObject([{ status: 'FINALIZED', total: 500 }]);
  }
  await stop(third);
  await stop(fourth);
});

test('a process of the last release refuses a member of a term that it does not know, and drops it only from a term that it edits', async ({
  skip,
}) => {
  const journal = await readFile(join(dirname(lastRelease), '../drizzle/meta/_journal.json'), 'utf8');
  skip(journal.includes('0047_expand_count_holds'), 'the last release knows count_holds');
  const last = await startLast();
  const present = await startPresent();
  const customer = await created(present, '/v1/customers', { name: 'threshold' });
  const threshold = await createThreshold(present, customer);
  const other = { ...threshold, update_contract_name: 'Renamed' };
  expect((await send(last, '/v2/contracts/edit', other)).status).toBe(200);
  expect(await thresholdOf(present, threshold)).toEqual([1000, true]);
  expect((await editThreshold(last, threshold, { count_holds: true })).status).toBe(400);
  expect((await editThreshold(last, threshold, { threshold_amount: 900 })).status).toBe(200);
  expect(await thresholdOf(present, threshold)).toEqual([900, false]);
  expect((await editThreshold(present, threshold, { count_holds: true })).status).toBe(200);
  expect(await thresholdOf(present, threshold)).toEqual([900, true]);
  await stop(last);
  await stop(present);
});
