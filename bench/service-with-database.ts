/** The built service on temporary data, and its database beside it: to look, and to fill it faster than requests could. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runningPostgres } from '../src/embedded/postgres.ts';
import { createDatabase, type Database } from '../src/store/base/database.ts';
import { startTemporaryService, type TemporaryService } from './temporary-service.ts';

interface ServiceWithDatabase {
  readonly service: TemporaryService;
  readonly db: Database;
  /** Removes the data. */
  close(): Promise<void>;
}

export async function startServiceWithDatabase(
  environment: Readonly<Record<string, string>>,
): Promise<ServiceWithDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'tallyhouse-bench-'));
  // PostgreSQL may run under another account.
  await chmod(directory, 0o755);
  const service = await startTemporaryService(directory, environment);
  const connection = await runningPostgres(join(directory, 'postgres'));
  if (connection === null) throw new Error('the database of the service was not found');
  const pool = createDatabase(connection);
  return {
    service,
    db: pool.db,
    async close() {
      await pool.close();
      await service.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
