/** Whom new usage leads to be evaluated. */
import { expect, test } from 'vitest';
import { createEvaluations } from '../../src/jobs/evaluations/evaluations.ts';
import { noteCustomerChanges } from '../../src/store/customers/customer-changes.ts';
import { jobsContext } from '../support/billing-context.ts';
import { createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { createTestDatabase } from '../support/stores.ts';

test('usage that came while nobody was watched is evaluated for those who are when it is stored', async () => {
  const { db, close } = await createTestDatabase();
  const customerId = await createdId(createCatalogueApi(db), '/v1/customers', { name: 'Acme' });
  const evaluated: string[] = [];
  const evaluations = createEvaluations(jobsContext({ db }), [
    {
      name: 'everybody that has changed',
      watched: async (customerIds) => customerIds ?? [],
      evaluate: async (customerIds) => {
        evaluated.push(...customerIds);
        return [];
      },
    },
  ]);
  const { usage } = evaluations;
  expect(usage.isWatching()).toBe(false);
  usage.stored(null);
  await evaluations.caughtUp();
  expect(evaluated).toEqual([]);

  await db.transaction((tx) => noteCustomerChanges(tx, [customerId]));
  await evaluations.caughtUp();
  expect(usage.isWatching()).toBe(true);
  expect(evaluated).toEqual([customerId]);

  usage.stored(null);
  await evaluations.caughtUp();
  expect(evaluated).toEqual([customerId, customerId]);
  await close();
});

test('many customers are evaluated in the order of their aliases, in which their events are stored', async () => {
  const { db, close } = await createTestDatabase();
  const api = createCatalogueApi(db);
  const count = 251;
  const byAlias = new Map<string, string>();
  for (let number = 0; number < count; number += 1) {
    const alias = `alias-${String((number * 97) % count).padStart(3, '0')}`;
    byAlias.set(await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] }), alias);
  }
  const evaluated: (string | undefined)[] = [];
  const evaluations = createEvaluations(jobsContext({ db }), [
    {
      name: 'everybody that has changed',
      watched: async (customerIds) => customerIds ?? [],
      evaluate: async (customerIds) => {
        evaluated.push(...customerIds.map((id) => byAlias.get(id)));
        return [];
      },
    },
  ]);
  await db.transaction((tx) => noteCustomerChanges(tx, [...byAlias.keys()]));
  await evaluations.caughtUp();
  expect(evaluated).toEqual([...byAlias.values()].sort());
  await close();
});

test('a customer that has changed before a sweep is urgent, also when the sweep is first', async () => {
  const { db, close } = await createTestDatabase();
  const api = createCatalogueApi(db);
  const ids: string[] = [];
  for (let number = 0; number < 65; number += 1) {
    ids.push(await createdId(api, '/v1/customers', { name: `customer-${number}` }));
  }
  const evaluated = new Set<string>();
  let isHeldUp = false;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const evaluations = createEvaluations(
    jobsContext({ db }),
    [
      {
        name: 'everybody',
        watched: async (customerIds) => customerIds ?? (isHeldUp ? ids : ids.slice(0, 60)),
        async evaluate(customerIds) {
          // The worker of those that are not urgent, of whom more are evaluated together.
          if (customerIds.length > 50) {
            isHeldUp = true;
            await released;
          }
          for (const id of customerIds) evaluated.add(id);
          return [];
        },
      },
    ],
    { sweepIntervalMs: 1 },
  );
  evaluations.start();
  await expect.poll(() => isHeldUp).toBe(true);
  for (const id of ids.slice(60)) {
    await db.transaction((tx) => noteCustomerChanges(tx, [id]));
    await expect.poll(() => evaluated.has(id), { timeout: 10_000 }).toBe(true);
  }
  release();
  await evaluations.close();
  await close();
});
