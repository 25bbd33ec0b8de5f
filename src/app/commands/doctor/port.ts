/** Checks whether the service can listen on its configured port, or listens there already. */
import { createServer } from 'node:net';
import { z } from 'zod';
import type { Config } from '../../../config.ts';
import { type Finding, fine, wrong } from './finding.ts';

/** The identity of data; null: it cannot be read. Embedded stores run with their service only. */
export type DataId = string | 'not running' | null;

const ANSWER_MS_MAX = 5_000;

/** The answer of a ready service, or of one that is not, with its problems. */
const readiness = z.union([
  z.object({ status: z.literal('ready'), checks: z.object({}), data_id: z.string().optional() }),
  z.object({ message: z.string().startsWith('Not ready: ') }),
]);

/** `ownDataId` reads the identity of the configured data (`dataIdOf`). */
export async function checkPort(
  { host, port, dataDir, databaseUrl }: Pick<Config, 'host' | 'port' | 'dataDir' | 'databaseUrl'>,
  ownDataId: () => Promise<DataId>,
): Promise<readonly Finding[]> {
  const refused = await listenCode(host, port);
  if (refused === null) return [fine('port', `PORT ${port} of HOST ${host} is free: no service runs there`)];
  if (refused !== 'EADDRINUSE')
    return [wrong('port', `PORT ${port} of HOST ${host} cannot be used: ${refused}`)];
  const url = `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${port}`;
  const answer = await readinessOf(url);
  if (answer === null)
    return [wrong('port', `PORT ${port} of HOST ${host} is used by another program: set PORT`)];
  if ('message' in answer) return [wrong('service', answer.message)];
  if (answer.data_id === undefined || !isOther(answer.data_id, await ownDataId()))
    return [fine('service', `it is ready at ${url}`)];
  const here = databaseUrl === undefined ? `DATA_DIR ${dataDir}` : 'DATABASE_URL';
  return [
    wrong(
      'service',
      `the service at ${url} has other data than ${here}: set PORT, or ${here.split(' ')[0]}, as it has`,
    ),
  ];
}

function isOther(dataId: string, own: DataId): boolean {
  return own === 'not running' || (own !== null && own !== dataId);
}

/** Null if it can listen there. */
async function listenCode(host: string, port: number): Promise<string | null> {
  const server = createServer();
  const code = await new Promise<string | null>((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => resolve(null));
  });
  if (code === null) await new Promise((resolve) => server.close(resolve));
  return code;
}

async function readinessOf(url: string): Promise<z.output<typeof readiness> | null> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return readiness.parse(await answer.json());
  } catch {
    return null;
  }
}
