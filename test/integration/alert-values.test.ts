/**
 * Alerts compare exactly what clients read: an alert at the value of a draft, a balance or a metric is in alarm, and
 * one that is the least beyond it is not. With tiers, conversions, rounding, SQL metrics, and values that go down.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Decimal, decimal, sum, ZERO } from '../../src/core/decimal.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import {
  createMeteredCard,
  createMeteredCustomer,
  jobEvent,
  jobs,
  type MeteredCustomer,
  sendJobs,
} from '../support/metered-company.ts';
import {
  createSeatCatalogue,
  createSeatCompany,
  editSubscription,
  sendCalls,
} from '../support/seat-company.ts';
import { runs } from '../support/shares-of-tests.ts';

const NOW = '2026-11-10T00:00:00Z';
const PERIOD = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
const LEAST = decimal('0.00000000000000000001');
const service = await serviceForFile({ sandboxNow: NOW });
const { api } = service;
const card = await createMeteredCard(api);
const product_id = await createdId(api, PRODUCTS, { name: 'Credit', type: 'FIXED' });

interface Compared {
  readonly alert: object;
  /** As clients read it. */
  readonly value: Decimal;
  readonly firesAtLeast: boolean;
}

const paths = (answer: ApiAnswer, list: string) => answer.list(list).map((_, index) => `${list}[${index}]`);

async function ofDrafts({ customerId }: MeteredCustomer): Promise<Compared[]> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status: 'DRAFT' } });
  const total = decimal(answer.digits('data[0].total'));
  const lines = paths(answer, 'data[0].line_items').filter((at) => answer.text(`${at}.type`) === 'usage');
  const spend = sum(lines.map((at) => decimal(answer.digits(`${at}.total`))));
  return [
    { alert: { alert_type: 'spend_threshold_reached' }, value: spend, firesAtLeast: true },
    {
      alert: { alert_type: 'monthly_invoice_total_spend_threshold_reached' },
      value: total,
      firesAtLeast: true,
    },
    { alert: { alert_type: 'invoice_total_reached' }, value: total, firesAtLeast: true },
  ];
}

async function ofBalances({ customerId: customer_id }: MeteredCustomer): Promise<Compared[]> {
  const body = { customer_id, invoice_inclusion_mode: 'FINALIZED_AND_DRAFT' };
  const net = await api.post('/v1/contracts/customerBalances/getNetBalance', body);
  const alert = { alert_type: 'low_remaining_contract_credit_and_commit_balance_reached' };
  return [{ alert, value: decimal(net.digits('data.balance')), firesAtLeast: false }];
}

async function ofMetrics({ customerId }: MeteredCustomer): Promise<Compared[]> {
  const body = { ...PERIOD, window_size: 'NONE', customer_ids: [customerId] };
  const usage = await api.post('/v1/usage', body);
  return paths(usage, 'data').map((at) => ({
    alert: {
      alert_type: 'usage_threshold_reached',
      billable_metric_id: usage.text(`${at}.billable_metric_id`),
    },
    value: usage.at(`${at}.value`) === null ? ZERO : decimal(usage.digits(`${at}.value`)),
    firesAtLeast: true,
  }));
}

/** An alert at the value, and one that is the least beyond it. Thresholds are not negative. */
function thresholdsOf({ value, firesAtLeast }: Compared): [threshold: Decimal, state: string][] {
  const beyond = firesAtLeast ? value.plus(LEAST) : value.minus(LEAST);
  const both: [Decimal, string][] = [
    [value, 'in_alarm'],
    [beyond, 'ok'],
  ];
  return both.filter(([threshold]) => threshold.gte(ZERO));
}

test('an alert at the value that clients read is in alarm, and one beyond it is not', async () => {
  const amounts = fc.integer({ min: 0, max: 400 }).map((tenths) => tenths / 10);
  await fc.assert(
    fc.asyncProperty(jobs, amounts, async (sent, amount) => {
      const access = { amount, starting_at: PERIOD.starting_on, ending_before: PERIOD.ending_before };
      const credit = { product_id, access_schedule: { schedule_items: [access] } };
      const customer = await createMeteredCustomer(api, card, { credits: [credit] });
      const { customerId: customer_id, alias } = customer;
      await sendJobs(
        api,
        sent.map((job, index) => jobEvent(alias, job, index)),
      );
      const compared = [
        ...(await ofDrafts(customer)),
        ...(await ofBalances(customer)),
        ...(await ofMetrics(customer)),
      ];
      const expected: string[] = [];
      const alerts: { readonly id: string; readonly what: string }[] = [];
      for (const one of compared) {
        for (const [threshold, state] of thresholdsOf(one)) {
          const alert = { name: 'Alert', customer_id, threshold, ...one.alert };
          const what = `${JSON.stringify(one.alert)} ${threshold.toFixed()}`;
          alerts.push({ id: await createdId(api, '/v1/alerts/create', alert), what });
          expected.push(`${what} ${state}`);
        }
      }
      await service.moveClock(NOW);
      const found: string[] = [];
      for (const { id: alert_id, what } of alerts) {
        const state = await api.post('/v1/customer-alerts/get', { customer_id, alert_id });
        found.push(`${what} ${state.text('data.customer_status')}`);
      }
      expect(found).toEqual(expected);
    }),
    { numRuns: runs(6) },
  );
});

test('the share that is left counts what an increase of seats has granted', async () => {
  const company = await createSeatCompany(api, await createSeatCatalogue(api), {
    ...{ alias: 'seats', start: PERIOD.starting_on, seats: 1 },
  });
  await editSubscription(api, company, {
    quantity_updates: [{ quantity: 3, starting_at: '2026-11-05T00:00:00Z' }],
  });
  // 240 of 300.
  await sendCalls(api, company, { user: 'ada', at: '2026-11-06T10:00:00Z', count: 24 });
  const { customer: customer_id } = company;
  const alert = { name: 'Alert', customer_id, threshold: 20 };
  const alert_type = 'low_remaining_contract_credit_percentage_reached';
  const alert_id = await createdId(api, '/v1/alerts/create', { ...alert, alert_type });
  await service.moveClock(NOW);
  const state = await api.post('/v1/customer-alerts/get', { customer_id, alert_id });
  expect(state.text('data.customer_status')).toBe('in_alarm');
});
