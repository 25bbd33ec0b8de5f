import { describe, expect, test } from 'vitest';
import {
  customerBillingConfigurations,
  customers,
  ingestAliases,
} from '../../src/store/customers/customers.tables.ts';
import { customerRefs, inOrderOfEvents } from '../../src/store/customers/customers.ts';
import { createdId } from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const { pool, api } = await catalogueForFile();

let counter = 0;
/** Names that no other test uses: all tests of this file share one database. */
function unique(prefix: string): string {
  counter += 1;
  return `${prefix}-${counter}`;
}

describe('creating a customer', () => {
  test('a customer is returned as it was sent, with the external id as the first alias', async () => {
    const [external, alias] = [unique('external'), unique('alias')];
    const created = await api.post('/v1/customers', {
      name: 'Acme',
      external_id: external,
      ingest_aliases: [alias, external],
    });
    const id = created.text('data.id');
    expect(created.at('data')).toEqual({
      id,
      external_id: external,
      ingest_aliases: [external, alias],
      name: 'Acme',
      custom_fields: {},
    });
    const detail = await api.get(`/v1/customers/${id}`);
    expect(detail.at('data')).toMatchObject({
      id,
      ingest_aliases: [external, alias],
      created_at: '2026-11-20T12:34:56.789Z',
      updated_at: '2026-11-20T12:34:56.789Z',
      archived_at: null,
      customer_config: { crm_account_id: null, salesforce_account_id: null },
      custom_fields: {},
    });
  });

  test('a customer without aliases has its id as external id', async () => {
    const created = await api.post('/v1/customers', { name: 'Bare' });
    expect(created.text('data.external_id')).toBe(created.text('data.id'));
    expect(created.list('data.ingest_aliases')).toEqual([]);
  });

  test('a billing address is stored as it was sent, replaced as a whole, and removed by null', async () => {
    const address = { line1: 'Rue 1', city: 'Paris', postal_code: '75001', country: 'FR' };
    const id = await createdId(api, '/v1/customers', { name: 'Addressed', billing_address: address });
    const read = async () => (await api.get(`/v1/customers/${id}`)).at('data.billing_address');
    const empty = { line1: null, line2: null, city: null, postal_code: null, region: null, country: null };
    expect(await read()).toEqual({ ...empty, ...address });
    const change = (billing_address: unknown) =>
      api.send('POST', `/v1/customers/${id}/updateConfig`, { billing_address });
    await change({ line1: 'Rue 2' });
    expect(await read()).toEqual({ ...empty, line1: 'Rue 2' });
    const refused = await change({ country: 'France' });
    expect([refused.status, refused.text('message')]).toEqual([
      400,
      expect.stringMatching(/^billing_address\.country: /),
    ]);
    await api.post(`/v1/customers/${id}/updateConfig`, { crm_account_id: 'crm-addressed' });
    expect(await read()).toEqual({ ...empty, line1: 'Rue 2' });
    await change(null);
    expect(await read()).toBeNull();
  });

  test('a name is cut to 160 whole characters', async () => {
    const created = await api.post('/v1/customers', { name: '😀'.repeat(200) });
    expect(created.text('data.name')).toBe('😀'.repeat(160));
  });

  test('billing configurations are stored with the customer', async () => {
    const id = await createdId(api, '/v1/customers', {
      name: 'Paying',
      customer_billing_provider_configurations: [
        {
          billing_provider: 'stripe',
          delivery_method: 'direct_to_billing_provider',
          configuration: { vendor_customer_id: 'cus_1' },
        },
      ],
    });
    const rows = await pool.db.select().from(customerBillingConfigurations);
    expect(rows.filter((row) => row.customerId === id)).toMatchObject([
      { billingProvider: 'stripe', configuration: { vendor_customer_id: 'cus_1' }, archivedAt: null },
    ]);
  });

  test.each([
    ['no name', {}, /^name: /],
    ['an empty alias', { name: 'x', ingest_aliases: ['ok', ''] }, /^ingest_aliases\[1\]: /],
    [
      'an alias of 129 characters',
      { name: 'x', ingest_aliases: ['a'.repeat(129)] },
      /^ingest_aliases\[0\]: /,
    ],
    ['an undeclared custom field', { name: 'x', custom_fields: { tier: 'gold' } }, /^custom_fields\.tier: /],
    [
      'a billing configuration without a delivery method',
      { name: 'x', customer_billing_provider_configurations: [{ billing_provider: 'stripe' }] },
      /^customer_billing_provider_configurations\[0\]\.delivery_method: /,
    ],
  ])('%s answers 400, names the field and stores nothing', async (_, body, message) => {
    const before = await pool.db.$count(customers);
    const answer = await api.send('POST', '/v1/customers', body);
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
    expect(await pool.db.$count(customers)).toBe(before);
  });
});

describe('an ingest alias belongs to one customer', () => {
  test('another customer cannot be created with it: 409, not to be retried, nothing stored', async () => {
    const alias = unique('taken');
    await api.post('/v1/customers', { name: 'First', ingest_aliases: [alias] });
    const before = await pool.db.$count(customers);
    const answer = await api.send('POST', '/v1/customers', { name: 'Second', external_id: alias });
    expect(answer.status).toBe(409);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(answer.text('message')).toContain(alias);
    expect(await pool.db.$count(customers)).toBe(before);
  });

  test('an ingest alias belongs to one customer: of many customers that race for it exactly one is created', async () => {
    const alias = unique('race');
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        api.send('POST', '/v1/customers', { name: `Racer ${index}`, ingest_aliases: [unique('own'), alias] }),
      ),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(7).fill(409)]);
    const holders = await api.get('/v1/customers', { query: { ingest_alias: alias } });
    expect(holders.list('data')).toHaveLength(1);
  });

  test('two customers that swap aliases at the same moment neither deadlock nor share one', async () => {
    const [left, right] = [unique('left'), unique('right')];
    const a = await createdId(api, '/v1/customers', { name: 'A', ingest_aliases: [left] });
    const b = await createdId(api, '/v1/customers', { name: 'B', ingest_aliases: [right] });
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all([
        api.send('POST', `/v1/customers/${a}/setIngestAliases`, { ingest_aliases: [right] }),
        api.send('POST', `/v1/customers/${b}/setIngestAliases`, { ingest_aliases: [left] }),
      ]);
      for (const answer of answers) expect([200, 409]).toContain(answer.status);
      await api.post(`/v1/customers/${a}/setIngestAliases`, { ingest_aliases: [] });
      await api.post(`/v1/customers/${b}/setIngestAliases`, { ingest_aliases: [right] });
      await api.post(`/v1/customers/${a}/setIngestAliases`, { ingest_aliases: [left] });
    }
  });

  test('another customer’s id is no alias', async () => {
    const id = await createdId(api, '/v1/customers', { name: 'Owner of the id' });
    const answer = await api.send('POST', '/v1/customers', { name: 'Impostor', ingest_aliases: [id] });
    expect(answer.status).toBe(409);
  });
});

describe('setIngestAliases', () => {
  test('setIngestAliases replaces the whole set, in the order given, and is idempotent', async () => {
    const [one, two, three] = [unique('one'), unique('two'), unique('three')];
    const id = await createdId(api, '/v1/customers', { name: 'Renamed', ingest_aliases: [one, two] });
    for (let time = 0; time < 2; time++) {
      const answer = await api.post(`/v1/customers/${id}/setIngestAliases`, {
        ingest_aliases: [three, two, three],
      });
      expect(answer.body).toBeUndefined();
      const detail = await api.get(`/v1/customers/${id}`);
      expect(detail.at('data.ingest_aliases')).toEqual([three, two]);
    }
    expect(await customerRefs(pool.db, [id])).toEqual(new Map([[id, [id, three, two]]]));
  });

  test('an alias given up can be taken by another customer', async () => {
    const alias = unique('moving');
    const from = await createdId(api, '/v1/customers', { name: 'From', ingest_aliases: [alias] });
    const to = await createdId(api, '/v1/customers', { name: 'To' });
    const path = `/v1/customers/${to}/setIngestAliases`;
    expect((await api.send('POST', path, { ingest_aliases: [alias] })).status).toBe(409);
    await api.post(`/v1/customers/${from}/setIngestAliases`, { ingest_aliases: [] });
    await api.post(path, { ingest_aliases: [alias] });
    expect(await customerRefs(pool.db, [from, to])).toEqual(
      new Map([
        [from, [from]],
        [to, [to, alias]],
      ]),
    );
  });

  test('customers stand in the order of the bytes of their first names, each once', async () => {
    // ClickHouse compares bytes, where capitals come before small letters and digits before both.
    const [small, capital] = [unique('0-order-b'), unique('0-order-B')];
    const create = (name: string, ...ingest_aliases: string[]) =>
      createdId(api, '/v1/customers', { name, ingest_aliases });
    const ids = [
      await create('b', small, unique('zz')),
      await create('B', unique('zz'), capital),
      await create('without an alias'),
    ];
    const ordered = await inOrderOfEvents(pool.db, ids);
    expect(ordered.slice().sort()).toEqual(ids.slice().sort());
    expect(ordered.filter((id) => id !== ids[2])).toEqual([ids[1], ids[0]]);
  });

  test('a conflict leaves the set as it was', async () => {
    const [held, own, fresh] = [unique('held'), unique('own'), unique('fresh')];
    await api.post('/v1/customers', { name: 'Holder', ingest_aliases: [held] });
    const id = await createdId(api, '/v1/customers', { name: 'Wants it', ingest_aliases: [own] });
    const answer = await api.send('POST', `/v1/customers/${id}/setIngestAliases`, {
      ingest_aliases: [fresh, held],
    });
    expect(answer.status).toBe(409);
    expect(answer.text('message')).toContain(held);
    expect((await api.get(`/v1/customers/${id}`)).at('data.ingest_aliases')).toEqual([own]);
    const rows = await pool.db.select().from(ingestAliases);
    expect(rows.filter((row) => row.alias === fresh)).toEqual([]);
  });

  test('an unknown customer answers 404', async () => {
    const path = '/v1/customers/00000000-0000-4000-8000-000000000000/setIngestAliases';
    expect((await api.send('POST', path, { ingest_aliases: [] })).status).toBe(404);
  });
});

describe('listing customers', () => {
  test('pages of customers reach every customer once', async () => {
    const created = new Set<string>();
    for (let index = 0; index < 7; index++) {
      created.add(await createdId(api, '/v1/customers', { name: `Paged ${index}` }));
    }
    const seen: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await api.get('/v1/customers', { query: { limit: 3, next_page: cursor } });
      seen.push(...page.list('data').map((_, index) => page.text(`data[${index}].id`)));
      cursor = page.at('next_page') === null ? undefined : page.text('next_page');
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(seen.length);
    for (const id of created) expect(seen).toContain(id);
  });

  test('the list of customers filters by ids, by alias and by CRM account under both its names', async () => {
    const alias = unique('findable');
    const a = await createdId(api, '/v1/customers', { name: 'Filter A', ingest_aliases: [alias] });
    const b = await createdId(api, '/v1/customers', { name: 'Filter B' });
    const account = unique('crm');
    await api.post(`/v1/customers/${b}/updateConfig`, { salesforce_account_id: account });
    const idsOf = async (query: Record<string, string>) => {
      const page = await api.get('/v1/customers', { query });
      return page.list('data').map((_, index) => page.text(`data[${index}].id`));
    };
    expect((await idsOf({ customer_ids: `${a},${b}` })).sort()).toEqual([a, b].sort());
    expect(await idsOf({ ingest_alias: alias })).toEqual([a]);
    expect(await idsOf({ crm_account_ids: account })).toEqual([b]);
    expect(await idsOf({ salesforce_account_ids: account })).toEqual([b]);
    expect(await idsOf({ only_archived: 'true' })).toEqual([]);
  });

  test.each(['limit=0', 'limit=101', 'next_page=broken', 'customer_ids=nobody'])(
    '%s answers 400',
    async (query) => {
      expect((await api.send('GET', `/v1/customers?${query}`)).status).toBe(400);
    },
  );
});

describe('changing a customer', () => {
  test('setName renames it', async () => {
    const id = await createdId(api, '/v1/customers', { name: 'Old' });
    const answer = await api.post(`/v1/customers/${id}/setName`, { name: 'New' });
    expect(answer.text('data.name')).toBe('New');
  });

  test('updateConfig sets and clears the CRM account', async () => {
    const id = await createdId(api, '/v1/customers', { name: 'CRM' });
    const account = unique('account');
    await api.post(`/v1/customers/${id}/updateConfig`, { crm_account_id: account });
    const detail = await api.get(`/v1/customers/${id}`);
    expect(detail.at('data.customer_config')).toEqual({
      crm_account_id: account,
      salesforce_account_id: account,
      leave_stripe_invoices_in_draft: null,
    });
    await api.post(`/v1/customers/${id}/updateConfig`, { crm_account_id: null });
    expect((await api.get(`/v1/customers/${id}`)).at('data.customer_config.crm_account_id')).toBeNull();
  });

  test.each(['00000000-0000-4000-8000-000000000000', 'nobody'])(
    'an unknown or malformed id (%s) answers 404',
    async (id) => {
      expect((await api.send('GET', `/v1/customers/${id}`)).status).toBe(404);
      expect((await api.send('POST', `/v1/customers/${id}/setName`, { name: 'x' })).status).toBe(404);
      expect((await api.send('POST', `/v1/customers/${id}/updateConfig`, {})).status).toBe(404);
    },
  );
});
