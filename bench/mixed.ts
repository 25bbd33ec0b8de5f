/**
 * Everything at once on the built service: events, usage, drafts and the invoices of a month, each beside what it takes
 * alone. Latency counts from the instant at which a request was due, so a service that is late cannot hide it.
 */
import { processEnvironment } from '../src/config.ts';
import { type MonthsEnd, withMonths } from './finalize.ts';
import { runGenerator } from './ingest.ts';
import { quantile, table } from './report.ts';
import type { TemporaryService } from './temporary-service.ts';

const EVENTS_PER_SECOND = 20_000;
const USAGE_PER_SECOND = 20;
const DRAFTS_PER_SECOND = 5;
const SECONDS_ALONE = 8;
/** Events come when the clock of the service stands at the end of the first month. */
const AT = Date.parse('2026-11-02T00:00:00Z');
const MONTH = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' } as const;

interface Latency {
  readonly p50: number;
  readonly p99: number;
}

export async function benchMixed(): Promise<string> {
  const customers = Number(processEnvironment().BENCH_CUSTOMERS ?? 2_000);
  return await withMonths(
    customers,
    () => ({}),
    async (service, closeEarlier, close) => {
      const runAlone = await closeEarlier();
      const ids = await idsOf(service, '/v1/customers?limit=100');
      const [metric = ''] = await idsOf(service, '/v1/billable-metrics?limit=1');
      const idOf = (call: number) => ids[call % ids.length] ?? '';
      const usage = (call: number) =>
        service.post('/v1/usage', {
          ...MONTH,
          ...{ customer_ids: [idOf(call)], billable_metrics: [{ id: metric }], window_size: 'DAY' },
        });
      const draft = (call: number) => service.get(`/v1/customers/${idOf(call)}/invoices?status=DRAFT`);
      const alone = {
        ingest: await ingest(service, customers, SECONDS_ALONE * 1_000),
        usage: await paced(USAGE_PER_SECOND, forSeconds(SECONDS_ALONE), usage),
        draft: await paced(DRAFTS_PER_SECOND, forSeconds(SECONDS_ALONE), draft),
      };
      const runSeconds = (customers / runAlone.invoices) * runAlone.seconds;
      let hasEnded = false;
      const run = close().finally(() => {
        hasEnded = true;
      });
      const [together, runTogether, usageTogether, draftTogether] = await Promise.all([
        ingest(service, customers, runSeconds * 1_000),
        run,
        paced(USAGE_PER_SECOND, () => hasEnded, usage),
        paced(DRAFTS_PER_SECOND, () => hasEnded, draft),
      ]);
      return report([
        ['events, 20,000/s, 100 a request', alone.ingest, together],
        ['usage by day of one customer, 20/s', alone.usage, usageTogether],
        ['drafts of one customer, 5/s', alone.draft, draftTogether],
      ]).concat(
        `\n\nInvoices of the run: ${rate(runAlone)} alone, the first of the process; ${rate(runTogether)} beside the others.`,
      );
    },
  );
}

const rate = ({ invoices, seconds }: MonthsEnd) => `${(invoices / seconds).toFixed(0)}/s`;

function forSeconds(seconds: number): () => boolean {
  const end = performance.now() + seconds * 1_000;
  return () => performance.now() >= end;
}

async function ingest(service: TemporaryService, customers: number, measureMs: number): Promise<Latency> {
  const { host, port, token, pid: servicePid } = service;
  const run = `mixed-${Date.now().toString(36)}`;
  const load = await runGenerator({
    ...{ host, port, token, servicePid, run, customers, measureMs },
    ...{ connections: 128, eventsPerRequest: 100, eventsPerSecond: EVENTS_PER_SECOND },
    ...{ warmUpMs: 1_000, spreadMinutes: 60, at: AT },
  });
  if (load.failures > 0) throw new Error(`${load.failures} requests with events were refused`);
  return load.latencyMs;
}

/** Calls at fixed times, whether the ones before are answered or not. */
async function paced(
  perSecond: number,
  hasEnded: () => boolean,
  call: (number: number) => Promise<unknown>,
): Promise<Latency> {
  const start = performance.now();
  const latencies: number[] = [];
  const calls: Promise<void>[] = [];
  for (let number = 0; number === 0 || !hasEnded(); number += 1) {
    const dueAt = start + (number * 1_000) / perSecond;
    await new Promise((resolve) => {
      setTimeout(resolve, Math.max(0, dueAt - performance.now()));
    });
    calls.push(call(number).then(() => void latencies.push(performance.now() - dueAt)));
  }
  await Promise.all(calls);
  return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}

async function idsOf(service: TemporaryService, path: string): Promise<string[]> {
  const { data } = (await service.get(path)).body as { readonly data: readonly { readonly id: string }[] };
  return data.map(({ id }) => id);
}

function report(rows: readonly (readonly [string, Latency, Latency])[]): string {
  const ms = (milliseconds: number) => `${milliseconds.toFixed(0)} ms`;
  return table(
    ['what', 'alone, p50', 'p99', 'together, p50', 'p99'],
    rows.map(([what, alone, together]) => [
      what,
      ...[ms(alone.p50), ms(alone.p99), ms(together.p50), ms(together.p99)],
    ]),
  );
}
