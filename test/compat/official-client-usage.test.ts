/**
 * The official client, unchanged, against the service: metrics, batch usage and event search.
 *
 * SDK methods covered: v1.billableMetrics.list, archive; v1.customers.listBillableMetrics;
 * v1.usage.list, search.
 */
import Metronome from '@metronome/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../support/collect.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-03-20T12:00:00Z' });
let client: Metronome;
let customer: string;
let metric: string;

beforeAll(async () => {
  client = new Metronome({ baseURL: service.url, bearerToken: service.token });
  customer = (await client.v1.customers.create({ name: 'Initech', ingest_aliases: ['initech'] })).data.id;
  const created = await client.v1.billableMetrics.create({
    name: 'Tokens',
    event_type_filter: { in_values: ['completion'] },
    property_filters: ['tokens', 'model'].map((name) => ({ name, exists: true })),
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    group_keys: [['model']],
  });
  metric = created.data.id;
  const event = {
    transaction_id: 'initech-1',
    customer_id: 'initech',
    event_type: 'completion',
    timestamp: '2026-03-19T10:00:00Z',
    properties: { tokens: '12.5', model: 'large' },
  };
  await client.v1.usage.ingest({ usage: [event, { ...event, event_type: 'again' }] });
});

describe('the official client', () => {
  it('the official client lists usage of customers and metrics, by day and group', async () => {
    const rows = await collect(
      client.v1.usage.list({
        starting_on: '2026-03-18T00:00:00Z',
        ending_before: '2026-03-20T00:00:00Z',
        window_size: 'DAY',
        customer_ids: [customer],
        billable_metrics: [{ id: metric, group_by: { key: 'model', values: ['large', 'small'] } }],
      }),
    );
    expect(rows.map(({ value, groups }) => ({ value, groups }))).toEqual([
      { value: null, groups: { large: null, small: null } },
      { value: 12.5, groups: { large: 12.5, small: null } },
    ]);
    expect(rows[1]).toMatchObject({ customer_id: customer, billable_metric_name: 'Tokens' });
  });

  it('the official client finds an event and its repeat', async () => {
    const found = await client.v1.usage.search({ transactionIds: ['initech-1'] });
    expect(found.map((event) => event.is_duplicate)).toEqual([false, true]);
    expect(found[0]?.matched_customer).toEqual({ id: customer, name: 'Initech' });
    expect(found[0]?.matched_billable_metrics?.map(({ id }) => id)).toEqual([metric]);
  });

  it('the official client lists the metrics of a customer and archives one', async () => {
    const mine = await collect(client.v1.customers.listBillableMetrics({ customer_id: customer }));
    expect(mine.map(({ id, aggregate_keys: keys }) => ({ id, keys }))).toEqual([
      { id: metric, keys: ['tokens'] },
    ]);
    expect(await collect(client.v1.billableMetrics.list())).toHaveLength(1);
    await client.v1.billableMetrics.archive({ id: metric });
    expect(await collect(client.v1.billableMetrics.list())).toEqual([]);
    const archived = client.v1.customers.listBillableMetrics({
      customer_id: customer,
      include_archived: true,
      on_current_plan: false,
    });
    expect(await collect(archived)).toHaveLength(1);
  });
});
