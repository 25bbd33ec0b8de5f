/** Terms that change while an invoice is being finalized. */
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { finalizationJobKind } from '../../src/jobs/invoice-jobs.ts';
import { createJobRunner } from '../../src/jobs/job-runner.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import type { Database } from '../../src/store/base/database.ts';
import { jobs } from '../../src/store/jobs/jobs.tables.ts';
import { jobsContext } from '../support/billing-context.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { endOtherConnections, replaceLostConnections } from '../support/lost-connections.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { runs } from '../support/shares-of-tests.ts';

/** Its clock stands in the period, so its own runner finalizes nothing. */
const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db } = service;
const clock = { now: () => Date.UTC(2026, 11, 3) };

let scenario: Scenario;
let alias: string;
let customers = 0;

/** A customer with events under its alias, and under a name that is not its alias yet. */
async function startOver(): Promise<void> {
  await db.delete(jobs);
  customers += 1;
  alias = `customer-${customers}`;
  scenario = await createScenario(api, { alias });
  await api.post('/v1/ingest', [
    completion(alias, { id: `${alias} a`, at: '2026-11-03T00:00:00Z', tokens: 1_500 }),
    completion(alias, { id: `${alias} b`, at: '2026-11-08T00:00:00Z', tokens: 1_000, model: 'small' }),
    completion(`${alias} too`, { id: `${alias} c`, at: '2026-11-04T00:00:00Z', tokens: 700 }),
  ]);
}

beforeEach(startOver);
afterAll(async () => {
  await db.delete(jobs);
});

/** Calls `onCall` before each statement that finalization sends to ClickHouse, one call after the other. */
function hooked(call: () => Promise<void>): ClickHouse {
  const { clickhouse } = service;
  let last = Promise.resolve();
  const onCall = () => {
    last = last.then(call);
    return last;
  };
  return {
    ...clickhouse,
    query: async (statement) => {
      await onCall();
      return clickhouse.query(statement);
    },
    insertRows: async (insert) => {
      await onCall();
      return clickhouse.insertRows(insert);
    },
  };
}

function runnerOn(clickhouse: ClickHouse, through: Database = db) {
  const kind = finalizationJobKind(jobsContext({ db: through, clock, clickhouse }));
  const ping = () => clickhouse.ping();
  return createJobRunner(jobsContext({ db: through, clock, ping }), [kind]);
}

function runnerWith(onCall: () => Promise<void>) {
  return runnerOn(hooked(onCall));
}

/** The invoices of November with their lines, without what depends on being final. */
async function invoices(status: 'DRAFT' | 'FINALIZED'): Promise<unknown[]> {
  const answer = await api.get(`/v1/customers/${scenario.customerId}/invoices`, { query: { status } });
  return answer.list('data').map((_, index) => ({
    id: answer.at(`data[${index}].id`),
    end: answer.at(`data[${index}].end_timestamp`),
    total: answer.digits(`data[${index}].total`),
    lines: JSON.stringify(answer.at(`data[${index}].line_items`)),
  }));
}

const RATES = '/v1/contract-pricing/rate-cards/addRates';

function editContract(changes: object) {
  const { customerId: customer_id, contractId: contract_id } = scenario;
  return api.send('POST', '/v2/contracts/edit', { customer_id, contract_id, ...changes });
}

/** Each changes the invoice. The number distinguishes repeated changes. */
const CHANGES: Readonly<Record<string, (n: number) => Promise<unknown>>> = {
  rate: (n) =>
    api.post(RATES, {
      rate_card_id: scenario.rateCardId,
      rates: [
        {
          product_id: scenario.requestsProductId,
          starting_at: '2026-11-01T00:00:00Z',
          entitled: true,
          rate_type: 'FLAT',
          price: 10 + n,
        },
      ],
    }),
  override: (n) =>
    editContract({
      add_overrides: [
        {
          starting_at: '2026-11-01T00:00:00Z',
          type: 'MULTIPLIER',
          multiplier: 0.5 + n,
          product_id: scenario.requestsProductId,
        },
      ],
    }),
  alias: (n) =>
    api.post(`/v1/customers/${scenario.customerId}/setIngestAliases`, {
      ingest_aliases: n % 2 === 0 ? [alias, `${alias} too`] : [alias],
    }),
  product: (n) =>
    api.post('/v1/contract-pricing/products/update', {
      product_id: scenario.tokensProductId,
      starting_at: '2026-11-02T00:00:00Z',
      quantity_conversion: { conversion_factor: 2 + n, operation: 'MULTIPLY' },
    }),
  end: (n) => editContract({ update_contract_end_date: `2026-11-${n % 2 === 0 ? '05' : '07'}T00:00:00Z` }),
};

/** The queries for usage, and the insert of the hours. */
const CALLS_PER_PREPARATION = 4;

test.each(Object.keys(CHANGES))('a change of %s is on the invoice, whenever it happens', async (name) => {
  for (let moment = 1; moment <= CALLS_PER_PREPARATION; moment += 1) {
    await startOver();
    let calls = 0;
    let changed: unknown[] = [];
    const runner = runnerWith(async () => {
      calls += 1;
      if (calls !== moment) return;
      await CHANGES[name]?.(0);
      changed = await invoices('DRAFT');
    });
    expect(await runner.runDue(clock.now())).toEqual({ done: 1, failed: 0, isComplete: true });
    expect(changed).toHaveLength(1);
    expect(await invoices('FINALIZED')).toEqual(changed);
  }
});

test('an invoice is that of the last of many changes', async () => {
  const change = fc.record({
    name: fc.constantFrom(...Object.keys(CHANGES)),
    moment: fc.integer({ min: 1, max: 3 * CALLS_PER_PREPARATION }),
    n: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      await startOver();
      let calls = 0;
      let last = await invoices('DRAFT');
      const runner = runnerWith(async () => {
        calls += 1;
        const now = changes.filter(({ moment }) => moment === calls);
        for (const { name, n } of now) await CHANGES[name]?.(n);
        if (now.length > 0) last = await invoices('DRAFT');
      });
      // A job that is queued for an earlier end than the contract has now postpones itself, which counts as one more.
      expect(await runner.runDue(clock.now())).toMatchObject({ failed: 0, isComplete: true });
      expect(last).toHaveLength(1);
      expect(await invoices('FINALIZED')).toEqual(last);
    }),
    {
      numRuns: runs(12),
      examples: [
        [
          [
            { name: 'end', moment: 1, n: 0 },
            { name: 'end', moment: 2, n: 3 },
          ],
        ],
      ],
    },
  );
});

test('terms that never stand still delay the invoice, which is issued when they do', async () => {
  let calls = 0;
  let isChanging = true;
  const runner = runnerWith(async () => {
    calls += 1;
    if (isChanging && calls % CALLS_PER_PREPARATION === 0) await CHANGES.rate?.(calls);
  });
  expect(await runner.runDue(clock.now())).toEqual({ done: 0, failed: 1, isComplete: true });
  expect(calls).toBe(5 * CALLS_PER_PREPARATION);
  expect(await invoices('FINALIZED')).toEqual([]);
  isChanging = false;
  const draft = await invoices('DRAFT');
  expect(await runner.retryFailed(clock.now())).toEqual({ done: 1, failed: 0 });
  expect(await invoices('FINALIZED')).toEqual(draft);
});

test('a contract that is archived meanwhile has no invoice', async () => {
  let calls = 0;
  const runner = runnerWith(async () => {
    calls += 1;
    if (calls === 2) {
      const { customerId: customer_id, contractId: contract_id } = scenario;
      await api.post('/v1/contracts/archive', { customer_id, contract_id, void_invoices: false });
    }
  });
  await runner.runDue(clock.now());
  expect(calls).toBeGreaterThan(2);
  expect(await invoices('FINALIZED')).toEqual([]);
  expect(await db.select().from(jobs)).toEqual([]);
});

describe('while usage is read', () => {
  test('no transaction is open, so neither a slow metric nor a limit of PostgreSQL ends it', async () => {
    let open = 0;
    let opened = 0;
    // Counted here: PostgreSQL would count those of the service too.
    const counted = new Proxy(db, {
      get: (target, name) =>
        name !== 'transaction'
          ? Reflect.get(target, name, target)
          : async (...given: Parameters<Database['transaction']>) => {
              opened += 1;
              open += 1;
              return target.transaction(...given).finally(() => {
                open -= 1;
              });
            },
    });
    const openWhileRead: number[] = [];
    const clickhouse = hooked(async () => {
      openWhileRead.push(open);
    });
    const runner = runnerOn(clickhouse, counted);
    expect(await runner.runDue(clock.now())).toEqual({ done: 1, failed: 0, isComplete: true });
    expect(opened).toBeGreaterThan(1);
    expect(openWhileRead).toEqual(openWhileRead.map(() => 0));
    expect(openWhileRead.length).toBeGreaterThan(1);
  });

  test('no other process reads the same', async () => {
    let other: Promise<unknown> = Promise.resolve();
    let calls = 0;
    let callsOfOther = 0;
    const second = runnerWith(async () => {
      callsOfOther += 1;
    });
    const first = runnerWith(async () => {
      calls += 1;
      if (calls === 1) other = second.runDue(clock.now());
      await new Promise((resolve) => setTimeout(resolve, 50));
    });
    expect(await first.runDue(clock.now())).toEqual({ done: 1, failed: 0, isComplete: true });
    expect(await other).toEqual({ done: 0, failed: 0, isComplete: true });
    expect(callsOfOther).toBe(0);
  });
});

test('all connections to PostgreSQL may be lost at any step', async () => {
  for (let moment = 1; moment <= CALLS_PER_PREPARATION; moment += 1) {
    await startOver();
    const draft = await invoices('DRAFT');
    let calls = 0;
    const runner = runnerWith(async () => {
      calls += 1;
      if (calls !== moment) return;
      await endOtherConnections(db);
    });
    // Whether the step notices depends on which connection it gets.
    await runner.runDue(clock.now()).catch(() => undefined);
    await runner.retryFailed(clock.now());
    await runner.runDue(clock.now());
    expect(await invoices('FINALIZED')).toEqual(draft);
  }
  await replaceLostConnections(db);
});

test('both moments of its input are kept with the invoice', async () => {
  const before = new Date(Date.now() - 1).toISOString();
  await runnerWith(async () => undefined).runDue(clock.now());
  const [stored] = await db.execute<{ are_moments: boolean }>(sql`
    select terms_read_at between ${before} and now() and counted_up_to < now() as are_moments
    from invoices where contract_id = ${scenario.contractId}`);
  expect(stored).toEqual({ are_moments: true });
  const [event] = await service.clickhouse
    .queryBytes({
      sql: `SELECT toString(max(ingested_at)) FROM usage_events WHERE customer_ref = '${alias}' FORMAT TSV`,
    })
    .then((bytes) => bytes.toString().trim().split('\n'));
  const [kept] = await db.execute<{ moment: string }>(sql`
    select to_char(counted_up_to at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as moment
    from invoices where contract_id = ${scenario.contractId}`);
  expect(kept?.moment).toBe(event);
});

test('an invoice that cannot be computed costs no other invoice of its batch', async () => {
  const poisoned = scenario;
  const poisonedAlias = alias;
  const due = await db.select().from(jobs);
  await startOver();
  await db.insert(jobs).values(due.map(({ id: _, ...job }) => job));
  const { clickhouse } = service;
  const runner = runnerOn({
    ...clickhouse,
    query: (statement) => {
      const isPoisoned = JSON.stringify(statement.params).includes(poisonedAlias);
      return isPoisoned
        ? Promise.reject(new Error('this usage cannot be read'))
        : clickhouse.query(statement);
    },
  });
  expect(await runner.runDue(clock.now())).toEqual({ done: 1, failed: 1, isComplete: true });
  expect(await invoices('FINALIZED')).toHaveLength(1);
  scenario = poisoned;
  expect(await invoices('FINALIZED')).toEqual([]);
});
