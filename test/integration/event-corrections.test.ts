/** Corrections of stored events through the API: the life of a set, what is refused, and what drafts and search show. */
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api } = service;
let scenario: Scenario;
let otherId: string;

const AT = '2026-11-05T12:00:00Z';
let sets = 0;

beforeAll(async () => {
  scenario = await createScenario(api, { alias: 'corrected' });
  otherId = await createdId(api, '/v1/customers', { name: 'other', ingest_aliases: ['other'] });
  await createdId(api, '/v1/contracts/create', {
    customer_id: otherId,
    rate_card_id: scenario.rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
  });
});

const drafts = z.object({
  data: z.array(
    z.object({ line_items: z.array(z.object({ name: z.string(), quantity: z.number().optional() })) }),
  ),
});
const found = z.array(
  z.object({
    status: z.string().optional(),
    correction_id: z.string().optional(),
    properties: z.record(z.string(), z.string()),
    matched_billable_metrics: z.array(z.unknown()),
    is_duplicate: z.boolean(),
  }),
);

async function send(...ids: string[]): Promise<void> {
  await api.post(
    '/v1/ingest',
    ids.map((id) => completion('corrected', { id, at: AT, tokens: 100 })),
  );
}

async function openSet(additions: object): Promise<string> {
  sets += 1;
  const id = await createdId(api, '/v1/events/corrections/create', { name: `set ${sets}`, reason: 'a loop' });
  await api.post('/v1/events/corrections/add', { correction_id: id, ...additions });
  return id;
}

async function apply(additions: object): Promise<string> {
  const id = await openSet(additions);
  await api.post('/v1/events/corrections/apply', { correction_id: id });
  return id;
}

const change = (name: 'apply' | 'revert' | 'drop', id: string) =>
  api.send('POST', `/v1/events/corrections/${name}`, { correction_id: id });

const voided = (...ids: string[]) => ({ void: ids.map((id) => ({ transaction_id: id })) });

/** The number of requests on the draft of the customer, which is the number of its events. */
async function requests(customerId = scenario.customerId): Promise<number> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status: 'DRAFT' } });
  const { data } = drafts.parse(answer.body);
  return data
    .flatMap((invoice) => invoice.line_items)
    .filter(({ name }) => name === 'Requests')
    .reduce((sum, { quantity = 0 }) => sum + quantity, 0);
}

async function search(id: string) {
  const answer = await api.post('/v1/events/search', { transactionIds: [id] });
  return found.parse(answer.body).map((row) => ({
    status: row.status,
    correction: row.correction_id,
    tokens: row.properties['tokens'],
    metrics: row.matched_billable_metrics.length,
    duplicate: row.is_duplicate,
  }));
}

describe('corrections of events', () => {
  test('a correction counts from its application to its revert, in drafts, usage and SQL', async () => {
    await send('life-1', 'life-2');
    const before = await requests();
    const id = await openSet(voided('life-1'));
    expect(await requests()).toBe(before);
    await api.post('/v1/events/corrections/apply', { correction_id: id });
    expect(await requests()).toBe(before - 1);
    const sql = await api.post('/v1/sql', {
      sql: "SELECT transaction_id FROM events WHERE transaction_id = 'life-1' OR transaction_id = 'life-2'",
    });
    expect(JSON.stringify(sql.body)).toContain('life-2');
    expect(JSON.stringify(sql.body)).not.toContain('life-1');
    const usage = await api.post('/v1/usage', {
      ...{ customer_ids: [scenario.customerId], billable_metrics: [{ id: scenario.tokensMetricId }] },
      ...{ window_size: 'NONE', starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-11-08T00:00:00Z' },
    });
    expect(usage.at('data[0].value')).toBe(100 * (before - 1));
    const shown = await api.get(`/v1/events/corrections/${id}`);
    expect(shown.at('data')).toMatchObject({
      ...{ status: 'applied', voided_events: 1, amended_events: 0, unknown_events: 0 },
      applied: { at: '2026-11-10T00:00:00.000Z' },
    });
    await api.post('/v1/events/corrections/revert', { correction_id: id });
    expect(await requests()).toBe(before);
  });

  test('an amended event moves to another customer with other values, and back', async () => {
    await send('amended');
    const before = [await requests(), await requests(otherId)];
    const id = await apply({
      amend: [
        {
          transaction_id: 'amended',
          customer_id: 'other',
          properties: { tokens: 7, model: 'small', region: 'eu' },
        },
      ],
    });
    expect([await requests(), await requests(otherId)]).toEqual([(before[0] ?? 0) - 1, (before[1] ?? 0) + 1]);
    expect(await search('amended')).toEqual([
      { status: 'amended', correction: id, tokens: '100', metrics: 0, duplicate: false },
      { status: 'billed', correction: id, tokens: '7', metrics: 2, duplicate: false },
    ]);
    const billing = await api.get('/v1/events/amended/billing');
    expect(billing.text('data.customer_id')).toBe(otherId);
    await change('revert', id);
    expect([await requests(), await requests(otherId)]).toEqual(before);
    expect(await search('amended')).toMatchObject([{ status: 'billed', tokens: '100', metrics: 2 }]);
  });

  test('a voided event that is sent again is a duplicate and does not count', async () => {
    await send('again');
    const before = await requests();
    const id = await apply(voided('again'));
    await send('again');
    expect(await requests()).toBe(before - 1);
    expect(await search('again')).toMatchObject([
      { status: 'voided', correction: id, metrics: 0, duplicate: false },
      { duplicate: true },
    ]);
  });

  test('a second set corrects the same event again, and the first is reverted only after it', async () => {
    await send('twice');
    const before = await requests();
    const first = await apply({
      amend: [{ transaction_id: 'twice', properties: { tokens: 1, model: 'small', region: 'eu' } }],
    });
    const second = await apply(voided('twice'));
    expect(await requests()).toBe(before - 1);
    expect(await search('twice')).toMatchObject([
      { status: 'amended', correction: first },
      { status: 'voided', correction: second },
    ]);
    const refused = await change('revert', first);
    expect(refused).toMatchObject({ status: 409, body: { conflicting_id: second } });
    expect((await change('revert', second)).status).toBe(200);
    expect(await search('twice')).toMatchObject([{ status: 'amended' }, { status: 'billed', tokens: '1' }]);
    expect((await change('revert', first)).status).toBe(200);
    expect(await requests()).toBe(before);
  });

  test('a set is changed in the order of its states, each step once', async () => {
    await send('states');
    const id = await openSet(voided('states'));
    expect((await change('revert', id)).status).toBe(409);
    expect((await change('apply', id)).status).toBe(200);
    for (const name of ['apply', 'drop'] as const) expect((await change(name, id)).status).toBe(409);
    const added = await api.send('POST', '/v1/events/corrections/add', {
      correction_id: id,
      ...voided('states'),
    });
    expect(added.status).toBe(409);
    expect((await change('revert', id)).status).toBe(200);
    expect((await change('revert', id)).status).toBe(409);
    const dropped = await openSet(voided('states'));
    expect((await change('drop', dropped)).status).toBe(200);
    expect((await change('apply', dropped)).status).toBe(409);
    const unknown = '019ac000-0000-7000-8000-000000000000';
    expect((await change('apply', unknown)).status).toBe(404);
    const listed = await api.get('/v1/events/corrections', { query: { status: 'dropped' } });
    expect([listed.list('data').length, listed.text('data[0].id')]).toEqual([1, dropped]);
  });

  test('ids without an event are listed where they are void, and refused where they are amended', async () => {
    const id = await openSet(voided('states'));
    const add = (additions: object) =>
      api.send('POST', '/v1/events/corrections/add', { correction_id: id, ...additions });
    expect(await add(voided('nowhere-1'))).toMatchObject({
      status: 200,
      body: { data: { not_found: ['nowhere-1'] } },
    });
    expect(await add({ amend: [{ transaction_id: 'nowhere-2', event_type: 'x' }] })).toMatchObject({
      ...{ status: 400, body: { not_found: ['nowhere-2'] } },
    });
    const shown = await api.get(`/v1/events/corrections/${id}`);
    expect(shown.at('data')).toMatchObject({ voided_events: 1, unknown_events: 1 });
  });

  test.each([
    [{ event_type: 'x'.repeat(257) }, 'event_type'],
    [{ timestamp: '2026-12-24T00:00:00Z' }, 'timestamp'],
    [{ timestamp: 'yesterday' }, 'timestamp'],
    [{ customer_id: 'x'.repeat(257) }, 'customer_id'],
    [{ properties: { n: 'x'.repeat(70_000) } }, 'properties'],
    [{}, 'changes nothing'],
  ])('an amendment that ingestion would refuse is refused, case %#', async (given, named) => {
    await send('refused');
    const id = await openSet(voided('refused'));
    const answer = await api.send('POST', '/v1/events/corrections/add', {
      correction_id: id,
      amend: [{ transaction_id: 'refused', ...given }],
    });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(named);
  });

  test('an amended event may be older than the deduplication window', async () => {
    await send('older');
    const before = await requests();
    await apply({ amend: [{ transaction_id: 'older', timestamp: '2026-01-05T00:00:00Z' }] });
    expect(await requests()).toBe(before - 1);
  });

  test('events of an erased customer cannot be amended', async () => {
    const gone = await createdId(api, '/v1/customers', { name: 'gone' });
    await api.post('/v1/ingest', [completion(gone, { id: 'erased', at: AT, tokens: 1 })]);
    const id = await openSet({ amend: [{ transaction_id: 'erased', event_type: 'other' }] });
    await api.post(`/v1/customers/${gone}/erase`);
    const shown = await api.get(`/v1/events/corrections/${id}`);
    expect(shown.at('data')).toMatchObject({ amended_events: 0 });
    const again = await api.send('POST', '/v1/events/corrections/add', {
      correction_id: id,
      amend: [{ transaction_id: 'erased', event_type: 'other' }],
    });
    expect(again.status).toBe(400);
  });

  test('a finalized invoice stays, shows the usage that was taken back, and reconciles', async () => {
    await send('issued-1', 'issued-2');
    await service.moveClock('2026-12-05T00:00:00Z');
    const path = `/v1/customers/${scenario.customerId}/invoices`;
    const before = await api.get(path, { query: { status: 'FINALIZED' } });
    const invoiceId = before.text('data[0].id');
    await apply(voided('issued-1'));
    const after = await api.get(`${path}/${invoiceId}`);
    expect(after.at('data.line_items')).toEqual(before.at('data[0].line_items'));
    expect(JSON.stringify(after.at('data.unbilled_late_usage'))).toContain('-1');
    const late = await api.get('/v1/late-usage', { query: { month: '2026-11' } });
    expect(JSON.stringify(late.body)).toContain(invoiceId);
    const reconciled = await api.post('/v1/invoices/reconcile', {
      ...{ customer_id: scenario.customerId, starting_on: '2026-11-01T00:00:00Z' },
      ending_before: '2026-12-01T00:00:00Z',
    });
    expect(reconciled.at('data[0].differences')).toEqual([]);
    expect(reconciled.list('data[0].late_usage').length).toBeGreaterThan(0);
  });

  test('applied corrections count after a restart', async () => {
    await send('restarted');
    const id = await apply(voided('restarted'));
    const before = await requests();
    await service.restart();
    expect(await requests()).toBe(before);
    expect(await search('restarted')).toMatchObject([{ status: 'voided', correction: id }]);
  });
});
