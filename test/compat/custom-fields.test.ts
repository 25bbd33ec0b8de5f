/**
 * The official client, unchanged, against the service: custom fields.
 *
 * SDK methods covered here:
 * - v1.customFields: addKey, listKeys, removeKey, setValues, deleteValues
 * - with custom_fields: v1.customers.create and retrieve, v1.contracts.create and retrieve, v1.customers.invoices
 */
import Metronome, {
  BadRequestError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
} from '@metronome/sdk';
import { beforeAll, expect, it } from 'vitest';
import { issueToken } from '../../src/access/manage-tokens.ts';
import { collect } from '../support/collect.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario } from '../support/scenario.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
let client: Metronome;

beforeAll(async () => {
  client = new Metronome({ baseURL: service.url, bearerToken: service.token });
});

it('declares keys, lists them page after page, withdraws them', async () => {
  const key = { entity: 'discount', key: 'x_account_id', enforce_uniqueness: true } as const;
  const before = (await collect(client.v1.customFields.listKeys())).length;
  await client.v1.customFields.addKey(key);
  await expect(client.v1.customFields.addKey(key)).rejects.toBeInstanceOf(ConflictError);
  for (let n = 0; n < 150; n++) {
    await client.v1.customFields.addKey({ entity: 'alert', key: `key ${n}`, enforce_uniqueness: false });
  }
  expect(await collect(client.v1.customFields.listKeys())).toHaveLength(before + 151);
  expect(await collect(client.v1.customFields.listKeys({ entities: ['alert'] }))).toHaveLength(150);
  expect(await collect(client.v1.customFields.listKeys({ entities: ['discount'] }))).toEqual([key]);
  await client.v1.customFields.removeKey({ entity: 'alert', key: 'key 0' });
  await expect(client.v1.customFields.removeKey({ entity: 'alert', key: 'key 0' })).rejects.toBeInstanceOf(
    BadRequestError,
  );
  expect(await collect(client.v1.customFields.listKeys())).toHaveLength(before + 150);
});

it('sets and deletes values, and sees them on customers, contracts and invoices', async () => {
  const scenario = await createScenario(service.api, { alias: 'ada' });
  for (const entity of ['customer', 'contract', 'invoice'] as const) {
    await client.v1.customFields.addKey({ entity, key: 'team', enforce_uniqueness: false });
  }
  const { customerId: customer_id, contractId: contract_id } = scenario;
  const team = (value: string) => ({ custom_fields: { team: value } });
  await client.v1.customFields.setValues({ entity: 'customer', entity_id: customer_id, ...team('red') });
  await client.v1.customFields.setValues({ entity: 'contract', entity_id: contract_id, ...team('blue') });
  const [invoice] = await collect(client.v1.customers.invoices.list({ customer_id }));
  const invoice_id = invoice?.id ?? '';
  await client.v1.customFields.setValues({ entity: 'invoice', entity_id: invoice_id, ...team('green') });
  const customer = await client.v1.customers.retrieve({ customer_id });
  expect(customer.data.custom_fields).toEqual({ team: 'red' });
  const contract = await client.v2.contracts.retrieve({ customer_id, contract_id });
  expect(contract.data.custom_fields).toEqual({ team: 'blue' });
  const read = await client.v1.customers.invoices.retrieve({ customer_id, invoice_id });
  expect(read.data).toMatchObject({
    customer_custom_fields: { team: 'red' },
    contract_custom_fields: { team: 'blue' },
    custom_fields: { team: 'green' },
  });
  const reference = { entity: 'customer', entity_id: customer_id } as const;
  await client.v1.customFields.deleteValues({ ...reference, keys: ['team'] });
  expect((await client.v1.customers.retrieve({ customer_id })).data.custom_fields).toEqual({});
});

it('the official client sees the fields of metrics where a search of events names them', async () => {
  const { tokensMetricId: entity_id } = await createScenario(service.api, { alias: 'eve' });
  await client.v1.customFields.addKey({ entity: 'billable_metric', key: 'team', enforce_uniqueness: false });
  const custom_fields = { team: 'red' };
  await client.v1.customFields.setValues({ entity: 'billable_metric', entity_id, custom_fields });
  const at = '2026-11-09T00:00:00Z';
  await client.v1.usage.ingest({ usage: [completion('eve', { id: 'event', at, tokens: 1 })] });
  const [event] = await client.v1.usage.search({ transactionIds: ['event'] });
  const metric = event?.matched_billable_metrics?.find(({ id }) => id === entity_id);
  expect(metric?.custom_fields).toEqual(custom_fields);
});

it('creates objects with fields, and answers with their faults', async () => {
  await client.v1.customFields.addKey({ entity: 'customer', key: 'crm', enforce_uniqueness: true });
  const created = await client.v1.customers.create({ name: 'Acme', custom_fields: { crm: '7' } });
  const { data } = await client.v1.customers.retrieve({ customer_id: created.data.id });
  expect(data.custom_fields).toEqual({ crm: '7' });
  const taken = client.v1.customers.create({ name: 'Other', custom_fields: { crm: '7' } });
  await expect(taken).rejects.toBeInstanceOf(ConflictError);
  const undeclared = client.v1.customers.create({ name: 'Other', custom_fields: { erp: '7' } });
  await expect(undeclared).rejects.toThrow(/custom_fields\.erp: is not a declared custom field/);
  const unknown = client.v1.customFields.setValues({
    entity: 'customer',
    entity_id: UNKNOWN_ID,
    custom_fields: { crm: '8' },
  });
  await expect(unknown).rejects.toBeInstanceOf(NotFoundError);
});

it('the official client may list keys with a token that only reads, and change nothing with it', async () => {
  const { text: bearerToken } = await issueToken(
    { db: service.db, clock: { now: () => Date.UTC(2026, 10, 10) } },
    { name: 'reader', scope: 'read', expiresAt: null },
  );
  const reader = new Metronome({ baseURL: service.url, bearerToken });
  const declared = { entity: 'professional_service', key: 'seen', enforce_uniqueness: false } as const;
  await client.v1.customFields.addKey(declared);
  const entities = [declared.entity];
  expect(await collect(reader.v1.customFields.listKeys({ entities }))).toEqual([declared]);
  const key = { entity: 'customer', key: 'never' } as const;
  const target = { entity: 'customer', entity_id: UNKNOWN_ID } as const;
  const attempts = [
    reader.v1.customFields.addKey({ ...key, enforce_uniqueness: false }),
    reader.v1.customFields.removeKey(key),
    reader.v1.customFields.setValues({ ...target, custom_fields: {} }),
    reader.v1.customFields.deleteValues({ ...target, keys: [] }),
  ];
  await Promise.all(attempts.map((attempt) => expect(attempt).rejects.toBeInstanceOf(PermissionDeniedError)));
});
