/**
 * Answers of POST /v1/sql whose ClickHouse is lost while they are sent: the client learns that what it has is not all,
 * and nothing of them is left.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { USER_FILES } from '../../src/embedded/chdb-engine.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createRemoteClickHouse, createRemoteDatabase } from '../../src/metering/client/clickhouse-remote.ts';
import { applySchema } from '../../src/metering/schema/schema.ts';
import { createdId } from '../support/catalogue-api.ts';
import { frontUrl, startFrontProcess } from '../support/front-process.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Ending, type StoreProxy, startStoreProxy } from '../support/store-proxy.ts';
import { createTestDirectory } from '../support/stores.ts';

const CUSTOMERS = 20;
const EVENTS = 100;
const TEXT_BYTES = 15_000;
/** Some 40 MB, in this order also as a compressed file: more than is on the way at any moment. */
const LONG = `SELECT c.customer_id || e.properties.text AS text FROM customers c CROSS JOIN events e
  ORDER BY c.customer_id, e.transaction_id`;
/** Pieces of at most 64 KB: the answer has begun, and most of it is still to come. */
const PIECES_BEFORE_CUT = 100;
const FORMS = ['application/json', 'text/csv', 'application/vnd.apache.parquet'];

async function serviceOn(clickhouse?: ClickHouse): Promise<TestService> {
  // The answers that are broken off are in its log.
  const log = pino({ level: 'silent' });
  const service = await startTestService({ log, ...(clickhouse === undefined ? {} : { clickhouse }) });
  onTestFinished(() => service.close());
  for (let index = 0; index < CUSTOMERS; index += 1) {
    const names = { name: `customer ${index}`, ingest_aliases: [`customer-${index}`] };
    await createdId(service.api, '/v1/customers', names);
  }
  const events = Array.from({ length: EVENTS }, (_, index) => ({
    ...{ transaction_id: `text ${index}`, customer_id: 'customer-0', event_type: 'text' },
    timestamp: '2026-11-05T00:00:00Z',
    properties: { text: randomBytes(TEXT_BYTES).toString('base64') },
  }));
  for (const half of [events.slice(EVENTS / 2), events.slice(0, EVENTS / 2)]) {
    await service.api.post('/v1/ingest', half);
  }
  return service;
}

const ask = (service: TestService, accept: string, sql = LONG) =>
  fetch(new URL('/v1/sql', service.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json', accept },
    body: JSON.stringify({ sql }),
  });

/** Reads the first piece, then does what happens `meanwhile`, and reads on. */
async function readOn(answer: Response, meanwhile: () => Promise<unknown>): Promise<void> {
  const reader = answer.body?.getReader();
  if (reader === undefined) throw new Error('the answer has a body');
  await reader.read();
  await meanwhile();
  while (!(await reader.read()).done);
}

describe('an embedded engine that stops', () => {
  /** Where the answers of this service are while they are sent. */
  async function answersOf({ clickhouse }: TestService): Promise<string> {
    const sql = 'SELECT currentDatabase() AS name';
    const [own] = await clickhouse.query({ sql, schema: z.object({ name: z.string() }) });
    const engines = (await readdir(inject('storeDirectory'))).filter((name) =>
      name.startsWith('clickhouse-'),
    );
    const paths = engines.map((name) => join(inject('storeDirectory'), name, USER_FILES, own?.name ?? ''));
    const found = paths.find((path) => existsSync(path));
    if (found === undefined) throw new Error('the engine has a directory of files for the database');
    return found;
  }

  test.each(FORMS)('an embedded engine that stops breaks the answer off: %s', async (accept) => {
    const service = await serviceOn();
    const directory = await answersOf(service);
    const answer = await ask(service, accept);
    expect(answer.status).toBe(200);
    const stop = async () => {
      // The answer, and the tables that the statement reads.
      expect(await readdir(directory)).not.toEqual([]);
      await service.clickhouse.cancelQueries();
    };
    await expect(readOn(answer, stop)).rejects.toThrow(/terminated/);
    await expect.poll(() => readdir(directory)).toEqual([]);
  });
});

describe('a connection to a server that is cut', () => {
  async function behindProxy(): Promise<{ readonly service: TestService; readonly proxy: StoreProxy }> {
    const directory = await createTestDirectory();
    const front = await startFrontProcess({ directory: join(directory, 'front'), port: 0 });
    onTestFinished(() => front.kill());
    const proxy = await startStoreProxy({ host: '127.0.0.1', port: front.port });
    onTestFinished(() => proxy.close());
    const server = { url: frontUrl(proxy.port, 'billing') };
    await createRemoteDatabase(server);
    const clickhouse = createRemoteClickHouse(server);
    await applySchema(clickhouse, undefined);
    return { service: await serviceOn(clickhouse), proxy };
  }

  test('a connection to a server that is cut breaks the answer off or has it refused, whatever its form', async () => {
    const { service, proxy } = await behindProxy();
    for (const ending of ['closed', 'reset'] as const satisfies readonly Ending[]) {
      for (const accept of FORMS) {
        const cut = proxy.cutAt({ direction: 'answer', after: PIECES_BEFORE_CUT, ending });
        const answer = await ask(service, accept);
        // An answer that was cut before the service had begun it is refused.
        if (answer.status === 200) await expect(readOn(answer, () => cut)).rejects.toThrow(/terminated/);
        else expect(answer.status).toBe(503);
        await cut;
        const next = await ask(service, accept, 'SELECT COUNT(*) AS n FROM customers');
        expect(next.status).toBe(200);
        await next.arrayBuffer();
      }
    }
  });
});
