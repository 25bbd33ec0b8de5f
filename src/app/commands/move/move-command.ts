/**
 * The command that moves the embedded stores to servers (docs/how-to/move-to-servers.md), of a running or a stopped
 * service. The order ensures that nothing is lost if it is interrupted:
 *
 *
 * 1. Earlier events are copied while the service continues.
 * 2. The service accepts no more changes. The rest of the events is copied, then PostgreSQL, and all of it is compared.
 * 3. DATA_DIR records that the stores have moved. Until then the embedded stores are in use, and nobody may use the
 *    servers.
 * 4. The servers are released.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { type Config, ConfigError, processEnvironment } from '../../../config.ts';
import { MigrationError } from '../../../core/migrations.ts';
import { formatInstant } from '../../../core/time.ts';
import { EmbeddedClickHouseError } from '../../../embedded/chdb-engine.ts';
import { DataDirectoryError } from '../../../embedded/data-directory.ts';
import { EventLogError } from '../../../embedded/event-log/files.ts';
import {
  forgetMove,
  type MoveRecord,
  movedText,
  readMove,
  writeMove,
} from '../../../embedded/move-record.ts';
import { EmbeddedPostgresError } from '../../../embedded/postgres-binaries.ts';
import { copiedTables } from '../../../metering/copies/copied-tables.ts';
import {
  type CopiedRows,
  copyTable,
  countRows,
  TableCopyError,
} from '../../../metering/copies/copy-tables.ts';
import { createDatabase } from '../../../store/base/database.ts';
import {
  DatabaseCopyError,
  type DatabaseSnapshot,
  withHeldDatabase,
} from '../../../store/base/database-copy.ts';
import { LOCKS } from '../../../store/base/lock-numbers.ts';
import { endMove } from '../../../store/base/move-target.ts';
import { findPendingMigrations } from '../../../store/migrations/migrate.ts';
import { CommandFailure, EXIT, failingWith } from '../../failures/command-failure.ts';
import { StoreFailure } from '../../failures/store-failure.ts';
import { reconciled } from '../backup/verify-restored.ts';
import { commandConfig } from '../command-config.ts';
import { formatCount } from '../terminal/number-format.ts';
import { createProgress } from '../terminal/progress.ts';
import { createTerminal, type Terminal } from '../terminal/terminal.ts';
import { type MovedRows, movePostgres, OF_THE_PLACE } from './move-postgres.ts';
import type { MoveOptions } from './options.ts';
import { reportMove } from './report.ts';
import { type MoveSource, openSource } from './source.ts';
import {
  claimTarget,
  inOptions,
  type MoveTarget,
  openTarget,
  type TargetPlace,
  targetPlace,
} from './target.ts';

const EXPECTED = [
  ...[ConfigError, DatabaseCopyError, TableCopyError, DataDirectoryError, MigrationError, StoreFailure],
  ...[EmbeddedPostgresError, EmbeddedClickHouseError, EventLogError],
];

/** Returns the exit code. Throws a `CommandFailure` if the move cannot run. */
export async function moveCommand(options: MoveOptions): Promise<number> {
  try {
    return await failingWith(EXPECTED, async () => {
      const config = commandConfig();
      if (config.databaseUrl !== undefined || config.clickhouseUrl !== undefined)
        throw new CommandFailure(
          'DATABASE_URL or CLICKHOUSE_URL is set: it moves stores of which both are embedded in DATA_DIR',
        );
      return options.kind === 'abort' ? await abort(config) : await move(config, options);
    });
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    throw new CommandFailure(inOptions(error.message), { cause: error, exitCode: error.exitCode });
  }
}

/** Possible while the embedded stores are still in use. Rows on the servers are left there. */
async function abort({ dataDir }: Config): Promise<number> {
  const record = await readMove(dataDir);
  if (record === null) throw new CommandFailure(`no move of DATA_DIR ${dataDir} was begun`);
  if (record.movedAt !== null)
    throw new CommandFailure(`${movedText(record)}: that has ended and cannot be undone here`);
  await forgetMove(dataDir);
  const { postgres, clickhouse } = record.to;
  process.stdout.write(
    `The move is forgotten: the stores in ${dataDir} count as before. Remove what is in ${postgres} and ${clickhouse} before these are used.\n`,
  );
  return EXIT.done;
}

type Options = Extract<MoveOptions, { kind: 'move' }>;

async function move(config: Config, options: Options): Promise<number> {
  const terminal = createTerminal(options.json ? process.stderr : process.stdout);
  const place = targetPlace(options, processEnvironment());
  const before = await readMove(config.dataDir);
  if (before !== null) requireSamePlace(before, place);
  if (before !== null && before.movedAt !== null) {
    // It was killed between its last two steps.
    await endMove({ url: place.postgresUrl }, before.id);
    terminal.line(`Done already: ${movedText(before)}.`);
    return EXIT.done;
  }
  requireStores(config);
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const source = await openSource(config);
  try {
    await requireThisVersion(source);
    const record = before ?? (await begun(config, place));
    await claimTarget(place, record);
    const target = await openTarget(place);
    try {
      await moveAll({ source, target, place, record, options, terminal });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
  return EXIT.done;
}

/** Before the servers are marked as targets. If they are not empty, no move was begun. */
async function begun({ dataDir }: Config, place: TargetPlace): Promise<MoveRecord> {
  const startedAt = formatInstant(Date.now());
  const record = { id: randomUUID(), to: place.to, startedAt, movedAt: null };
  await writeMove(dataDir, record);
  try {
    await claimTarget(place, record);
  } catch (error) {
    await forgetMove(dataDir);
    throw error;
  }
  return record;
}

function requireSamePlace(record: MoveRecord, { to }: TargetPlace): void {
  if (record.to.postgres === to.postgres && record.to.clickhouse === to.clickhouse) return;
  if (record.movedAt !== null) throw new CommandFailure(movedText(record));
  throw new CommandFailure(
    `a move to ${record.to.postgres} and ${record.to.clickhouse} has not ended: continue it, or forget it by tallyhouse move --abort`,
  );
}

function requireStores({ dataDir }: Config): void {
  if (['postgres', 'clickhouse'].every((name) => existsSync(join(dataDir, name)))) return;
  throw new CommandFailure(`there are no embedded stores in DATA_DIR ${dataDir}`);
}

/** The servers get the tables of this version. */
async function requireThisVersion(source: MoveSource): Promise<void> {
  const pool = createDatabase(await source.connection());
  try {
    const [pending] = await findPendingMigrations(pool.db);
    if (pending !== undefined)
      throw new CommandFailure(
        `the service here does not have migration ${pending.name}: start it with this version first`,
      );
  } finally {
    await pool.close();
  }
}

interface Move {
  readonly source: MoveSource;
  readonly target: MoveTarget;
  readonly place: TargetPlace;
  readonly record: MoveRecord;
  readonly options: Options;
  readonly terminal: Terminal;
}

async function moveAll(moving: Move): Promise<void> {
  const { source, target, record, options, terminal } = moving;
  const { to } = record;
  const startedMs = performance.now();
  terminal.line(`Moving to ${to.postgres} and ${to.clickhouse}.`);
  if (source.isRunning) {
    await copyEvents(moving, 'are on the server');
    terminal.line('The service takes no changes and no events from now on, until it has moved.');
  }
  const heldMs = performance.now();
  await source.hold();
  const held = { lock: LOCKS.move, except: OF_THE_PLACE };
  const [events, rows] = await withHeldDatabase(await source.connection(), held, async (snapshot) => {
    const moved = [
      await copyEvents(moving, 'are the same on both sides'),
      await copyRows(moving, snapshot),
    ] as const;
    await requireReconciled(moving, snapshot);
    await snapshot.check();
    await source.leave(record);
    return moved;
  });
  await endMove(target.connection, record.id);
  const seconds = {
    all: (performance.now() - startedMs) / 1_000,
    held: (performance.now() - heldMs) / 1_000,
  };
  reportMove({ record, events, rows, seconds, isRunning: source.isRunning }, options.json, terminal);
}

async function copyEvents({ source, target, place, terminal }: Move, what: string): Promise<CopiedRows[]> {
  const tables = copiedTables(Date.now());
  const opened = await source.openTables(tables.map(({ name }) => name));
  try {
    const copied: CopiedRows[] = [];
    for (const table of tables) {
      const total = await countRows(opened.clickhouse, table);
      const progress = createProgress(terminal, {
        unit: `rows of ${table.name}`,
        total: total === 0 ? null : total,
      });
      const copy = {
        from: opened.clickhouse,
        to: target.clickhouse,
        cluster: place.config.clickhouseCluster,
        onRows: (rows: number) => progress.advance(rows),
      };
      const done = await copyTable(copy, table);
      progress.end();
      const [rows, now] = [formatCount(done.rows), formatCount(done.copiedRows)];
      terminal.line(`  ${table.name}: ${rows} rows ${what}, ${now} of them now`);
      copied.push(done);
    }
    return copied;
  } finally {
    await opened.close();
  }
}

async function copyRows({ target, terminal }: Move, snapshot: DatabaseSnapshot): Promise<MovedRows> {
  const progress = createProgress(terminal, { unit: 'MB of PostgreSQL', total: null });
  const moved = await movePostgres(snapshot, target.connection, (bytes) =>
    progress.advance(bytes / 1_000_000),
  );
  progress.end();
  const rows = formatCount(moved.rows);
  terminal.line(`  PostgreSQL: ${rows} rows of ${moved.tables.size} tables are the same on both sides`);
  return moved;
}

/** Checks that the servers compute the same from the same rows. */
async function requireReconciled(
  { target, place, options, terminal }: Move,
  snapshot: DatabaseSnapshot,
): Promise<void> {
  if (!options.reconciles) return;
  if (await reconciled(target.stores, place.config, snapshot.moment, terminal)) return;
  throw new CommandFailure(
    'the servers compute other numbers from the same rows, or the stores here differ already (tallyhouse reconcile): nothing was moved',
  );
}
