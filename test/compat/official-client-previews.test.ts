/**
 * The official client, unchanged, against the service: previews of events, and costs.
 *
 * SDK methods covered: v1.customers.previewEvents, listCosts.
 */
import Metronome from '@metronome/sdk';
import { beforeAll, expect, it } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
let client: Metronome;
let customer: string;

beforeAll(async () => {
  client = new Metronome({ baseURL: service.url, bearerToken: service.token });
  customer = (await createScenario(service.api, { alias: 'ada' })).customerId;
  await client.v1.usage.ingest({
    usage: [
      completion('ada', { id: '1', at: '2026-11-03T00:00:00Z', tokens: '1000', model: 'small' }),
      completion('ada', { id: '2', at: '2026-11-05T00:00:00Z', tokens: '200', model: 'small' }),
    ],
  });
});

it('the official client previews events beside those that were sent, and alone', async () => {
  const events = [
    {
      event_type: 'completion',
      timestamp: '2026-11-09T00:00:00Z',
      properties: { tokens: 100, model: 'small', region: 'eu' },
    },
  ];
  const alone = await client.v1.customers.previewEvents({ customer_id: customer, events });
  expect(alone.data.map(({ total }) => total)).toEqual([2.5]);
  const merged = await client.v1.customers.previewEvents({ customer_id: customer, events, mode: 'merge' });
  expect(merged.data.map(({ total, status }) => ({ total, status }))).toEqual([
    { total: 12.5, status: 'DRAFT' },
  ]);
});

it('the official client lists the costs of all days, page by page', async () => {
  const costs: (number | undefined)[] = [];
  for await (const day of client.v1.customers.listCosts({
    customer_id: customer,
    starting_on: '2026-11-03T00:00:00Z',
    ending_before: '2026-11-07T00:00:00Z',
    limit: 3,
  })) {
    costs.push(Object.values(day.credit_types)[0]?.cost);
  }
  expect(costs).toEqual([7, undefined, 3, undefined]);
});
