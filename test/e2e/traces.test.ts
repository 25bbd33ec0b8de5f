/** The service as a process that sends its traces to a collector of the test, and one that sends none. */
import { afterEach, expect, it } from 'vitest';
import {
  type BillingProcess,
  createPayingCustomers,
  moveClock,
  startBillingProcess,
} from '../support/billing-process.ts';
import { type Program, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { type CollectedSpan, startTraceCollector, type TraceCollector } from '../support/trace-collector.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function collector(status?: number): Promise<TraceCollector> {
  const started = await startTraceCollector(status);
  closers.push(() => started.close());
  return started;
}

async function service(env: Record<string, string>): Promise<BillingProcess> {
  const started = await startBillingProcess(null, await createDataDirectory(), '2026-11-10T00:00:00Z', {
    OTEL_BSP_SCHEDULE_DELAY: '50',
    ...env,
  });
  closers.push(() => started.kill());
  return started;
}

/** The spans of a trace, each as its name and those of its parents. */
function pathsOf(spans: readonly CollectedSpan[], traceId: string): string[] {
  const own = spans.filter((span) => span.traceId === traceId);
  const pathOf = (span: CollectedSpan): string => {
    const parent = own.find(({ spanId }) => spanId === span.parentSpanId);
    return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`;
  };
  return own.map(pathOf);
}

const CALLER = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };

it('the service shows events from the request to ClickHouse as one trace, that of the caller, without their contents', async () => {
  const { url, spans, sent } = await collector();
  const { call } = await service({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
  const event = {
    transaction_id: 'secret-id',
    customer_id: 'secret-customer',
    event_type: 'secret-type',
    timestamp: '2026-11-09T00:00:00Z',
    properties: { secret: 'secret-value' },
  };
  const unsampled = `00-${CALLER.trace.replace('0', '1')}-${CALLER.span}-00`;
  expect((await call('/v1/ingest', [event], { traceparent: unsampled })).status).toBe(200);
  const traceparent = `00-${CALLER.trace}-${CALLER.span}-01`;
  const next = { ...event, transaction_id: 'secret-next' };
  expect((await call('/v1/ingest', [next], { traceparent })).status).toBe(200);
  const request = 'POST /v1/ingest';
  await expect
    .poll(() => pathsOf(spans, CALLER.trace).sort())
    .toEqual([
      request,
      `${request} > insert events into ClickHouse`,
      `${request} > validate and deduplicate`,
      `${request} > write events durably`,
    ]);
  const [root, insert] = [request, 'insert events into ClickHouse'].map((name) =>
    spans.find((span) => span.name === name),
  );
  expect(root?.parentSpanId).toBe(CALLER.span);
  expect(root?.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/v1/ingest',
    'http.response.status_code': '200',
  });
  expect(insert?.links).toEqual([root?.spanId]);
  // The other event may be in the same block.
  expect(insert?.attributes['tallyhouse.events']).toMatch(/^[12]$/);
  expect(spans.every(({ traceId }) => traceId === CALLER.trace)).toBe(true);
  expect(sent()).toContain('tallyhouse');
  expect(sent()).not.toMatch(/secret|token-of/);
});

it('the service shows how an invoice is finalized as one trace, and its message to a webhook', async () => {
  const { url, spans } = await collector();
  const receiver = await startWebhookReceiver();
  closers.push(() => receiver.close());
  const running = await service({ OTEL_EXPORTER_OTLP_ENDPOINT: url, WEBHOOK_ALLOW_PRIVATE: '1' });
  expect((await running.call('/v1/webhooks/create', { name: 'Receiver', url: receiver.url })).status).toBe(
    200,
  );
  await createPayingCustomers(running, 2, '2026-11-01T00:00:00Z');
  await moveClock(running, '2026-12-03T00:00:00Z');
  const job = 'job finalize_usage_invoice';
  const query = 'query ClickHouse';
  const ofJob = () => pathsOf(spans, spans.find(({ name }) => name === job)?.traceId ?? '');
  await expect.poll(ofJob).toContain(job);
  const paths = ofJob();
  expect(paths).toContain(`${job} > prepare > read > ${query}`);
  expect(paths).toContain(`${job} > prepare > freeze > insert into ClickHouse`);
  expect(paths).toContain(`${job} > write`);
  await expect.poll(() => spans.map(({ name }) => name)).toContain('deliver a webhook');
  expect(spans.filter(({ hasFailed }) => hasFailed)).toEqual([]);
});

it('the service shows drafts and SQL across customers with their queries, and neither probes nor unknown paths', async () => {
  const { url, spans } = await collector();
  const running = await service({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
  await createPayingCustomers(running, 1, '2026-11-01T00:00:00Z');
  const { data } = JSON.parse((await running.call('/v1/customers')).body) as { data: [{ id: string }] };
  for (const path of ['/healthz', '/readyz', '/metrics', '/nothing', '/v1/nothing']) await running.call(path);
  const route = 'GET /v1/customers/{customer_id}/invoices';
  await running.call(`/v1/customers/${data[0].id}/invoices`);
  const ofList = () => pathsOf(spans, spans.find(({ name }) => name === route)?.traceId ?? '');
  await expect.poll(ofList).toContain(route);
  expect(ofList()).toContain(`${route} > compute drafts > query ClickHouse`);
  const asked = { sql: 'SELECT COUNT(*) AS number FROM events' };
  expect(await running.call('/v1/sql', asked)).toMatchObject({ status: 200 });
  const ofSql = () => pathsOf(spans, spans.find(({ name }) => name === 'POST /v1/sql')?.traceId ?? '');
  await expect
    .poll(() => ofSql().filter((path) => path.endsWith('query ClickHouse')).length)
    .toBeGreaterThan(1);
  const routes = spans.map(({ attributes }) => attributes['http.route']);
  expect(routes.filter((path) => path !== undefined && !path.startsWith('/v1/'))).toEqual([]);
  expect(routes).not.toContain('/v1/nothing');
});

it.each([
  ['refuses', 400],
  ['does not answer', null],
])('the service works as always where the collector %s, warns once, and stops in time', async (_, status) => {
  const away = await collector(status ?? 200);
  if (status === null) await away.close();
  const running = await service({
    OTEL_EXPORTER_OTLP_ENDPOINT: away.url,
    LOG_LEVEL: 'warn',
    OTEL_EXPORTER_OTLP_TIMEOUT: '200',
  });
  const warnings = () => running.program.stderr().match(/traces cannot be sent/g)?.length ?? 0;
  await createPayingCustomers(running, 1, '2026-11-01T00:00:00Z');
  await expect.poll(warnings).toBe(1);
  for (let i = 0; i < 20; i += 1) expect((await running.call('/v1/customers')).status).toBe(200);
  running.program.child.kill('SIGTERM');
  expect(await running.program.ended).toBe(0);
  expect(warnings()).toBe(1);
});

it('the service loads nothing of OpenTelemetry and connects to nobody unless a collector is configured', async () => {
  const loaded = async (env: Record<string, string>): Promise<boolean> => {
    const program: Program = runProgram(
      'src/main.ts',
      [],
      { PORT: '0', DATA_DIR: await createDataDirectory(), ...env },
      'test/support/programs/tell-opentelemetry.mjs',
    );
    closers.push(async () => program.child.kill('SIGKILL'));
    await program.said('/docs');
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    return /OpenTelemetry is loaded: (\w+)/.exec(program.stdout())?.[1] === 'true';
  };
  const { url, requests } = await collector();
  expect(await loaded({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces` })).toBe(false);
  expect(requests()).toBe(0);
  expect(await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: url })).toBe(true);
});
