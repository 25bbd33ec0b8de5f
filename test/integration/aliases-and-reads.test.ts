/**
 * Reads wait only for events that carry one of their customers' references. So a customer that gets a reference later must be
 * shown its events too, also those that ClickHouse does not have yet.
 */
import { afterAll, expect, test } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import {
  createHierarchy,
  type Hierarchy,
  type Member,
  request,
  usageInvoices,
} from '../support/hierarchies.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const NOW = '2026-11-10T12:00:00Z';
const AT = '2026-11-10T10:00:00Z';
const service = await serviceForFile({ sandboxNow: NOW });
const { api } = service;
const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());
await api.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });

const family = (): Promise<Hierarchy> =>
  createHierarchy(api, {
    ...{ startingAt: '2026-11-01T00:00:00Z', endingBefore: '2027-01-01T00:00:00Z' },
    children: { child: {}, other: {} },
  });
const setAliases = ({ customerId }: Member, ...ingest_aliases: string[]) =>
  api.post(`/v1/customers/${customerId}/setIngestAliases`, { ingest_aliases });
const drafts = (member: Member, type = 'USAGE') => usageInvoices(api, member, { type, status: 'DRAFT' });

function childrenOf({ children: { child, other } }: Hierarchy): { child: Member; other: Member } {
  if (child === undefined || other === undefined) throw new Error('the hierarchy has two children');
  return { child, other };
}

test('events that arrived before their alias are in the next read of its customer', async () => {
  const { child } = childrenOf(await family());
  const alias = `${child.alias}-later`;
  await request(api, { alias }, 3, AT);
  await setAliases(child, child.alias, alias);
  expect(await drafts(child)).toEqual(['USAGE 2026-11-01 DRAFT 6']);
});

test('an alias that moves takes its events along, in the next read of both', async () => {
  const { child, other } = childrenOf(await family());
  await request(api, child, 4, AT);
  await setAliases(child);
  await setAliases(other, other.alias, child.alias);
  expect(await drafts(other)).toEqual(['USAGE 2026-11-01 DRAFT 8']);
  expect(await drafts(child)).toEqual(['USAGE 2026-11-01 DRAFT 0']);
});

test('a consolidated draft has what its children have just used', async () => {
  const hierarchy = await family();
  const { child, other } = childrenOf(hierarchy);
  await request(api, child, 1, AT);
  expect(await drafts(hierarchy.parent, 'USAGE_CONSOLIDATED')).toEqual([
    'USAGE_CONSOLIDATED 2026-11-01 DRAFT 2',
  ]);
  await request(api, other, 2, AT);
  await request(api, hierarchy.parent, 4, AT);
  expect(await drafts(hierarchy.parent, 'USAGE_CONSOLIDATED')).toEqual([
    'USAGE_CONSOLIDATED 2026-11-01 DRAFT 14',
  ]);
});

test('an alias that moves ends the alarm of one customer and begins that of the other', async () => {
  const { child, other } = childrenOf(await family());
  const alertOf = ({ customerId: customer_id }: Member) =>
    createdId(api, '/v1/alerts/create', {
      ...{ alert_type: 'spend_threshold_reached', name: 'Spend', threshold: 10, customer_id },
    });
  const [ofChild, ofOther] = [await alertOf(child), await alertOf(other)];
  const told = (alert: string) =>
    receiver.received.flatMap(({ message: { type, properties } }) =>
      (properties as { alert_id?: string }).alert_id === alert ? [type] : [],
    );
  await service.moveClock(NOW);
  await request(api, child, 7, AT);
  await expect.poll(() => told(ofChild)).toEqual(['alerts.spend_threshold_reached']);
  await setAliases(child);
  await setAliases(other, other.alias, child.alias);
  await expect.poll(() => told(ofOther)).toEqual(['alerts.spend_threshold_reached']);
  await expect
    .poll(() => told(ofChild))
    .toEqual(['alerts.spend_threshold_reached', 'alerts.spend_threshold_resolved']);
});
