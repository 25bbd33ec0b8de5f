/**
 * Long work is done in parts, between which the process answers other requests: each operation at its limits gives its
 * thread away before most of its work is done. Both are CPU time of the main thread in one run, so other work on the
 * machine changes nothing. `npm run bench -- loop` measures the milliseconds.
 */
import { readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { LimitsClient } from '../support/at-limits/client.ts';
import { OPERATIONS_AT_LIMITS } from '../support/at-limits/operations.ts';
import { NOW } from '../support/at-limits/parts.ts';
import { createWorld, type LimitsWorld } from '../support/at-limits/world.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: NOW });

/** Less work than this may be done in one go. */
const SHORT_MS = 150;
const SHARE_MAX = 0.5;
const RUNS = 3;

let world: LimitsWorld;

/** Answers are not read as JSON: that would be work of this thread too. */
const client: LimitsClient = {
  get: (path) => sent('GET', path),
  post: (path, body) => sent('POST', path, body),
  take: (path) => sent('GET', path),
};

async function sent(method: string, path: string, body?: unknown): Promise<void> {
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  expect(response.status).toBe(200);
}

/** CPU time of this thread; where the system does not tell, the time that passed. */
function milliseconds(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}

/** The CPU time of the work, and the longest part of it in one turn. */
async function watched(work: () => Promise<unknown>): Promise<{ all: number; longest: number }> {
  const start = milliseconds();
  let [longest, last] = [0, start];
  const watch = setInterval(() => {
    const now = milliseconds();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  try {
    await work();
  } finally {
    clearInterval(watch);
  }
  const end = milliseconds();
  return { all: end - start, longest: Math.max(longest, end - last) };
}

beforeAll(async () => {
  const made: LimitsClient = {
    get: async (path) => (await service.inProcess.get(path)).body,
    post: async (path, body) => (await service.inProcess.post(path, body)).body,
    take: (path) => sent('GET', path),
  };
  world = await createWorld(made, {
    ...{ values: 5_000, eventsOfValue: 4, contracts: 200, rates: 1_000, aliases: 2_000, commits: 200 },
    ...{ seats: 200, issuedLines: 2_000, importedLines: 2_000, alerts: 100, names: 200, models: 2_000 },
  });
});

describe('at its limits an operation gives its thread away before most of its work is done:', () => {
  test.each(OPERATIONS_AT_LIMITS.map((one) => [one.operation, one.at, one] as const))(
    '%s, %s',
    async (_operation, _at, { call, isDoneOnce }) => {
      const shares: number[] = [];
      for (let run = 0; run < (isDoneOnce ? 1 : RUNS); run += 1) {
        const { all, longest } = await watched(() => call(client, world));
        shares.push(all < SHORT_MS ? 0 : longest / all);
      }
      // One run may meet a collection of garbage.
      expect(Math.min(...shares)).toBeLessThan(SHARE_MAX);
    },
  );
});

test('a customer has at most a thousand contracts', async () => {
  const customer_id = await createdId(service.api, '/v1/customers', { name: 'Many' });
  const create = () =>
    service.api.send('POST', '/v1/contracts/create', { customer_id, starting_at: '2026-11-01T00:00:00Z' });
  expect((await create()).status).toBe(200);
  await service.db.execute(sql`
    insert into contracts
    select (jsonb_populate_record(null::contracts, to_jsonb(one) || jsonb_build_object('id', gen_random_uuid()))).*
    from contracts one cross join generate_series(1, 998) where one.customer_id = ${customer_id}::uuid`);
  expect((await create()).status).toBe(200);
  const refused = await create();
  expect(refused.status).toBe(409);
  expect(refused.body).toEqual({ message: 'a customer has at most 1,000 contracts that are not archived' });
});
