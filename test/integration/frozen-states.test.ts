/** The present service reads all data in the stores of every earlier version (docs/explanation/upgrades.md). */
import { isNotNull } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JsonNumber, stringifyJson } from '../../src/api/base/json.ts';
import { createApplication } from '../../src/app/application/application.ts';
import type { Application } from '../../src/app/application/application-parts.ts';
import { migrateStores } from '../../src/app/stores/migrate-stores.ts';
import { parseRfc3339 } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { commits } from '../../src/store/balances/commits.tables.ts';
import { createDatabase, type Database, type DatabasePool } from '../../src/store/base/database.ts';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { isPlainObject } from '../support/contract.ts';
import { asDecided, comparable } from '../support/decided-changes.ts';
import { undoChanges } from '../support/frozen-changes.ts';
import { type FrozenFacts, frozenStates, readFrozenAnswers } from '../support/frozen-state.ts';
import { numberedInvoices } from '../support/issued-invoices.ts';
import { loadFrozenState } from '../support/load-frozen-state.ts';
import { createEmptyClickHouse, createEmptyDatabase } from '../support/stores.ts';

interface Running {
  readonly api: ApiClient;
  readonly db: Database;
  readonly now: string;
  close(): Promise<void>;
}

async function upgrade(name: string): Promise<Running> {
  const postgres = await createEmptyDatabase();
  const clickhouse = await createEmptyClickHouse();
  const facts = await loadFrozenState(name, { postgres, clickhouse });
  await migrateStores({ postgres, clickhouse, cluster: undefined });
  const pool = createDatabase(postgres);
  const application = await start(pool, clickhouse, facts);
  const request = (path: string, init: RequestInit) =>
    application.fetch(new Request(`http://frozen.invalid${path}`, init));
  return {
    api: createApiClient({ hono: { request }, routes: application.routes }, facts.token),
    db: pool.db,
    now: facts.now,
    async close() {
      await application.close();
      await clickhouse.close();
      await pool.close();
    },
  };
}

function start(pool: DatabasePool, clickhouse: ClickHouse, facts: FrozenFacts): Promise<Application> {
  return createApplication({
    config: {
      apiToken: facts.token,
      gracePeriodHours: 24,
      ingestWindowDays: 34,
      sandboxNow: parseRfc3339(facts.now) ?? undefined,
    },
    log: pino({ level: 'warn' }),
    stores: { db: pool.db, clickhouse, pingPostgres: pool.ping },
    firstToken: async () => ({ token: facts.token }),
  });
}

/** Requests under way at the same time. */
const AT_ONCE = 6;

/** Where the page after this one begins is the service's own business. */
const CURSOR = 'next_page';

/**
 * The parts of `then` that are not in `now`, as paths. A member that was added since is no difference; a value, a
 * missing member and the number of items in a list are.
 */
function differences(then: unknown, now: unknown, path = '$'): string[] {
  if (Array.isArray(then) && Array.isArray(now) && then.length === now.length) {
    return then.flatMap((item, index) => differences(item, now[index], `${path}[${index}]`));
  }
  if (isPlainObject(then) && isPlainObject(now)) {
    return Object.entries(then).flatMap(([name, value]) =>
      name === CURSOR && typeof value === 'string' && typeof now[name] === 'string'
        ? []
        : differences(value, now[name], `${path}.${name}`),
    );
  }
  const [was, is] = [stringifyJson(then), now === undefined ? 'missing' : stringifyJson(now)];
  return was === is ? [] : [`${path}: was ${was}, is ${is}`];
}

describe('the comparison of answers', () => {
  test('the comparison of answers takes added members, and nothing else, for the same answer', () => {
    const then = { id: 'a', list: [{ n: 1 }], none: null };
    expect(differences(then, { ...then, list: [{ n: 1, added: true }], added: 2 })).toEqual([]);
    expect(differences(then, { ...then, list: [] })).toHaveLength(1);
    expect(differences(then, { ...then, list: [{ n: 1.5 }] })).toEqual(['$.list[0].n: was 1, is 1.5']);
    expect(differences(then, { id: 'a', list: then.list })).toEqual(['$.none: was null, is missing']);
    expect(differences(new JsonNumber('1.0000000000000000000001'), 1)).toHaveLength(1);
    expect(differences({ [CURSOR]: 'a' }, { [CURSOR]: 'b' })).toEqual([]);
    expect(differences({ [CURSOR]: 'a' }, { [CURSOR]: null })).toHaveLength(1);
  });
});

describe.each(await frozenStates())('the frozen state %s', (name) => {
  let running: Running;

  beforeAll(async () => {
    running = await upgrade(name);
  });
  afterAll(() => running.close());

  test('the frozen state is answered as by the version that left it', async () => {
    const found: string[] = [];
    const answers = await readFrozenAnswers(name);
    for (let first = 0; first < answers.length; first += AT_ONCE) {
      const asked = answers.slice(first, first + AT_ONCE).map(async ({ request, answer }) => {
        const { method, path, body } = request;
        const now = await running.api.send(method, path, body);
        const where = `${method} ${path} ${body === undefined ? '' : JSON.stringify(body)}`;
        const compared = comparable(path, answer, undoChanges(name, now.body));
        return differences(asDecided(answer), compared).map((difference) => `${where} ${difference}`);
      });
      found.push(...(await Promise.all(asked)).flat());
    }
    expect(found).toEqual([]);
  });

  test('the frozen state has customers that are found by a part of their name', async () => {
    const all = await running.api.get('/v1/customers', { query: { limit: 100 } });
    const names = all.list('data').map((_, index) => all.text(`data[${index}].name`));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const found = await running.api.get('/v1/customers', { query: { limit: 100, search: name.slice(1) } });
      expect(found.list('data').map((_, index) => found.text(`data[${index}].name`))).toContain(name);
    }
  });

  test('the frozen state has what its recurring terms create', async () => {
    const created = await running.db.select().from(commits).where(isNotNull(commits.recurringCommitId));
    expect(created.length).toBeGreaterThan(0);
  });

  test('the frozen state has numbers on all issued invoices without gaps, those of before in the order of issue date and id', async () => {
    await running.api.post('/v1/sandbox/clock', { now: running.now });
    const issued = await numberedInvoices(running.db);
    expect(issued.length).toBeGreaterThan(0);
    for (const year of new Set(issued.map(({ issuedAt }) => new Date(issuedAt).getUTCFullYear()))) {
      const own = issued.filter((one) => one.year === year);
      expect(own.length).toBeGreaterThan(0);
      const positions = own.map(({ position }) => position ?? 0);
      expect(positions.toSorted((a, b) => a - b)).toEqual(own.map((_, index) => index + 1));
      // Scheduled invoices are issued by the upgrade, some of them dated earlier.
      const before = own.filter(({ type }) => type === 'USAGE').map(({ position }) => position ?? 0);
      expect(before).toEqual(before.toSorted((a, b) => a - b));
    }
    expect(issued.filter(({ number }) => number === null)).toEqual([]);
  });
});
