/** A TCP port in front of the PostgreSQL of the run, which listens on a socket only, while a URL needs a port. */
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { inject } from 'vitest';
import { createEmptyDatabase } from './stores.ts';

export interface PostgresGateway {
  /** DATABASE_URL of a new, empty database. */
  createDatabase(): Promise<string>;
  close(): Promise<void>;
}

export async function startPostgresGateway(): Promise<PostgresGateway> {
  const postgres = inject('postgres');
  if (!('socketDir' in postgres)) throw new Error('the PostgreSQL of the run has a socket');
  const gateway = createServer((incoming) => {
    const outgoing = connect(join(postgres.socketDir, '.s.PGSQL.5432'));
    incoming.pipe(outgoing).pipe(incoming);
    incoming.on('error', () => outgoing.destroy());
    outgoing.on('error', () => incoming.destroy());
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const { port } = gateway.address() as AddressInfo;
  return {
    async createDatabase() {
      const created = await createEmptyDatabase();
      if (!('socketDir' in created)) throw new Error('the PostgreSQL of the run has a socket');
      return `postgres://${created.user}@127.0.0.1:${port}/${created.database}`;
    },
    close: () => new Promise<void>((resolve) => gateway.close(() => resolve())),
  };
}
