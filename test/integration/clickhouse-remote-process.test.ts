/**
 * The service as a process on servers by URL: PostgreSQL over TCP, ClickHouse over HTTP, one node or a
 * cluster. Acknowledged events survive its own end, its killing, and the killing of ClickHouse.
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Program, runProgram } from '../support/child-process.ts';
import { type FrontProcess, frontUrl, startFrontProcess } from '../support/front-process.ts';
import { type PostgresGateway, startPostgresGateway } from '../support/postgres-gateway.ts';
import { mainCases } from '../support/shares-of-tests.ts';
import { createTestDirectory } from '../support/stores.ts';

const TOKEN = 'token-of-this-test';

let gateway: PostgresGateway;
beforeAll(async () => {
  gateway = await startPostgresGateway();
});
afterAll(() => gateway.close());

let front: FrontProcess | undefined;
let program: Program | undefined;
afterEach(async () => {
  program?.child.kill('SIGKILL');
  await program?.ended;
  await front?.kill();
});

interface Life {
  readonly program: Program;
  readonly url: string;
}

async function start(env: Record<string, string>): Promise<Life> {
  const started = runProgram('src/main.ts', [], { PORT: '0', API_TOKEN: TOKEN, LOG_LEVEL: 'fatal', ...env });
  program = started;
  await started.said('/docs');
  const url = /ready at (\S+)/.exec(started.stdout())?.[1];
  if (url === undefined) throw new Error(`no URL in: ${started.stdout()}`);
  return { program: started, url };
}

async function call(life: Life, path: string, body?: unknown): Promise<{ status: number; body: string }> {
  const response = await fetch(`${life.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.text() };
}

async function created(life: Life, path: string, body: unknown): Promise<string> {
  const answer = await call(life, path, body);
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${answer.body}`);
  return (JSON.parse(answer.body) as { data: { id: string } }).data.id;
}

/** A customer that pays 2 cents for a request. */
async function createPayingCustomer(life: Life): Promise<string> {
  const customerId = await created(life, '/v1/customers', { name: 'Acme', ingest_aliases: ['acme'] });
  const metricId = await created(life, '/v1/billable-metrics/create', {
    name: 'Requests',
    aggregation_type: 'COUNT',
    event_type_filter: { in_values: ['request'] },
  });
  const productId = await created(life, '/v1/contract-pricing/products/create', {
    name: 'Requests',
    type: 'USAGE',
    billable_metric_id: metricId,
  });
  const rateCardId = await created(life, '/v1/contract-pricing/rate-cards/create', { name: 'List' });
  await call(life, '/v1/contract-pricing/rate-cards/addRate', {
    rate_card_id: rateCardId,
    product_id: productId,
    starting_at: '2026-01-01T00:00:00Z',
    entitled: true,
    rate_type: 'FLAT',
    price: 2,
  });
  await created(life, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
  });
  return customerId;
}

function events(first: number, count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    transaction_id: `r-${first + index}`,
    customer_id: 'acme',
    event_type: 'request',
    timestamp: '2026-11-05T10:00:00Z',
    properties: {},
  }));
}

const ingest = (life: Life, first: number, count: number) => call(life, '/v1/ingest', events(first, count));

async function invoices(life: Life, customerId: string): Promise<Array<{ status: string; total: number }>> {
  const answer = await call(life, `/v1/customers/${customerId}/invoices?sort=date_asc`);
  return (JSON.parse(answer.body) as { data: Array<{ status: string; total: number }> }).data;
}

/** Sends requests from `first` on until the service is gone; returns how many were acknowledged. */
async function sendUntilKilled(life: Life, first: number): Promise<{ sent: number; acknowledged: number }> {
  let sent = 0;
  let acknowledged = 0;
  for (;;) {
    sent += 50;
    const answer = await ingest(life, first + sent - 50, 50).catch(() => undefined);
    if (answer?.status !== 200) return { sent, acknowledged };
    acknowledged += 50;
    if (acknowledged === 500) life.program.child.kill('SIGKILL');
  }
}

/** One node does less; what the embedded engine does not share with it is tried in test/long. */
const SERVERS = [
  ['a cluster', 'prod'],
  ['one node', undefined],
] as const;

describe.each(mainCases(SERVERS, 1))('on %s', (_, cluster) => {
  test('no acknowledged event is lost and none counts twice, whatever is killed', async () => {
    const directory = await createTestDirectory();
    front = await startFrontProcess({ directory, port: 0, cluster });
    const { port } = front;
    const env = {
      DATA_DIR: await createTestDirectory(),
      DATABASE_URL: await gateway.createDatabase(),
      CLICKHOUSE_URL: frontUrl(port, 'tallyhouse'),
      SANDBOX_NOW: '2026-11-10T00:00:00Z',
      ...(cluster === undefined ? {} : { CLICKHOUSE_CLUSTER: cluster }),
    };

    const first = await start(env);
    const customerId = await createPayingCustomer(first);
    expect((await ingest(first, 0, 100)).body).toBe('{"accepted":100,"duplicates":0}');
    expect(await invoices(first, customerId)).toMatchObject([{ status: 'DRAFT', total: 200 }]);
    first.program.child.kill('SIGTERM');
    expect(await first.program.ended).toBe(0);

    // The index of known events is rebuilt from what ClickHouse has.
    const second = await start(env);
    expect((await ingest(second, 50, 100)).body).toBe('{"accepted":50,"duplicates":50}');
    expect(await invoices(second, customerId)).toMatchObject([{ total: 300 }]);
    const { sent, acknowledged } = await sendUntilKilled(second, 150);
    expect(acknowledged).toBe(500);
    await second.program.ended;

    // Everything without an answer is sent again, and some that had one.
    const third = await start(env);
    for (let at = 150; at < 150 + sent; at += 50) expect((await ingest(third, at, 50)).status).toBe(200);
    const total = 2 * (150 + sent);
    expect(await invoices(third, customerId)).toMatchObject([{ total }]);

    // ClickHouse dies under the service: nothing is acknowledged meanwhile, and it continues when it is back.
    await front.kill();
    expect((await ingest(third, 10_000, 10)).status).toBe(503);
    expect((await call(third, '/readyz')).status).toBe(503);
    front = await startFrontProcess({ directory, port, cluster });
    expect((await ingest(third, 10_000, 10)).body).toBe('{"accepted":10,"duplicates":0}');
    expect((await call(third, '/readyz')).status).toBe(200);

    // The month is closed: the invoice and its hours are kept in both stores.
    expect((await call(third, '/v1/sandbox/clock', { now: '2026-12-03T00:00:00Z' })).status).toBe(200);
    const issued = { status: 'FINALIZED', total: total + 20 };
    expect(await invoices(third, customerId)).toMatchObject([issued, { status: 'DRAFT', total: 0 }]);
    const hours = await call(
      third,
      `/v1/customers/${customerId}/invoices/breakdowns?window_size=HOUR&skip_zero_qty_line_items=true&starting_on=2026-11-05T00:00:00Z&ending_before=2026-11-06T00:00:00Z`,
    );
    expect(JSON.parse(hours.body)).toMatchObject({ data: [{ total: total + 20 }] });
    third.program.child.kill('SIGTERM');
    expect(await third.program.ended).toBe(0);
  });
});
