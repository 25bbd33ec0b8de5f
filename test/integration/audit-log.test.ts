import Metronome from '@metronome/sdk';
import { sql } from 'drizzle-orm';
import { describe, expect, it, vi } from 'vitest';
import { auditLog } from '../../src/store/access/audit-log.tables.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile();
const { api, db } = service;

/** Rows appear when every running transaction has begun after them: about a second later. */
async function rowsOf(type: string, id: string): Promise<unknown[]> {
  return vi.waitFor(
    async () => {
      const query = { resource_type: type, resource_id: id };
      const rows = (await api.get('/v1/auditLogs', { query })).list('data');
      expect(rows).not.toEqual([]);
      return rows;
    },
    { timeout: 10_000, interval: 100 },
  );
}

/** From then on only a running transaction keeps the row of the customer from being shown. */
async function isOverASecondOld(customerId: string): Promise<boolean> {
  const rows = await db.execute(sql`
    select 1 from audit_log
    where resource_id = ${customerId} and recorded_at < clock_timestamp() - interval '1 second'`);
  return rows.length > 0;
}

const createCustomer = async (body: object) => (await api.post('/v1/customers', body)).text('data.id');
const stored = async (requestId: string) =>
  (await db.select().from(auditLog)).filter((row) => row.requestId === requestId);

describe('the audit log', () => {
  it('the audit log says who did what, to which resource, from where, and whether it succeeded', async () => {
    const headers = { 'x-request-id': 'the-request', 'user-agent': 'a test' };
    const made = await api.post('/v1/customers', { name: 'Audited' }, { headers });
    const id = made.text('data.id');
    const [row, ...others] = await rowsOf('customer', id);
    expect(others).toEqual([]);
    expect(row).toEqual({
      id: expect.any(String),
      timestamp: '2026-11-10T00:00:00.000Z',
      actor: { id: expect.any(String), name: 'API_TOKEN' },
      request: { id: 'the-request', ip: '127.0.0.1', user_agent: 'a test' },
      resource_type: 'customer',
      resource_id: id,
      action: 'createCustomer',
      status: 'success',
      description: 'Create a customer: HTTP 200',
    });
  });

  it('the audit log has failures too: what is wrong, missing, in conflict or forbidden', async () => {
    const reader = (await api.post('/v1/tokens/create', { name: 'r', scope: 'read' })).text('data.token');
    const id = await createCustomer({ name: 'Failing', ingest_aliases: ['failing'] });
    const attempts: [string, unknown, number, string?][] = [
      ['/v1/customers', { name: 1 }, 400],
      ['/v1/customers', { name: 'x', ingest_aliases: ['failing'] }, 409],
      ['/v1/customers/nobody/setName', { name: 'x' }, 404],
      [`/v1/customers/${id}/setName`, { name: 'x' }, 403, reader],
    ];
    for (const [index, [path, body, status, token]] of attempts.entries()) {
      const headers = { 'x-request-id': `failure-${index}` };
      const answer = await api.send('POST', path, body, { headers, ...(token ? { token } : {}) });
      expect(answer.status).toBe(status);
      const [row, ...others] = await stored(`failure-${index}`);
      expect(others).toEqual([]);
      expect(row).toMatchObject({
        status: 'failure',
        description: expect.stringContaining(`HTTP ${status}`),
      });
    }
    expect(await stored('failure-3')).toMatchObject([
      { actorName: 'r', resourceType: 'customer', resourceId: id },
    ]);
  });

  it('the audit log has no row for reads, for events, for unknown callers, and for answers that are replayed', async () => {
    const before = (await db.select().from(auditLog)).length;
    await api.get('/v1/customers');
    await api.post('/v1/contract-pricing/products/list', {});
    await api.send('POST', '/v1/ingest', []);
    await api.send('POST', '/v1/customers', { name: 'x' }, { token: 'th_unknown' });
    const headers = { 'idempotency-key': 'once' };
    for (let time = 0; time < 3; time += 1) await api.post('/v1/customers', { name: 'x' }, { headers });
    expect((await db.select().from(auditLog)).length).toBe(before + 1);
  });

  it('the audit log names the resource of what is set, archived and edited', async () => {
    const id = await createCustomer({ name: 'Named' });
    await api.post(`/v1/customers/${id}/setName`, { name: 'Renamed' });
    const key = { entity: 'customer', key: 'audited', enforce_uniqueness: false };
    await api.post('/v1/customFields/addKey', key);
    const fields = { entity: 'customer', entity_id: id, custom_fields: { audited: 'x' } };
    await api.post('/v1/customFields/setValues', fields);
    await api.post('/v1/customers/archive', { id });
    const actions = (await rowsOf('customer', id)).length;
    expect(actions).toBeGreaterThan(0);
    const rows = (await db.select().from(auditLog)).filter(({ resourceId }) => resourceId === id);
    expect(rows.map(({ action }) => action).sort()).toEqual([
      'archiveCustomer',
      'createCustomer',
      'setCustomFieldValues',
      'setCustomerName',
    ]);
  });

  it('the audit log is written in the transaction of the change: without its row nothing is changed', async () => {
    await db.execute(sql`alter table audit_log add constraint broken check (action <> 'createProduct')`);
    try {
      const refused = await api.send('POST', '/v1/contract-pricing/products/create', {
        name: 'Unaudited',
        type: 'FIXED',
      });
      expect(refused.status).toBe(500);
      const products = await api.post('/v1/contract-pricing/products/list', {});
      expect(JSON.stringify(products.body)).not.toContain('Unaudited');
    } finally {
      await db.execute(sql`alter table audit_log drop constraint broken`);
    }
  });
});

describe('the cursor of the audit log', () => {
  it('the cursor of the audit log is there after an empty page too, and continues with later rows, missing nothing', async () => {
    const seen: string[] = [];
    let next: string | undefined;
    const poll = async () => {
      const page = await api.get('/v1/auditLogs', { query: { limit: 7, next_page: next } });
      next = page.text('next_page');
      for (const row of page.list('data')) seen.push(JSON.stringify(row));
    };
    const writes = Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const made = await createCustomer({ name: `Polled ${index}` });
        await api.post(`/v1/customers/${made}/setName`, { name: `Polled again ${index}` });
      }),
    );
    let isDone = false;
    writes.then(
      () => {
        isDone = true;
      },
      () => undefined,
    );
    while (!isDone) await poll();
    await writes;
    await vi.waitFor(
      async () => {
        await poll();
        expect(seen.length).toBe((await db.select().from(auditLog)).length);
      },
      { timeout: 20_000, interval: 20 },
    );
    expect(new Set(seen).size).toBe(seen.length);
    expect((await api.get('/v1/auditLogs', { query: { next_page: next } })).body).toEqual({
      data: [],
      next_page: expect.any(String),
    });
  });

  it('the cursor of the audit log does not show rows after a transaction that is still running', async () => {
    const id = await createCustomer({ name: 'Waiting' });
    await rowsOf('customer', id);
    let end: () => void = () => undefined;
    let begun: () => void = () => undefined;
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const running = db.transaction(async (tx) => {
      await tx.execute(sql`select 1`);
      begun();
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    await isBegun;
    const later = await createCustomer({ name: 'Behind' });
    await expect.poll(() => isOverASecondOld(later)).toBe(true);
    const query = { resource_type: 'customer', resource_id: later };
    expect((await api.get('/v1/auditLogs', { query })).list('data')).toEqual([]);
    end();
    await running;
    expect(await rowsOf('customer', later)).toHaveLength(1);
  });

  it('the cursor of the audit log lists from the newest to the oldest as well', async () => {
    const [asc, desc] = [
      (await api.get('/v1/auditLogs')).list('data'),
      await api.get('/v1/auditLogs', { query: { sort: 'date_desc', limit: 3 } }),
    ];
    const rest = await api.get('/v1/auditLogs', { query: { next_page: desc.text('next_page') } });
    const listed = [...desc.list('data'), ...rest.list('data')];
    if (asc.length < 100) expect(listed).toEqual(asc.toReversed());
    else expect(listed.length).toBe(103);
  });

  it.each([
    [{ resource_type: 'customer' }, /^resource_id: /],
    [{ resource_id: 'x' }, /^resource_type: /],
    [{ sort: 'newest' }, /^sort: /],
    [{ next_page: 'x' }, /^next_page: /],
    [{ limit: 101 }, /^limit: /],
  ])('the cursor of the audit log refuses %j', async (query, message) => {
    const refused = await api.send('GET', '/v1/auditLogs', undefined, { query });
    expect([refused.status, refused.at('message')]).toEqual([400, expect.stringMatching(message)]);
  });

  it('the cursor of the audit log is not combined with dates, and keeps those of the first page', async () => {
    const first = await api.get('/v1/auditLogs', {
      query: { limit: 1, starting_on: '2026-11-10T00:00:00Z', ending_before: '2026-11-11T00:00:00Z' },
    });
    const next_page = first.text('next_page');
    const dates = { next_page, starting_on: '2026-11-10T00:00:00Z' };
    const refused = await api.send('GET', '/v1/auditLogs', undefined, { query: dates });
    expect([refused.status, refused.at('message')]).toEqual([
      400,
      'starting_on: must not be combined with next_page',
    ]);
    await service.moveClock('2026-11-12T00:00:00Z');
    const id = await createCustomer({ name: 'Outside' });
    await rowsOf('customer', id);
    let cursor = next_page;
    const texts: string[] = [];
    for (let page = 0; page < 30; page += 1) {
      const answer = await api.get('/v1/auditLogs', { query: { next_page: cursor } });
      cursor = answer.text('next_page');
      texts.push(JSON.stringify(answer.list('data')));
    }
    expect(texts.join()).not.toContain(id);
    expect(texts.at(-1)).toBe('[]');
  });

  it('the cursor of the audit log works with the official client', async () => {
    const client = new Metronome({ baseURL: service.url, bearerToken: service.token });
    const page = await client.v1.auditLogs.list({ limit: 2, sort: 'date_asc' });
    expect(page.data).toHaveLength(2);
    expect((await page.getNextPage()).data).toHaveLength(2);
    expect(page.data[0]).toMatchObject({ status: 'success', request: { id: expect.any(String) } });
  });
});
