/** `POST /v1/customers/{id}/erase`: what goes, and what accounting keeps. */
import { eq, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { auditLog } from '../../src/store/access/audit-log.tables.ts';
import { idempotencyKeys } from '../../src/store/access/idempotency-keys.tables.ts';
import { alertStates } from '../../src/store/alerts/alerts.tables.ts';
import { webhookMessages } from '../../src/store/messages/webhooks.tables.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { ADD_RATE, CONTRACTS, createdId, METRICS, PRODUCTS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createThresholdCatalogue } from '../support/thresholds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db } = service;
const { card } = await createThresholdCatalogue(api);
await api.post('/v1/customFields/addKey', { entity: 'customer', key: 'person', enforce_uniqueness: true });
await api.post('/v1/customFields/addKey', {
  entity: 'contract',
  key: 'signed_by',
  enforce_uniqueness: false,
});

let customerId = '';
let contractId = '';
let alias = '';
let people = 0;

/** A person with an event in November, when the contract is in force. */
beforeEach(async () => {
  people += 1;
  alias = `ada-${people}@example.com`;
  customerId = await createdId(api, '/v1/customers', {
    ...{ name: `Ada ${people}`, ingest_aliases: [alias], custom_fields: { person: `P-${people}` } },
  });
  await api.post(`/v1/customers/${customerId}/updateConfig`, {
    crm_account_id: `crm-${people}`,
    billing_address: { line1: `street of ${people}` },
  });
  const now = (await api.get('/v1/sandbox/clock')).text('data.now');
  const starting_at = `${now.slice(0, 7)}-01T00:00:00Z`;
  contractId = await createdId(api, CONTRACTS, {
    ...{ customer_id: customerId, rate_card_id: card, starting_at },
    ...{ ending_before: nextMonth(starting_at), custom_fields: { signed_by: `Ada ${people}` } },
  });
  await use(now);
});

function nextMonth(text: string): string {
  const at = new Date(text);
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)).toISOString();
}

async function use(timestamp: string): Promise<void> {
  const properties = { tokens: 5, email: alias, note: 'private' };
  const event = { transaction_id: `${alias} ${timestamp}`, customer_id: alias, event_type: 'use', timestamp };
  await api.post('/v1/ingest', [{ ...event, properties }]);
}

/** The invoice is issued, some days after the end of the contract. Usage that no contract bills arrives after that. */
async function invoiced(): Promise<string> {
  const { at } = await api.post('/v2/contracts/get', { customer_id: customerId, contract_id: contractId });
  const later = new Date(Date.parse(String(at('data.ending_before'))) + 4 * 86_400_000).toISOString();
  await service.moveClock(later);
  await use(later);
  const issued = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status: 'FINALIZED' } });
  return issued.text('data[0].id');
}

const erase = () => api.send('POST', `/v1/customers/${customerId}/erase`, {});

async function settled(): Promise<void> {
  await service.moveClock((await api.get('/v1/sandbox/clock')).text('data.now'));
}

async function message(answer: Promise<ApiAnswer>): Promise<string> {
  const { status, at } = await answer;
  return `${status} ${String(at('message'))}`;
}

async function storedProperties(): Promise<string[]> {
  const rows = await service.clickhouse.query({
    sql: 'SELECT toJSONString(properties) AS properties FROM usage_events FINAL WHERE customer_ref = {alias:String} ORDER BY timestamp',
    params: { alias },
    schema: z.object({ properties: z.string() }),
  });
  return rows.map(({ properties }) => properties);
}

/** An invoice as it was, of a customer that has no name any more. */
function withoutName(invoice: unknown) {
  return { ...Object(invoice), customer_name: 'Erased customer', customer_external_id: customerId };
}

describe('erasing a customer', () => {
  it('erasing a customer removes what identifies it, and leaves its issued invoices and what explains them', async () => {
    const invoiceId = await invoiced();
    const path = `/v1/customers/${customerId}/invoices/${invoiceId}`;
    const before = (await api.get(path)).at('data');
    const explained = (await api.get(`${path}/explain`)).body;
    const setName = `/v1/customers/${customerId}/setName`;
    const headers = { 'idempotency-key': `name-${people}` };
    await api.post(setName, { name: 'Ada Lovelace' }, { headers });
    await db.insert(webhookMessages).values({
      ...{ id: customerId, type: 'invoice.finalized', customerId, body: `{"id":"${customerId}"}` },
    });
    const alert_id = await createdId(api, '/v1/alerts/create', {
      ...{ alert_type: 'spend_threshold_reached', name: 'Spend of Ada', threshold: 1 },
      customer_id: customerId,
      group_values: [{ key: 'user', value: 'ada' }],
    });
    await settled();
    expect((await erase()).status).toBe(200);
    await settled();
    const alert = await api.post('/v1/customer-alerts/get', { customer_id: customerId, alert_id });
    expect(alert.at('data.alert')).toMatchObject({ name: 'Alert of an erased customer', status: 'archived' });
    expect(alert.at('data.alert.group_values')).toBeUndefined();
    expect(await db.select().from(alertStates)).toEqual([]);

    const customer = await api.get(`/v1/customers/${customerId}`);
    expect(customer.at('data')).toMatchObject({
      name: 'Erased customer',
      ingest_aliases: [],
      custom_fields: {},
      customer_config: { crm_account_id: null },
      billing_address: null,
      archived_at: expect.any(String),
    });
    expect(await storedProperties()).toEqual(['{"tokens":"5"}', '{}']);
    expect((await api.get(path)).at('data')).toEqual(withoutName(before));
    expect((await api.get(`${path}/explain`)).body).toEqual(explained);
    const contract = await api.post('/v2/contracts/get', {
      customer_id: customerId,
      contract_id: contractId,
    });
    expect(contract.at('data.custom_fields')).toEqual({});
    expect(await db.select().from(webhookMessages).where(eq(webhookMessages.customerId, customerId))).toEqual(
      [],
    );
    const answers = await db
      .select()
      .from(idempotencyKeys)
      .where(sql`position(${customerId} in ${idempotencyKeys.body}) > 0`);
    expect(answers).toEqual([]);
    const again = api.send('POST', setName, { name: 'Ada Lovelace' }, { headers });
    expect(await message(again)).toMatch(/^409 This request was carried out, and its answer was erased/);
    const rows = await db.select().from(auditLog).where(eq(auditLog.resourceId, customerId));
    expect(rows.map(({ action, actorName }) => `${actorName}: ${action}`)).toEqual(
      expect.arrayContaining(['API_TOKEN: eraseCustomer', 'job erase_events: eraseEvents']),
    );
    expect(JSON.stringify(rows)).not.toContain(alias);
  });

  it('erasing a customer leaves usage without a rate explained, which an issued invoice warns of', async () => {
    const filter = { event_type_filter: { in_values: ['use'] } };
    const billable_metric_id = await createdId(api, METRICS, {
      ...{ name: 'Plans', aggregation_type: 'COUNT', ...filter, group_keys: [['plan']] },
      property_filters: [{ name: 'plan', exists: true }],
    });
    const product_id = await createdId(api, PRODUCTS, {
      ...{ name: 'Plans', type: 'USAGE', billable_metric_id, pricing_group_key: ['plan'] },
    });
    await api.post(ADD_RATE, {
      ...{ rate_card_id: card, product_id, starting_at: '2026-01-01T00:00:00Z', entitled: true },
      ...{ rate_type: 'FLAT', price: 1, pricing_group_values: { plan: 'silver' } },
    });
    const timestamp = (await api.get('/v1/sandbox/clock')).text('data.now');
    const event = { transaction_id: `${alias} plan`, customer_id: alias, event_type: 'use', timestamp };
    await api.post('/v1/ingest', [{ ...event, properties: { plan: 'gold' } }]);
    const path = `/v1/customers/${customerId}/invoices/${await invoiced()}`;
    const before = (await api.get(path)).at('data');
    expect(before).toMatchObject({ warnings: [{ code: 'unpriced_usage' }], unbilled_late_usage: [] });
    await erase();
    await settled();
    expect((await api.get(path)).at('data')).toEqual(withoutName(before));
  });

  it('changes nothing when it is repeated, and removes what has come since', async () => {
    await invoiced();
    await erase();
    await settled();
    const first = (await api.get(`/v1/customers/${customerId}`)).at('data.archived_at');
    await api.post(`/v1/customers/${customerId}/setName`, { name: 'Ada again' });
    expect((await erase()).status).toBe(200);
    await settled();
    const customer = await api.get(`/v1/customers/${customerId}`);
    expect([customer.at('data.name'), customer.at('data.archived_at')]).toEqual(['Erased customer', first]);
    expect(await storedProperties()).toEqual(['{"tokens":"5"}', '{}']);
  });

  it('erasing a customer is refused while something is not invoiced, and for a customer that does not exist', async () => {
    expect(await message(erase())).toMatch(/^400 .*contract .* has not ended: end or archive it first/);
    const { at } = await api.post('/v2/contracts/get', { customer_id: customerId, contract_id: contractId });
    await service.moveClock(String(at('data.ending_before')));
    expect(await message(erase())).toMatch(/^400 .*has an invoice that is not issued yet/);
    customerId = '00000000-0000-4000-8000-000000000000';
    expect(await message(erase())).toMatch(/^404 /);
  });

  it('erasing a customer keeps nothing of events for void invoices, which are not regenerated any more', async () => {
    const id = await invoiced();
    await api.post('/v1/invoices/void', { id });
    await erase();
    await settled();
    expect(await storedProperties()).toEqual(['{}', '{}']);
    expect(await message(api.send('POST', '/v1/invoices/regenerate', { id }))).toMatch(
      /^400 invoice .* cannot be computed again: its customer was erased/,
    );
  });
});
