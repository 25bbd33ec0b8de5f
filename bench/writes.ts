/**
 * Creating customers, metrics and contracts one after the other: what an operation sends to PostgreSQL and what it costs
 * the main thread, beside the insertion of the same rows by hand. The operations include taking in the request, its
 * token and its row in the audit log. They run in this process, without HTTP.
 */
import { readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { type SentToPostgres, watchWrites } from '../test/support/write-watch.ts';
import { type InProcessService, startInProcessService } from './in-process-service.ts';
import { table } from './report.ts';

const WARM_UP = 300;
const CALLS = 500;
/** So that what others do on the machine is in all figures. */
const ROUNDS = 5;

interface Measured {
  cpuMs: number;
  writes: number;
  statements: number;
  calls: number;
}

type Operation = (call: number) => Promise<unknown>;

export async function benchWrites(): Promise<string> {
  const sent = watchWrites();
  // No jobs become due meanwhile: the clock stands still.
  const service = await startInProcessService({
    RATE_LIMIT_WRITE: '0',
    SANDBOX_NOW: '2026-01-01T00:00:00Z',
  });
  try {
    const operations = await operationsOf(service);
    const measured = new Map<string, Measured>();
    for (const [name, operation] of operations) {
      await times(operation, 0, WARM_UP);
      measured.set(name, { cpuMs: 0, writes: 0, statements: 0, calls: 0 });
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, operation] of operations) {
        const first = WARM_UP + (round * CALLS) / ROUNDS;
        add(measured.get(name), await measure(sent, operation, first));
      }
    }
    return report(measured);
  } finally {
    await service.close();
  }
}

async function operationsOf(service: InProcessService): Promise<ReadonlyMap<string, Operation>> {
  const { db } = service;
  const card = await service.create('/v1/contract-pricing/rate-cards/create', { name: 'Card' });
  const customers: string[] = [];
  return new Map<string, Operation>([
    [
      'customer with an alias',
      async (call) => {
        const body = { name: `Customer ${call}`, ingest_aliases: [`alias-${call}`] };
        customers.push(await service.create('/v1/customers', body));
      },
    ],
    [
      'by hand: insert of the row',
      () =>
        db.execute(
          sql`insert into customers (id, name, created_at, updated_at) values (gen_random_uuid(), 'Customer', now(), now())`,
        ),
    ],
    [
      'metric',
      (call) =>
        service.create('/v1/billable-metrics/create', {
          name: `Metric ${call}`,
          aggregation_type: 'COUNT',
          event_type_filter: { in_values: ['calls'] },
        }),
    ],
    [
      'contract without terms',
      (call) =>
        service.create('/v1/contracts/create', {
          customer_id: customers[call],
          rate_card_id: card,
          starting_at: '2026-01-01T00:00:00Z',
        }),
    ],
  ]);
}

async function measure(sent: () => SentToPostgres, operation: Operation, first: number): Promise<Measured> {
  const [before, cpu] = [sent(), mainThreadMs()];
  await times(operation, first, CALLS / ROUNDS);
  const after = sent();
  return {
    cpuMs: mainThreadMs() - cpu,
    writes: after.writes - before.writes,
    statements: after.statements - before.statements,
    calls: CALLS / ROUNDS,
  };
}

async function times(operation: Operation, first: number, count: number): Promise<void> {
  for (let call = first; call < first + count; call += 1) await operation(call);
}

function add(sum: Measured | undefined, one: Measured): void {
  if (sum === undefined) return;
  sum.cpuMs += one.cpuMs;
  sum.writes += one.writes;
  sum.statements += one.statements;
  sum.calls += one.calls;
}

/** CPU time of the main thread, which does all of an operation but for what PostgreSQL does. */
function mainThreadMs(): number {
  const statistics = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1');
  return Number(statistics.split(' ')[0]) / 1e6;
}

function report(measured: ReadonlyMap<string, Measured>): string {
  return table(
    ['operation', 'statements', 'writes to the socket', 'CPU of the main thread, ms'],
    [...measured].map(([name, { cpuMs, writes, statements, calls }]) => [
      name,
      (statements / calls).toFixed(1),
      (writes / calls).toFixed(1),
      (cpuMs / calls).toFixed(2),
    ]),
  );
}
