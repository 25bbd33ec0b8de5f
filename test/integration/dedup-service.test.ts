/** One event counts once, asked of the whole service over HTTP: through usage, whatever a repeat says. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serviceForFile } from '../support/file-fixtures.ts';

const NOW = '2026-11-20T12:00:00Z';

const service = await serviceForFile({ sandboxNow: NOW });
let metricId: string;
beforeAll(async () => {
  metricId = await created('/v1/billable-metrics/create', {
    name: 'n',
    aggregation_type: 'SUM',
    aggregation_key: 'n',
    event_type_filter: { in_values: ['tokens'] },
    property_filters: [{ name: 'n', exists: true }],
  });
});

const createdBody = z.object({ data: z.object({ id: z.string() }) });
const usageBody = z.object({ data: z.array(z.object({ value: z.number().nullable() })) });
const outcomeBody = z.object({ accepted: z.number(), duplicates: z.number() });

async function post(path: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function created(path: string, body: unknown): Promise<string> {
  return createdBody.parse((await post(path, body)).body).data.id;
}

interface Fields {
  readonly customer: string;
  readonly n: number;
  readonly timestamp?: string;
}

const event = (id: string, { customer, n, timestamp = '2026-11-20T11:00:00Z' }: Fields) => ({
  transaction_id: id,
  customer_id: customer,
  event_type: 'tokens',
  timestamp,
  properties: { n },
});

async function ingest(events: readonly object[]): Promise<readonly [accepted: number, duplicates: number]> {
  const answer = await post('/v1/ingest', events);
  expect(answer.status).toBe(200);
  const { accepted, duplicates } = outcomeBody.parse(answer.body);
  return [accepted, duplicates];
}

/** A separate customer for every test. */
const newCustomer = async () => {
  const ref = randomUUID();
  const id = await created('/v1/customers', { name: ref, ingest_aliases: [ref] });
  return { id, ref };
};

async function usage(customerId: string): Promise<number> {
  const { body } = await post('/v1/usage/groups', {
    customer_id: customerId,
    billable_metric_id: metricId,
    window_size: 'NONE',
    starting_on: '2026-10-01T00:00:00Z',
    ending_before: '2027-03-01T00:00:00Z',
  });
  return usageBody.parse(body).data.reduce((sum, row) => sum + (row.value ?? 0), 0);
}

describe('an id counts once', () => {
  it('an id counts once: sent twice in one request: the first of them', async () => {
    const { id, ref } = await newCustomer();
    const events = [event(ref, { customer: ref, n: 1 }), event(ref, { customer: ref, n: 10 })];
    expect(await ingest(events)).toEqual([1, 1]);
    expect(await usage(id)).toBe(1);
  });

  it('an id counts once: sent in many requests at the same time', async () => {
    const { id, ref } = await newCustomer();
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, () => ingest([event(ref, { customer: ref, n: 1 })])),
    );
    expect(outcomes.reduce((sum, [accepted]) => sum + accepted, 0)).toBe(1);
    expect(outcomes.reduce((sum, [, duplicates]) => sum + duplicates, 0)).toBe(49);
    expect(await usage(id)).toBe(1);
  });

  it('an id counts once: sent again with other content, timestamp, event type or customer: nothing changes', async () => {
    const [{ id, ref }, other] = [await newCustomer(), await newCustomer()];
    const first = event(ref, { customer: ref, n: 1 });
    await ingest([first]);
    const repeats = [
      { ...first, properties: { n: 100 } },
      { ...first, timestamp: '2026-11-01T00:00:00Z' },
      { ...first, event_type: 'calls' },
      { ...first, customer_id: other.ref },
    ];
    for (const repeat of repeats) expect(await ingest([repeat])).toEqual([0, 1]);
    expect([await usage(id), await usage(other.id)]).toEqual([1, 0]);
  });

  it('an id counts once: sent again after a restart', async () => {
    const { id, ref } = await newCustomer();
    await ingest([event(ref, { customer: ref, n: 1 })]);
    await service.restart();
    expect(
      await ingest([event(ref, { customer: ref, n: 5 }), event(`${ref}-2`, { customer: ref, n: 2 })]),
    ).toEqual([1, 1]);
    expect(await usage(id)).toBe(3);
  });

  it('an id counts once for 34 days from its acceptance, whatever its timestamp, and then counts again', async () => {
    const { id, ref } = await newCustomer();
    await service.moveClock('2026-11-21T00:00:00Z');
    await ingest([event(ref, { customer: ref, n: 1, timestamp: '2026-10-20T00:00:00Z' })]);
    await service.moveClock('2026-12-24T23:59:59Z');
    const again = event(ref, { customer: ref, n: 10, timestamp: '2026-12-24T00:00:00Z' });
    expect(await ingest([again])).toEqual([0, 1]);
    await service.restart();
    expect(await ingest([again])).toEqual([0, 1]);
    await service.moveClock('2026-12-25T00:00:00Z');
    expect(await ingest([again])).toEqual([1, 0]);
    expect(await ingest([again])).toEqual([0, 1]);
    await service.restart();
    expect(await ingest([again])).toEqual([0, 1]);
    expect(await usage(id)).toBe(11);
  });
});
