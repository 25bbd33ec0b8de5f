/**
 * The official client, unchanged, against the service: catalogue, usage and errors. The path from a
 * contract to a finalized invoice is in `official-client-month.test.ts`.
 *
 * SDK methods covered in this folder:
 * - v1.customers: create, list, retrieve, archive, setIngestAliases
 * - v1.customers.invoices: list, retrieve, listBreakdowns
 * - v1.billableMetrics: create, retrieve
 * - v1.usage: ingest, listWithGroups
 * - v1.contracts: create
 * - v1.contracts.products: create
 * - v1.contracts.rateCards: create; v1.contracts.rateCards.rates: add, addMany
 */
import Metronome, {
  AuthenticationError,
  BadRequestError,
  type ClientOptions,
  ConflictError,
  NotFoundError,
} from '@metronome/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../support/collect.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const service = await serviceForFile({ sandboxNow: '2026-03-20T12:00:00Z' });
let client: Metronome;

beforeAll(async () => {
  client = createClient({});
});

function createClient(options: ClientOptions): Metronome {
  return new Metronome({ baseURL: service.url, bearerToken: service.token, ...options });
}

/** The refusal of a call. Fails the test where it is not refused. */
async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('the call was not refused');
}

function createTokenMetric() {
  return client.v1.billableMetrics.create({
    name: 'Tokens',
    event_type_filter: { in_values: ['completion'] },
    property_filters: ['tokens', 'model', 'region'].map((name) => ({ name, exists: true })),
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    group_keys: [['model'], ['model', 'region']],
  });
}

describe('customers with the official client', () => {
  it('customers with the official client are created, read, and found by alias and by ids', async () => {
    const created = await client.v1.customers.create({ name: 'Acme', ingest_aliases: ['acme-1', 'acme-2'] });
    const { id } = created.data;
    expect(created.data).toMatchObject({ name: 'Acme', ingest_aliases: ['acme-1', 'acme-2'] });
    const other = await client.v1.customers.create({ name: 'Bolt' });

    const read = await client.v1.customers.retrieve({ customer_id: id });
    expect(read.data).toMatchObject({ id, name: 'Acme', custom_fields: {} });
    expect(await collect(client.v1.customers.list({ ingest_alias: 'acme-2' }))).toEqual([read.data]);
    const both = await collect(client.v1.customers.list({ customer_ids: [id, other.data.id] }));
    expect(both.map((customer) => customer.name).sort()).toEqual(['Acme', 'Bolt']);
  });

  it('customers with the official client are listed page after page', async () => {
    const names = ['Page 1', 'Page 2', 'Page 3'];
    for (const name of names) await client.v1.customers.create({ name });
    const listed = await collect(client.v1.customers.list({ limit: 1 }));
    const listedNames = listed.map((customer) => customer.name);
    expect(listedNames.filter((name) => name.startsWith('Page')).sort()).toEqual(names);
    expect(new Set(listed.map((customer) => customer.id)).size).toBe(listed.length);
  });

  it('customers with the official client are archived once, and listed on request only', async () => {
    const { data } = await client.v1.customers.create({ name: 'Mistake' });
    expect((await client.v1.customers.archive({ id: data.id })).data).toEqual({ id: data.id });
    const [archived] = await collect(client.v1.customers.list({ only_archived: true }));
    expect(archived).toMatchObject({ id: data.id, archived_at: '2026-03-20T12:00:00.000Z' });
    expect(await collect(client.v1.customers.list({ customer_ids: [data.id] }))).toEqual([]);
    await expect(client.v1.customers.archive({ id: data.id })).rejects.toBeInstanceOf(BadRequestError);
    const unknown = client.v1.customers.archive({ id: UNKNOWN_ID });
    await expect(unknown).rejects.toBeInstanceOf(NotFoundError);
  });

  it('customers with the official client have their aliases replaced as a set', async () => {
    const { data } = await client.v1.customers.create({ name: 'Alias', ingest_aliases: ['old'] });
    await client.v1.customers.setIngestAliases({ customer_id: data.id, ingest_aliases: ['new-1', 'new-2'] });
    const read = await client.v1.customers.retrieve({ customer_id: data.id });
    expect(read.data.ingest_aliases.toSorted()).toEqual(['new-1', 'new-2']);
  });
});

describe('metrics with the official client', () => {
  it('metrics with the official client are read back as they were defined', async () => {
    const { data } = await createTokenMetric();
    const read = await client.v1.billableMetrics.retrieve({ billable_metric_id: data.id });
    expect(read.data).toMatchObject({
      id: data.id,
      name: 'Tokens',
      aggregation_type: 'SUM',
      aggregation_key: 'tokens',
      event_type_filter: { in_values: ['completion'] },
      group_keys: [['model'], ['model', 'region']],
    });
  });

  it.each(['COUNT', 'MAX', 'UNIQUE', 'LATEST'] as const)(
    'metrics with the official client may aggregate by %s',
    async (aggregation_type) => {
      const { data } = await client.v1.billableMetrics.create({
        name: aggregation_type,
        property_filters: [{ name: 'seats', exists: true }],
        aggregation_type,
        ...(aggregation_type === 'COUNT' ? {} : { aggregation_key: 'seats' }),
      });
      const read = await client.v1.billableMetrics.retrieve({ billable_metric_id: data.id });
      expect(read.data.aggregation_type).toBe(aggregation_type);
    },
  );
});

describe('usage with the official client', () => {
  const range = { starting_on: '2026-03-18T00:00:00Z', ending_before: '2026-03-20T00:00:00Z' };
  let ids: { customer_id: string; billable_metric_id: string };

  beforeAll(async () => {
    const metric = await createTokenMetric();
    const customer = await client.v1.customers.create({ name: 'Usage', ingest_aliases: ['usage'] });
    ids = { customer_id: customer.data.id, billable_metric_id: metric.data.id };
    const event = (
      id: string,
      timestamp: string,
      model: string,
      region: string,
      tokens: number | string,
    ) => ({
      transaction_id: `usage-${id}`,
      customer_id: 'usage',
      event_type: 'completion',
      timestamp,
      properties: { model, region, tokens },
    });
    const events = [
      event('1', '2026-03-18T10:00:00Z', 'small', 'eu', 10),
      event('2', '2026-03-18T10:59:59.999Z', 'small', 'us', '2.5'),
      event('3', '2026-03-18T11:00:00Z', 'large', 'eu', '7'),
      event('4', '2026-03-19T23:30:00Z', 'large', 'eu', '100'),
    ];
    await client.v1.usage.ingest({ usage: events });
    await client.v1.usage.ingest({ usage: events });
  });

  it('usage with the official client counts every transaction id once, also when a request is repeated', async () => {
    const rows = await collect(client.v1.usage.listWithGroups({ ...ids, ...range, window_size: 'NONE' }));
    expect(rows.map((row) => row.value)).toEqual([119.5]);
  });

  it('usage with the official client is listed by day and model, page after page', async () => {
    const rows = await collect(
      client.v1.usage.listWithGroups({
        ...ids,
        ...range,
        window_size: 'DAY',
        group_key: ['model'],
        limit: 1,
      }),
    );
    expect(rows.map((row) => [row.starting_on, row.ending_before, row.group, row.value])).toEqual([
      ['2026-03-18T00:00:00.000Z', '2026-03-19T00:00:00.000Z', { model: 'large' }, 7],
      ['2026-03-18T00:00:00.000Z', '2026-03-19T00:00:00.000Z', { model: 'small' }, 12.5],
      ['2026-03-19T00:00:00.000Z', '2026-03-20T00:00:00.000Z', { model: 'large' }, 100],
    ]);
  });

  it('usage with the official client is listed by hour and a compound key, filtered', async () => {
    const rows = await collect(
      client.v1.usage.listWithGroups({
        ...ids,
        ...range,
        window_size: 'HOUR',
        group_key: ['model', 'region'],
        group_filters: { region: ['eu'] },
      }),
    );
    expect(rows.map((row) => [row.starting_on, row.group, row.value])).toEqual([
      ['2026-03-18T10:00:00.000Z', { model: 'small', region: 'eu' }, 10],
      ['2026-03-18T11:00:00.000Z', { model: 'large', region: 'eu' }, 7],
      ['2026-03-19T23:00:00.000Z', { model: 'large', region: 'eu' }, 100],
    ]);
  });
});

describe('errors with the official client', () => {
  it('a wrong token is an AuthenticationError', async () => {
    const stranger = createClient({ bearerToken: 'wrong' });
    const error = await refusalOf(stranger.v1.customers.list());
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ status: 401, error: { message: expect.any(String) } });
  });

  it('an unknown customer, metric or invoice is a NotFoundError', async () => {
    const calls = [
      client.v1.customers.retrieve({ customer_id: UNKNOWN_ID }),
      client.v1.billableMetrics.retrieve({ billable_metric_id: UNKNOWN_ID }),
      client.v1.customers.invoices.retrieve({ customer_id: UNKNOWN_ID, invoice_id: UNKNOWN_ID }),
    ];
    for (const error of await Promise.all(calls.map(refusalOf))) {
      expect(error).toBeInstanceOf(NotFoundError);
      expect(error).toMatchObject({ status: 404, error: { message: expect.any(String) } });
    }
  });

  it('bad input is a BadRequestError that names the field', async () => {
    const noKey = client.v1.billableMetrics.create({ name: 'Sum of nothing', aggregation_type: 'SUM' });
    const error = await refusalOf(noKey);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ message: expect.stringContaining('aggregation_key') });
  });

  it('a request with one bad event stores none of its events', async () => {
    const metric = await client.v1.billableMetrics.create({ name: 'All', aggregation_type: 'COUNT' });
    const customer = await client.v1.customers.create({ name: 'Bad batch', ingest_aliases: ['bad-batch'] });
    const event = { customer_id: 'bad-batch', event_type: 'x' };
    const usage = [
      { ...event, transaction_id: 'bad-1', timestamp: '2026-03-19T00:00:00Z' },
      { ...event, transaction_id: 'bad-2', timestamp: '2025-03-19T00:00:00Z' },
    ];
    const error = await refusalOf(client.v1.usage.ingest({ usage }));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ error: { errors: [{ index: 1, transaction_id: 'bad-2' }] } });
    const rows = await collect(
      client.v1.usage.listWithGroups({
        customer_id: customer.data.id,
        billable_metric_id: metric.data.id,
        window_size: 'DAY',
        starting_on: '2026-03-19T00:00:00Z',
        ending_before: '2026-03-20T00:00:00Z',
      }),
    );
    expect(rows.filter((row) => row.value)).toEqual([]);
  });

  it('a used uniqueness key or alias is a ConflictError after a single attempt', async () => {
    let attempts = 0;
    const counting = createClient({
      fetch: (url, init) => {
        attempts++;
        return fetch(url, init);
      },
    });
    const { data } = await client.v1.customers.create({ name: 'Unique', ingest_aliases: ['taken'] });
    const contract = { customer_id: data.id, starting_at: '2026-03-01T00:00:00Z', uniqueness_key: 'once' };
    await client.v1.contracts.create(contract);

    const repeated = await refusalOf(counting.v1.contracts.create(contract));
    expect(repeated).toBeInstanceOf(ConflictError);
    expect(attempts).toBe(1);
    const taken = await refusalOf(counting.v1.customers.create({ name: 'Other', ingest_aliases: ['taken'] }));
    expect(taken).toBeInstanceOf(ConflictError);
    expect(attempts).toBe(2);
  });
});
