/**
 * UUIDs have no letter case on input: in events of every source, as aliases, in terms of contracts, in paths and
 * bodies.
 */
import { readFile } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { validateEvents } from '../../src/metering/ingest/validate-events.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario } from '../support/scenario.ts';

const NOW = '2026-11-10T00:00:00Z';
const service = await serviceForFile({ sandboxNow: NOW });
const { api, db } = service;
const scenario = await createScenario(api, { alias: 'ada' });
const id = scenario.customerId;
/** Every second letter is a capital. */
const mixed = [...id].map((char, at) => (at % 2 === 0 ? char.toUpperCase() : char)).join('');

async function requests(customer = id): Promise<string> {
  const answer = await api.get(`/v1/customers/${customer}/invoices`, { query: { status: 'DRAFT' } });
  const lines = answer.list('data[0].line_items').map((_, at) => `data[0].line_items[${at}]`);
  const line = lines.find((one) => answer.text(`${one}.name`) === 'Requests') ?? '';
  return answer.digits(`${line}.quantity`);
}

const event = (customer: string, transaction: string) =>
  completion(customer, { id: transaction, at: '2026-11-05T00:00:00Z', tokens: 1 });

test('an event counts for the customer whose id it has in any case, also where its body is read the long way', async () => {
  await api.post('/v1/ingest', [event(id, 'lower'), event(id.toUpperCase(), 'upper'), event(mixed, 'mixed')]);
  expect(await requests()).toBe('3');
  // An escape in a property is not plain.
  const escaped = event(id.toUpperCase(), 'escaped');
  await api.post('/v1/ingest', [{ ...escaped, properties: { ...escaped.properties, note: 'a "b"' } }]);
  expect(await requests()).toBe('4');
  // Identity is the transaction id alone.
  const again = await api.post('/v1/ingest', [event(id, 'upper')]);
  expect(again.at('duplicates')).toBe(1);
  expect(await requests()).toBe('4');
  const found = await api.post('/v1/events/search', { transactionIds: ['upper', 'mixed'] });
  expect(found.list('').map((_, at) => found.text(`[${at}].customer_id`))).toEqual([id, id, id]);
});

test('a span counts for the customer whose id it names in any case', async () => {
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const token = (key: string, intValue: number) => ({ key, value: { intValue: String(intValue) } });
  const span = {
    ...{ traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', name: 'chat' },
    ...{ startTimeUnixNano: '1793836800000000000', endTimeUnixNano: '1793836801000000000' },
    attributes: [
      attribute('tallyhouse.customer', id.toUpperCase()),
      attribute('gen_ai.provider.name', 'openai'),
      attribute('gen_ai.request.model', 'gpt-4o'),
      token('gen_ai.usage.input_tokens', 10),
    ],
  };
  const body = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
  const answer = await api.post('/v1/ingest/otlp', body);
  expect(answer.body).toEqual({});
  const rows = await api.post('/v1/sql', {
    sql: `SELECT COUNT(*) AS n FROM events WHERE customer_id = '${id}' AND event_type NOT IN ('completion')`,
  });
  expect(Number(rows.at('data[0].n'))).toBeGreaterThan(0);
});

test('lines of a backfill are read so too, and texts that are no UUID stay as they are', () => {
  const sent = [
    id.toUpperCase(),
    mixed,
    'ADA',
    `${id.toUpperCase()}0`,
    id.toUpperCase().replaceAll('-', '_'),
  ];
  for (const note of ['plain', 'a "quote"']) {
    const events = sent.map((customer, at) => ({
      ...event(customer, `${note} ${at}`),
      properties: { note },
    }));
    const context = { now: Date.parse(NOW), windowDays: 34 };
    const read = validateEvents(Buffer.from(JSON.stringify(events)), context);
    if (!('rows' in read)) throw new Error('the events are valid');
    expect(sent.map((_, at) => read.rows.read(at).customerRef)).toEqual([id, id, ...sent.slice(2)]);
  }
});

test('an alias that is the id of a customer in any case is taken', async () => {
  const other = await createdId(api, '/v1/customers', { name: 'Other' });
  for (const alias of [id, id.toUpperCase(), mixed]) {
    const set = await api.send('POST', `/v1/customers/${other}/setIngestAliases`, {
      ingest_aliases: [alias],
    });
    expect(set.status).toBe(409);
    const created = await api.send('POST', '/v1/customers', { name: 'New', ingest_aliases: [alias] });
    expect(created.status).toBe(409);
  }
  // Its own id changes nothing.
  await api.post(`/v1/customers/${id}/setIngestAliases`, { ingest_aliases: ['ada', mixed] });
  expect(await requests()).toBe('4');
});

test('an alias that is a UUID of another system is one in any case', async () => {
  const uuid = 'C0FFEE00-1234-4ABC-8DEF-0000DEADBEEF';
  const own = await createScenario(api, { alias: uuid });
  const taken = await api.send('POST', '/v1/customers', {
    name: 'New',
    ingest_aliases: [uuid.toLowerCase()],
  });
  expect(taken.status).toBe(409);
  await api.post('/v1/ingest', [event(uuid, 'of upper'), event(uuid.toLowerCase(), 'of lower')]);
  expect(await requests(own.customerId)).toBe('2');
  const listed = await api.get('/v1/customers', { query: { ingest_alias: uuid } });
  expect(listed.text('data[0].id')).toBe(own.customerId);
});

test('a UUID that was stored as an alias with capitals keeps its events, and has the present ones', async () => {
  const uuid = 'BEEF0000-1234-4ABC-8DEF-0000DEADBEEF';
  const own = await createScenario(api, { alias: 'of an earlier version' });
  await db.execute(sql`update ingest_aliases set alias = ${uuid} where customer_id = ${own.customerId}`);
  const migration = await readFile(new URL('../../drizzle/0039_uuid_aliases.sql', import.meta.url), 'utf8');
  await db.execute(sql.raw(migration));
  await db.execute(sql.raw(migration));
  await api.post('/v1/ingest', [event(uuid, 'now')]);
  expect(await requests(own.customerId)).toBe('1');
  const read = await api.get(`/v1/customers/${own.customerId}`);
  expect(read.at('data.ingest_aliases')).toEqual([uuid, uuid.toLowerCase()]);
  // Sent back as they were read, they stay.
  await api.post(`/v1/customers/${own.customerId}/setIngestAliases`, {
    ingest_aliases: [uuid, uuid.toLowerCase()],
  });
  expect((await api.get(`/v1/customers/${own.customerId}`)).at('data.ingest_aliases')).toEqual([
    ...[uuid, uuid.toLowerCase()],
  ]);
});

test('overrides take ids of commits in any case, and paths and bodies all ids', async () => {
  const fixed = await createdId(api, '/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });
  const START = '2026-11-01T00:00:00Z';
  const contract = await createdId(api, CONTRACTS, {
    ...{ customer_id: id.toUpperCase(), rate_card_id: scenario.rateCardId.toUpperCase(), starting_at: START },
    commits: [
      {
        ...{ type: 'PREPAID', product_id: fixed.toUpperCase() },
        access_schedule: {
          schedule_items: [{ amount: 10, starting_at: START, ending_before: '2027-01-01T00:00:00Z' }],
        },
      },
    ],
  });
  const names = { customer_id: mixed, contract_id: contract.toUpperCase() };
  const read = await api.post('/v2/contracts/get', names);
  const commit = read.text('data.commits[0].id');
  await api.post('/v2/contracts/edit', {
    ...names,
    add_overrides: [
      {
        ...{ type: 'MULTIPLIER', multiplier: 0.5, starting_at: START, is_commit_specific: true },
        override_specifiers: [
          { product_id: scenario.requestsProductId.toUpperCase(), commit_ids: [commit.toUpperCase()] },
        ],
      },
    ],
  });
  const edited = await api.post('/v2/contracts/get', names);
  expect(edited.at('data.overrides[0].override_specifiers[0].commit_ids')).toEqual([commit]);
  expect((await api.get(`/v1/customers/${mixed}`)).text('data.id')).toBe(id);
});
