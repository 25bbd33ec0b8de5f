/** A PostgreSQL that accepts TLS over TCP, with a self-signed certificate for `localhost`. */
import { chmod, chown, copyFile, mkdir } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/embedded/postgres.ts';
import { postgresAccount } from '../../src/embedded/postgres-account.ts';
import { copyCluster } from './data-directory.ts';
import { createTestDirectory } from './stores.ts';

export interface TcpPostgres {
  readonly port: number;
  stop(): Promise<void>;
}

export async function startTcpPostgres({ takesTls }: { readonly takesTls: boolean }): Promise<TcpPostgres> {
  const open = join(await createTestDirectory(), 'open');
  const directory = join(open, 'postgres');
  // Its parent must let PostgreSQL's account through.
  await mkdir(open);
  await copyCluster(directory);
  const port = await freePort();
  const server = await startEmbeddedPostgres({
    directory,
    settings: {
      listen_addresses: '127.0.0.1',
      port: String(port),
      ...(takesTls ? await tlsFiles(directory) : {}),
    },
  });
  return { port, stop: () => server.stop() };
}

async function tlsFiles(directory: string): Promise<Readonly<Record<string, string>>> {
  const account = await postgresAccount();
  const place = async (name: string) => {
    const path = join(directory, name);
    await copyFile(join(import.meta.dirname, 'tls', name), path);
    await chmod(path, 0o600);
    if (account !== undefined) await chown(path, account.uid, account.gid);
    return path;
  };
  return { ssl: 'on', ssl_cert_file: await place('server.crt'), ssl_key_file: await place('server.key') };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
