/** A threshold and an alert of one customer that the same event crosses. */
import { afterAll, expect, test } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import {
  createThresholdCatalogue,
  createThresholdCustomer,
  type ThresholdCustomer,
  topUp,
  until,
} from '../support/thresholds.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const NOW = '2026-11-10T12:30:00Z';
const NOON = '2026-11-10T12:10:00Z';
const service = await serviceForFile({ sandboxNow: NOW });
const { api } = service;
const catalogue = await createThresholdCatalogue(api);
const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());
await api.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });

/** Everything is evaluated, and what that has made due is done. */
async function settled(): Promise<void> {
  await service.moveClock(NOW);
  await service.moveClock(NOW);
}

async function alertOf({ customerId: customer_id }: ThresholdCustomer, alert_type: string): Promise<string> {
  const alert = { alert_type, name: alert_type, threshold: 1000, customer_id };
  return createdId(api, '/v1/alerts/create', alert);
}

/** The types of the messages about the alert. */
const told = (alert: string) =>
  receiver.received.flatMap(({ message: { type, properties } }) =>
    (properties as { alert_id?: string }).alert_id === alert ? [type] : [],
  );

test('spend that one event brings to both is charged once and told once', async () => {
  const spend = { ...topUp(catalogue), recharge_to_amount: undefined };
  const customer = await createThresholdCustomer(api, catalogue, { spend_threshold_configuration: spend });
  const alert = await alertOf(customer, 'spend_threshold_reached');
  await settled();
  await customer.use(1200, NOON);
  const isCharged = ({ granted }: { readonly granted: readonly string[] }) => granted.length === 1;
  expect(await until(customer.commits, isCharged)).toEqual({ granted: ['1200'], left: '0' });
  await expect.poll(() => told(alert)).toEqual(['alerts.spend_threshold_reached']);
  await settled();
  await settled();
  expect(await customer.commits()).toEqual({ granted: ['1200'], left: '0' });
  expect(await customer.invoices()).toEqual(['SCHEDULED FINALIZED 1200', 'USAGE DRAFT 0']);
  expect(told(alert)).toEqual(['alerts.spend_threshold_reached']);
});

test('a balance that one event brings to both is told once, recharged once, and told to have recovered', async () => {
  const customer = await createThresholdCustomer(api, catalogue, {
    prepaid_balance_threshold_configuration: topUp(catalogue),
  });
  await settled();
  const alert = await alertOf(customer, 'low_remaining_contract_credit_and_commit_balance_reached');
  await settled();
  expect(told(alert)).toEqual([]);
  await customer.use(4500, NOON);
  const isCharged = ({ granted }: { readonly granted: readonly string[] }) => granted.length === 2;
  expect(await until(customer.commits, isCharged)).toEqual({ granted: ['5000', '4500'], left: '5000' });
  const low = 'alerts.low_remaining_contract_credit_and_commit_balance_reached';
  await expect.poll(() => told(alert)).toEqual([low, low.replace('_reached', '_resolved')]);
  await settled();
  expect(told(alert)).toHaveLength(2);
  expect((await customer.commits()).granted).toEqual(['5000', '4500']);
});
