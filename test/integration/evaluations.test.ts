/** Whom new usage leads to be evaluated. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createEvaluations } from '../../src/jobs/evaluations.ts';
import { noteCustomerChanges } from '../../src/store/customer-changes.ts';
import { createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { createTestDatabase } from '../support/stores.ts';

test('usage that came while nobody was watched is evaluated for those who are when it is stored', async () => {
  const { db, close } = await createTestDatabase();
  const customerId = await createdId(createCatalogueApi(db), '/v1/customers', { name: 'Acme' });
  const evaluated: string[] = [];
  const evaluations = createEvaluations({
    db,
    log: pino({ level: 'silent' }),
    evaluators: [
      {
        name: 'everybody that has changed',
        watched: async (customerIds) => customerIds ?? [],
        evaluate: async (customerIds) => {
          evaluated.push(...customerIds);
          return [];
        },
      },
    ],
  });
  const { usage } = evaluations;
  expect(usage.isWatching()).toBe(false);
  usage.stored(null);
  await evaluations.settled();
  expect(evaluated).toEqual([]);

  await db.transaction((tx) => noteCustomerChanges(tx, [customerId]));
  await evaluations.settled();
  expect(usage.isWatching()).toBe(true);
  expect(evaluated).toEqual([customerId]);

  usage.stored(null);
  await evaluations.settled();
  expect(evaluated).toEqual([customerId, customerId]);
  await close();
});
