/** Installations for tests of price files: the API over a separate database, at an address. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stringifyJson } from '../../src/api/base/json.ts';
import { exportedFile } from '../../src/app/commands/prices/exported-file.ts';
import { readCatalogue } from '../../src/app/commands/prices/live-catalogue.ts';
import type { RunningService } from '../../src/app/commands/running-service.ts';
import type { ApiClient } from './api-client.ts';
import { createCatalogueApi } from './catalogue-api.ts';
import { createTestDatabase } from './stores.ts';

export interface PriceInstallation {
  readonly api: ApiClient;
  readonly service: RunningService;
  /** Its catalogue as `tallyhouse export` prints it. */
  exported(): Promise<string>;
  close(): Promise<void>;
}

/** An empty installation. `onCall` may refuse a call by throwing: then it is not executed, and the caller gets 503. */
export async function createInstallation(
  now: number,
  onCall: (path: string) => void = () => {},
): Promise<PriceInstallation> {
  const pool = await createTestDatabase();
  const api = createCatalogueApi(pool.db, { now });
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const path = request.url ?? '/';
    try {
      onCall(path);
    } catch {
      response.writeHead(503).end('{"message":"stopped"}');
      return;
    }
    if (path === '/v1/system/status') {
      response.end(JSON.stringify({ data: { now: new Date(now).toISOString() } }));
      return;
    }
    const rawBody = new Uint8Array(Buffer.concat(chunks));
    const options = rawBody.length === 0 ? {} : { rawBody, headers: { 'content-type': 'application/json' } };
    const answer = await api.send(request.method ?? 'GET', path, undefined, options);
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(answer.body === undefined ? '' : stringifyJson(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const service = { url: `http://127.0.0.1:${port}`, token: 'unused', tokenFrom: '--token' };
  return {
    api,
    service,
    exported: async () => exportedFile(await readCatalogue(service)),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await pool.close();
    },
  };
}
