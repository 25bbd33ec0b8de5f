/** Customers that are erased while their alerts are evaluated, or an invoice of theirs is explained. */
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { evaluateAlerts } from '../../src/billing/alerts/evaluate-alerts.ts';
import { explainInvoice } from '../../src/billing/invoices/explain/explain-invoice.ts';
import { createEndpoint } from '../../src/notifications/webhooks/endpoints.ts';
import { lockAlertStates } from '../../src/store/alerts/alert-states.ts';
import { beforeQuery } from '../support/before-query.ts';
import { billingContext, jobsContext } from '../support/billing-context.ts';
import { createCatalogueApi, createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { clickhouseForFile, databaseForFile } from '../support/file-fixtures.ts';
import { startTestService } from '../support/service.ts';
import { createThresholdCatalogue, createThresholdCustomer } from '../support/thresholds.ts';
import { waitingForLocks } from '../support/wait-for-lock.ts';

describe('an evaluation that meets an erasure', async () => {
  const { db } = await databaseForFile();
  const clickhouse = await clickhouseForFile();
  const clock = { now: () => Date.UTC(2026, 10, 10) };
  const api = createCatalogueApi(db, { now: clock.now(), clickhouse });

  async function rowsAbout(customerId: string): Promise<string[]> {
    const rows = await db.execute<{ what: string }>(sql`
      select 'state' as what from alert_states where customer_id = ${customerId}
      union all select 'message' from webhook_messages where customer_id = ${customerId}`);
    return rows.map(({ what }) => what).toSorted();
  }

  test.each(['evaluation', 'erasure'] as const)(
    'an evaluation that meets an erasure leaves nothing of the customer, if the %s is first',
    async (first) => {
      await createEndpoint(jobsContext({ db, clock, allowPrivate: true }), {
        name: 'x',
        url: 'http://127.0.0.1:9/',
        eventTypes: null,
      });
      await api.post('/v1/alerts/create', {
        ...{ alert_type: 'low_credit_balance_reached', name: 'Low', threshold: 100 },
      });
      const product_id = await createdId(api, PRODUCTS, { name: 'Credit', type: 'FIXED' });
      const withCredit = async (name: string) => {
        const customer_id = await createdId(api, '/v1/customers', { name });
        await createdId(api, '/v1/contracts/customerCredits/create', {
          ...{ customer_id, product_id, priority: 1 },
          access_schedule: {
            schedule_items: [
              { amount: 5, starting_at: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' },
            ],
          },
        });
        return customer_id;
      };
      const [told, erased] = [await withCredit('Told'), await withCredit('Erased')];
      const evaluate = (id: string) => evaluateAlerts(billingContext({ db, clickhouse, clock }), [id]);
      await evaluate(told);
      expect(new Set(await rowsAbout(told))).toEqual(new Set(['message', 'state']));
      const both = [() => evaluate(erased), () => api.post(`/v1/customers/${erased}/erase`, {})];
      const started: Promise<unknown>[] = [];
      await db.transaction(async (tx) => {
        await lockAlertStates(tx, [erased]);
        for (const [index, start] of (first === 'evaluation' ? both : both.toReversed()).entries()) {
          started.push(start());
          await expect.poll(() => waitingForLocks(db)).toBe(index + 1);
        }
      });
      await Promise.all(started);
      expect(await rowsAbout(erased)).toEqual([]);
    },
  );
});

test('an invoice is explained the same while its customer is erased, at whatever moment, and afterwards', async () => {
  const service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  onTestFinished(() => service.close());
  const { api, db } = service;
  const catalogue = await createThresholdCatalogue(api);
  const end = '2026-12-01T00:00:00Z';
  const customers = [];
  for (let index = 0; index < 2; index += 1) {
    const customer = await createThresholdCustomer(api, catalogue, { ending_before: end });
    await customer.use(60, '2026-11-05T12:00:00Z');
    await customer.use(7, '2026-11-06T12:00:00Z');
    customers.push(customer);
  }
  const now = '2026-12-05T00:00:00Z';
  await service.moveClock(now);

  async function explained(customerId: string, at = -1) {
    const invoices = await api.get(`/v1/customers/${customerId}/invoices`, {
      query: { status: 'FINALIZED' },
    });
    const erase = async () => {
      await api.post(`/v1/customers/${customerId}/erase`, {});
      // Until the job that erases the events is done.
      await service.moveClock(now);
    };
    const { clickhouse, queries } = beforeQuery(service.clickhouse, at, erase);
    const context = billingContext({ db, clickhouse, clock: { now: () => Date.parse(now) } });
    const page = { after: null, limit: 10 };
    const { rows } = await explainInvoice(context, customerId, invoices.text('data[0].id'), page);
    const shown = rows.map(({ line, explanation, isReproduced }) =>
      [line.total, explanation.recomputed?.total, isReproduced].join(' '),
    );
    return { shown, queries: queries() };
  }

  for (const [index, { customerId }] of customers.entries()) {
    const before = await explained(customerId);
    expect(before.shown).toEqual(['67 67 true']);
    expect(before.queries).toBeGreaterThan(0);
    const moment = index === 0 ? 0 : before.queries - 1;
    expect(await explained(customerId, moment)).toEqual(before);
    expect(await explained(customerId)).toEqual(before);
    const name = (await api.get(`/v1/customers/${customerId}`)).text('data.name');
    expect(name).toBe('Erased customer');
  }
});
