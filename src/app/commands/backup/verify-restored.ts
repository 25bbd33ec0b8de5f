/** Compares restored stores with the backup, and checks their consistency. They are opened without jobs. */
import { pino } from 'pino';
import { z } from 'zod';
import { reconcileInvoices } from '../../../billing/invoices/reconcile/reconcile.ts';
import type { Config } from '../../../config.ts';
import { CLOCK_BOUNDS } from '../../../core/clock.ts';
import type { Instant } from '../../../core/time.ts';
import { NO_TRACER } from '../../../core/tracing.ts';
import { createServiceClock } from '../../../jobs/service-clock.ts';
import { createRepeatLog } from '../../../metering/events/repeat-log.ts';
import { factsWithoutIngest } from '../../../metering/ingest/event-facts.ts';
import { findEventRetention } from '../../../store/erasure/event-retention.ts';
import { type Manifest, storedRows } from '../../backups/manifest.ts';
import { createBillingContext } from '../../billing/billing-context.ts';
import { CommandFailure } from '../../failures/command-failure.ts';
import { createPartsWatch } from '../../readiness/parts-watch.ts';
import { type Stores, startStores } from '../../stores/stores.ts';
import { formatCount } from '../terminal/number-format.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { countsOf, countsText } from './report.ts';

/** Customers compared at once. */
const CUSTOMERS_PER_PAGE = 100;
/** Maximum differences shown: all are printed by `tallyhouse reconcile`. */
const SHOWN_MAX = 20;

/** Returns whether everything agrees. Throws a `CommandFailure` if rows are missing. */
export async function verifyRestored(
  config: Config,
  manifest: Manifest,
  terminal: Terminal,
): Promise<boolean> {
  // Before merges collapse copies of events, the rows are those of the backup.
  const stores = await startStores(config, { holdMerges: true });
  try {
    const isEmbedded = manifest.clickhouse.server === undefined;
    for (const { name } of manifest.clickhouse.tables) await requireRows(stores, manifest, name);
    await requireWhole(stores, { isEmbedded });
    const asMany = isEmbedded ? 'as many as in the backup' : 'at least as many as when the backup began';
    terminal.line(`  ${countsText(countsOf(manifest))}: ${asMany}`);
    return await reconciled(stores, config, manifest.moment, terminal);
  } finally {
    await stores.close();
  }
}

/** PostgreSQL records the parts of ClickHouse. Throws a `CommandFailure` if some are missing. */
export async function requireWhole(
  { db, clickhouse, lostEvents }: Pick<Stores, 'db' | 'clickhouse' | 'lostEvents'>,
  { isEmbedded = true } = {},
): Promise<void> {
  const log = pino({ level: 'silent' });
  const watch = createPartsWatch({ db, clickhouse, log, cluster: undefined, isEmbedded, lostEvents });
  await watch.check();
  const [problem] = watch.problems();
  if (problem !== undefined) throw new CommandFailure(`events are missing: ${problem}`);
}

/** The number of rows in these may decrease or change: copies of an id are merged, and migrations are added. */
const CHANGING = ['known_id_runs', 'schema_migrations'];

/**
 * An embedded ClickHouse has merged nothing yet. A server counted when its backup began: it may have more rows since,
 * and fewer events if a merge has collapsed copies. The parts of events that PostgreSQL has recorded must be there.
 */
async function requireRows(stores: Stores, manifest: Manifest, name: string): Promise<void> {
  if (CHANGING.includes(name)) return;
  const [rows, expected] = [await countRows(stores, name), storedRows(manifest, name)];
  const isOfServer = manifest.clickhouse.server !== undefined;
  if (isOfServer ? rows >= expected || name === 'usage_events' : rows === expected) return;
  throw new CommandFailure(`table ${name} has ${rows} rows, and ${expected} in the backup`);
}

const countRow = z.object({ rows: z.coerce.number() });

async function countRows({ clickhouse }: Stores, table: string): Promise<number> {
  const [row] = await clickhouse.query({ sql: `SELECT count() AS rows FROM ${table}`, schema: countRow });
  return countRow.parse(row).rows;
}

/** Compares as of the moment of the rows: anything due since is not late. Returns whether there is no difference. */
export async function reconciled(
  stores: Stores,
  config: Config,
  moment: Instant,
  terminal: Terminal,
): Promise<boolean> {
  const { db } = stores;
  const keptFrom = (await findEventRetention(db))?.keptFrom ?? null;
  const clock = await createServiceClock(db, config.sandboxNow ?? null);
  const eventFacts = factsWithoutIngest(() => keptFrom);
  const context = createBillingContext({
    ...{ config, db, eventFacts },
    clickhouse: stores.clickhouse,
    clock: clock.sandbox === null ? { now: () => moment } : clock,
    log: pino({ level: 'silent' }),
    tracer: NO_TRACER,
    repeats: createRepeatLog({ clickhouse: stores.clickhouse }),
  });
  let [invoices, customers, differences, unchecked] = [0, 0, 0, 0];
  let after: { readonly customerId: string } | null = null;
  do {
    const page: Awaited<ReturnType<typeof reconcileInvoices>> = await reconcileInvoices(context, {
      range: CLOCK_BOUNDS,
      customerId: null,
      after,
      limit: CUSTOMERS_PER_PAGE,
    });
    for (const row of page.rows) {
      customers += 1;
      invoices += row.invoiceCount;
      unchecked += row.unchecked.count;
      for (const difference of row.differences.first) {
        differences += 1;
        if (differences > SHOWN_MAX) continue;
        const { code, message, invoiceId } = difference;
        terminal.line(`  ${code}: customer ${row.customerId}, invoice ${invoiceId}: ${message}`);
      }
    }
    after = page.next;
  } while (after !== null);
  const found = differences === 0 ? 'no differences' : `${formatCount(differences)} differences`;
  const open = unchecked === 0 ? '' : `; ${formatCount(unchecked)} invoices not checked against events`;
  const of = `${formatCount(invoices)} invoices and drafts of ${formatCount(customers)} customers`;
  terminal.line(`  Reconciled ${of}: ${found}${open}.`);
  return differences === 0;
}
