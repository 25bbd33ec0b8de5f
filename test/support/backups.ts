/** Backups and restores as an operator calls them, and what a service answers, to be compared. */
import { z } from 'zod';
import type { BillingProcess } from './billing-process.ts';
import { runProgram } from './child-process.ts';

export interface Ended {
  readonly code: number | NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `tallyhouse` to its end. */
export async function tallyhouse(args: readonly string[], env: Record<string, string>): Promise<Ended> {
  const program = runProgram('src/app/cli/main.ts', args, env);
  return { code: await program.ended, out: program.stdout(), err: program.stderr() };
}

const madeSchema = z.object({
  name: z.string(),
  bytes: z.number(),
  written_bytes: z.number(),
  event_count: z.number(),
  invoice_count: z.number(),
  ledger_entry_count: z.number(),
  removed: z.array(z.string()),
});
export type Made = z.output<typeof madeSchema>;

/** Throws unless the backup is created. */
export async function backUp(
  dataDir: string,
  place: string,
  more: readonly string[] = [],
  settings: Record<string, string> = {},
): Promise<Made> {
  const env = { ...settings, DATA_DIR: dataDir };
  const { code, out, err } = await tallyhouse(['backup', place, '--json', ...more], env);
  if (code !== 0) throw new Error(`the backup ended with ${code}: ${err}`);
  return madeSchema.parse(JSON.parse(out));
}

const documentSchema = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });
const idsSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

/** The operations whose answers change by themselves, or count the events that the load sends meanwhile. */
const MOVING = [
  ...['/docs', '/healthz', '/metrics', '/readyz', '/v1/system/status', '/v1/tokens'],
  ...['/v1/events/days', '/v1/events/types'],
];
const RANGE = 'starting_on=2026-03-01T00:00:00Z&ending_before=2026-05-01T00:00:00Z';
/** The load meanwhile sends events of April. */
const BEFORE_LOAD = 'starting_on=2026-03-01T00:00:00Z&ending_before=2026-04-01T00:00:00Z';
const rangeOf = (path: string) => (path === '/v1/events' ? BEFORE_LOAD : RANGE);

/** The answers to all reads of the interface, of each customer and each of its invoices, by their paths. */
export async function everyAnswer(service: BillingProcess): Promise<Map<string, unknown>> {
  const answers = new Map<string, unknown>();
  const read = async (path: string, body?: unknown) => {
    const { status, body: text } = await service.call(path, body);
    answers.set(body === undefined ? path : `${path} ${JSON.stringify(body)}`, [status, text]);
    return text;
  };
  const { paths } = documentSchema.parse(JSON.parse((await service.call('/openapi.json')).body));
  const reads = Object.keys(paths).filter((path) => paths[path]?.get !== undefined && !MOVING.includes(path));
  const customers = idsSchema.parse(JSON.parse((await service.call('/v1/customers')).body)).data;
  await Promise.all(
    reads.filter((path) => !path.includes('{')).map((path) => read(`${path}?${rangeOf(path)}`)),
  );
  for (const { id } of customers) {
    const invoices = idsSchema.parse(JSON.parse(await read(`/v1/customers/${id}/invoices`))).data;
    const ofCustomer = reads
      .filter((path) => path.includes('{customer_id}'))
      .map((path) => path.replace('{customer_id}', id));
    const ofInvoices = ofCustomer.filter((path) => path.includes('{invoice_id}'));
    await Promise.all([
      ...ofCustomer.filter((path) => !path.includes('{')).map((path) => read(`${path}?${RANGE}`)),
      ...ofInvoices.flatMap((path) =>
        invoices.map((invoice) => read(path.replace('{invoice_id}', invoice.id))),
      ),
      read('/v1/contracts/list', { customer_id: id }),
      read('/v1/contracts/customerBalances/list', { customer_id: id, include_ledgers: true }),
    ]);
  }
  return answers;
}
