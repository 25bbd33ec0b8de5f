/** A PostgreSQL database and a ClickHouse by HTTP, on which a test starts several processes of the service. */
import { join } from 'node:path';
import { type BillingProcess, startBillingProcess } from './billing-process.ts';
import { frontUrl, startFrontProcess } from './front-process.ts';
import { startStoreProxy } from './store-proxy.ts';
import { createTestDatabase, createTestDirectory, type TestDatabase } from './stores.ts';

export interface SharedStores {
  readonly database: TestDatabase;
  /** Starts a process, which shares the sandbox clock with the others. */
  start(name: string, env?: Record<string, string>): Promise<BillingProcess>;
  /** Kills the processes and removes the stores. */
  close(): Promise<void>;
}

/** `now` is the sandbox clock of the first process that starts. */
export async function createSharedStores(now: string): Promise<SharedStores> {
  const directory = await createTestDirectory();
  const front = await startFrontProcess({ directory: join(directory, 'front'), port: 0 });
  const database = await createTestDatabase();
  const { connection } = database;
  if (!('socketDir' in connection)) throw new Error('the PostgreSQL of the run has a socket');
  // It listens on a socket only; a URL needs a port.
  const gateway = await startStoreProxy({ path: join(connection.socketDir, '.s.PGSQL.5432') });
  const services: BillingProcess[] = [];
  return {
    database,
    async start(name, env = {}) {
      const stores = {
        postgres: `postgres://${connection.user}@127.0.0.1:${gateway.port}/${connection.database}`,
        clickhouse: frontUrl(front.port, 'billing'),
      };
      const service = await startBillingProcess(stores, join(directory, name), now, env);
      services.push(service);
      return service;
    },
    async close() {
      await Promise.all(services.map((service) => service.kill()));
      await gateway.close();
      await front.kill();
      await database.close();
    },
  };
}
