/**
 * The embedded PostgreSQL with its pool, and with checks of its completeness (docs/how-to/operations.md, "Damaged
 * data"). Damage ends the start with one line: contracts and invoices are useless if incomplete.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SECOND_MS } from '../../core/time.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../embedded/postgres.ts';
import { EmbeddedPostgresError } from '../../embedded/postgres-binaries.ts';
import type { Logger } from '../../log.ts';
import { createPoll, ignoreFailure } from '../../runtime/poll.ts';
import { damagedRelations, endOfLog, hasLogUpTo, readRelations } from '../../store/base/check-relations.ts';
import { createDatabase, type Database, type DatabasePool } from '../../store/base/database.ts';

export interface EmbeddedDatabase {
  readonly embedded: EmbeddedPostgres;
  readonly pool: DatabasePool;
  close(): Promise<void>;
}

/** The durable position of PostgreSQL's log, stored beside its files so that both are restored together. */
const POSITION_FILE = 'tallyhouse-log-position';
const POSITION_INTERVAL_MS = 2 * SECOND_MS;
const POSITION = /^[\dA-F]{1,8}\/[\dA-F]{1,8}$/;

/** Throws `EmbeddedPostgresError`, with one line that names the damage and the remedy. */
export async function openEmbeddedDatabase(
  directory: string,
  log: Logger | undefined,
): Promise<EmbeddedDatabase> {
  const embedded = await startEmbeddedPostgres({ directory, log });
  const pool = createDatabase(embedded.connection);
  const position = join(embedded.dataDir, POSITION_FILE);
  const close = async () => {
    // The pool first, so that no query meets a server that is stopping.
    await pool.close();
    await embedded.stop();
  };
  try {
    await check(embedded, pool.db, position);
  } catch (error) {
    await close();
    if (error instanceof EmbeddedPostgresError) throw error;
    // An intact server refuses none of the queries so far.
    throw damaged(embedded.dataDir, reasonOf(error), null);
  }
  const recording = recordPosition(pool.db, position);
  return {
    embedded,
    pool,
    close: async () => {
      await recording.stop();
      await close();
    },
  };
}

async function check({ dataDir, suspects }: EmbeddedPostgres, db: Database, position: string): Promise<void> {
  const recorded = (await readFile(position, 'utf8').catch(() => '')).trim();
  if (POSITION.test(recorded) && !(await hasLogUpTo(db, recorded))) {
    throw damaged(dataDir, `its log (pg_wal) ends before ${recorded}, which was written`, position);
  }
  const [first] = await damagedRelations(db, suspects);
  if (first !== undefined) throw damaged(dataDir, first, join(dataDir, 'tallyhouse-files-before'));
  await readRelations(db);
}

function damaged(dataDir: string, what: string, record: string | null): EmbeddedPostgresError {
  const rest = record === null ? '' : `; to start with what is left, remove ${record}`;
  return new EmbeddedPostgresError(
    `files of the embedded PostgreSQL are damaged: in ${dataDir}, ${what}. ` +
      `Put ${dataDir} back from a backup${rest}`,
  );
}

/** The message of PostgreSQL itself, without the statement. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message.split('\n', 1).join('') : reasonOf(error.cause);
}

/** Records, every few seconds, how far the log is on disk. An older position stays valid. */
function recordPosition(db: Database, path: string) {
  let last = '';
  const look = async () => {
    const { written, isDurable } = await endOfLog(db);
    if (!isDurable || written === last) return;
    await writeFile(`${path}.new`, written);
    await rename(`${path}.new`, path);
    last = written;
  };
  // While PostgreSQL does not answer or the disk is full, the position before stays.
  const poll = createPoll({
    name: 'position of PostgreSQL',
    intervalMs: POSITION_INTERVAL_MS,
    work: look,
    onFailure: ignoreFailure,
  });
  poll.start();
  return {
    async stop() {
      await poll.close();
      await look().catch(() => undefined);
    },
  };
}
