/** A start that a migration prevents: one line that says what to do, and no change of the stores. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../src/embedded/postgres.ts';
import { migrateDatabase } from '../../src/store/migrations/migrate.ts';
import {
  connectPostgres,
  type PostgresConnection,
} from '../../src/store/postgres-driver/connect-postgres.ts';
import { DOCTOR_LINE, type Program, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { drizzleFolderOf, drizzleFolderWith } from '../support/migration-folders.ts';

let dataDir: string;
let program: Program | undefined;

beforeEach(async () => {
  dataDir = await createDataDirectory();
});
afterEach(async () => {
  program?.child.kill('SIGKILL');
  await program?.ended;
});

/** Puts something into the PostgreSQL of the data directory while no service runs. */
async function prepare(work: (connection: PostgresConnection) => Promise<void>): Promise<void> {
  const postgres = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres') });
  try {
    await work(postgres.connection);
  } finally {
    await postgres.stop();
  }
}

/** The message of the process when it does not start. */
async function refusal(): Promise<string> {
  program = runProgram('src/main.ts', [], { PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'fatal' });
  expect(await program.ended).toBe(1);
  expect(program.stdout()).toBe('');
  expect(program.stderr()).toContain(DOCTOR_LINE);
  return program.stderr().replace(DOCTOR_LINE, '');
}

// A start of a whole PostgreSQL, and then of a whole service.
describe('a start is refused with one line', () => {
  test('a start is refused with one line on the data of a newer version', async () => {
    await prepare(async (connection) =>
      migrateDatabase(connection, await drizzleFolderWith({ '0801_newer': 'create table newer (n int);' })),
    );
    expect(await refusal()).toMatch(
      /^tallyhouse: PostgreSQL has the migration 0801_newer, which this version of tallyhouse does not know: [^\n]*\n$/,
    );
  });

  test('a start is refused with one line when a migration fails', async () => {
    await prepare(async (connection) => {
      await migrateDatabase(connection, await drizzleFolderOf([]));
      const client = connectPostgres(connection, { max: 1 });
      await client`create table billable_metrics (n int)`;
      await client.end();
    });
    expect(await refusal()).toMatch(
      /^tallyhouse: migration 0000_initial could not be applied to PostgreSQL: relation "billable_metrics" already exists\. [^\n]*\n$/,
    );
  });
});
