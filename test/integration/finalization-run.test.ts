/** An invoice run of many customers reads the usage of some of them together. Whichever these are, invoices are the same. */
import { expect, test } from 'vitest';
import { finalizationJobKind } from '../../src/jobs/invoice-jobs.ts';
import { createJobRunner } from '../../src/jobs/job-runner.ts';
import { jobs } from '../../src/store/jobs/jobs.tables.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { jobsContext } from '../support/billing-context.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario } from '../support/scenario.ts';

/** Its clock stands in the period, so its own runner finalizes nothing. */
const { api, db, clickhouse } = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const clock = { now: () => Date.UTC(2026, 11, 3) };

/** More than the first group has. */
const CUSTOMERS = 30;
/** Each seventh customer has usage in so many hours, the others in one or two. */
const HOURS = 24;

/** Products whose usage a run reads together with the requests of the card, and a draft by itself. */
async function addUngroupedProducts(rate_card_id: string): Promise<void> {
  for (const aggregation_type of ['sum', 'max']) {
    const billable_metric_id = await createdId(api, '/v1/billable-metrics/create', {
      name: `Tokens, ${aggregation_type}`,
      aggregation_type,
      aggregation_key: 'tokens',
      event_type_filter: { in_values: ['completion'] },
      property_filters: [{ name: 'tokens', exists: true }],
    });
    const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
      name: `Tokens, ${aggregation_type}`,
      type: 'USAGE',
      billable_metric_id,
    });
    const rate = { product_id, starting_at: '2026-01-01T00:00:00Z', entitled: true };
    await api.post('/v1/contract-pricing/rate-cards/addRates', {
      rate_card_id,
      rates: [{ ...rate, rate_type: 'FLAT', price: 0.01 }],
    });
  }
}

async function createCustomers(name: string): Promise<string[]> {
  const { rateCardId: rate_card_id, customerId } = await createScenario(api, { alias: `${name}-0` });
  await addUngroupedProducts(rate_card_id);
  const ids = [customerId];
  for (let index = 0; index < CUSTOMERS; index += 1) {
    const alias = `${name}-${index}`;
    if (index > 0) {
      const customer_id = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
      await createdId(api, '/v1/contracts/create', {
        customer_id,
        rate_card_id,
        starting_at: '2026-11-01T00:00:00Z',
      });
      ids.push(customer_id);
    }
    const hours = index % 7 === 0 ? HOURS : 1 + (index % 2);
    await api.post(
      '/v1/ingest',
      Array.from({ length: hours }, (_, hour) =>
        completion(alias, {
          id: `${alias} ${hour}`,
          at: `2026-11-03T${String(hour).padStart(2, '0')}:30:00Z`,
          tokens: 100 * (index + 1) + hour,
        }),
      ),
    );
  }
  return ids;
}

const withoutStatus = (answer: ApiAnswer) =>
  JSON.stringify(answer.list('data')).replace(/"(DRAFT|FINALIZED)"/g, '""');

/** The invoices of all, and those by hour of the first in each seven, which have most and fewest hours. */
async function linesOf(customers: readonly string[], status: 'DRAFT' | 'FINALIZED'): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const [index, id] of customers.entries()) {
    const invoices = await api.get(`/v1/customers/${id}/invoices`, { query: { status } });
    found.push(withoutStatus(invoices));
    if (index % 7 > 1) continue;
    const hours = await api.get(`/v1/customers/${id}/invoices/breakdowns`, {
      query: {
        status,
        window_size: 'HOUR',
        starting_on: '2026-11-03T00:00:00Z',
        ending_before: '2026-11-04T00:00:00Z',
        limit: '100',
      },
    });
    found.push(withoutStatus(hours));
  }
  return found;
}

test.each([30, 150, undefined])(
  'with room for %s values invoices are as their drafts were',
  async (valuesMax) => {
    await db.delete(jobs);
    const customers = await createCustomers(`room-${valuesMax}`);
    const drafts = await linesOf(customers, 'DRAFT');
    let gaveWay = 0;
    const giveWay = async () => {
      gaveWay += 1;
    };
    const room = valuesMax === undefined ? {} : { usageRoom: { valuesMax, valuesOfQuestionMin: 0 } };
    const kind = finalizationJobKind(jobsContext({ db, clock, clickhouse, giveWay, ...room }));
    const ping = () => clickhouse.ping();
    const runner = createJobRunner(jobsContext({ db, clock, ping }), [kind]);
    const { done, failed } = await runner.runDue(clock.now());
    await runner.close();
    expect({ done, failed }).toEqual({ done: CUSTOMERS, failed: 0 });
    // Between its groups at least: those who wait for an answer come first.
    expect(gaveWay).toBeGreaterThan(1);
    expect(await linesOf(customers, 'FINALIZED')).toEqual(drafts);
  },
);
