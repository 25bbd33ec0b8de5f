/** Where an event is billed: the amounts of all events of a line are the line, and the lines are those of the invoices. */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { decimal, sum } from '../../src/core/decimal.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-10-31T23:00:00Z' });
const { api } = service;
let scenario: Scenario;

const SENT = fc
  .sample(
    fc.record({
      model: fc.constantFrom('small', 'large', 'unpriced'),
      region: fc.constantFrom('eu', 'us'),
      tokens: fc.integer({ min: 1, max: 900 }),
      day: fc.integer({ min: 1, max: 45 }),
    }),
    24,
  )
  .map(({ day, ...sent }, index) =>
    completion('billed', {
      ...{ id: `sent/${index}`, ...sent },
      at: new Date(Date.UTC(2026, 9, day, 12)).toISOString(),
    }),
  );

beforeAll(async () => {
  scenario = await createScenario(api, { alias: 'billed', startingAt: '2026-10-01T00:00:00Z' });
  await api.post(
    '/v1/ingest',
    SENT.filter(({ timestamp }) => timestamp < '2026-11-01'),
  );
  // October is issued, November is a draft.
  await service.moveClock('2026-11-20T00:00:00Z');
  await api.post(
    '/v1/ingest',
    SENT.filter(({ timestamp }) => timestamp >= '2026-11-01'),
  );
});

const billingOf = (id: string) => api.get(`/v1/events/${encodeURIComponent(id)}/billing`);

interface Line {
  readonly invoice: string;
  readonly id: string;
  readonly quantity: string | null;
  readonly amount: string | null;
}

function linesOf(answer: ApiAnswer): Line[] {
  return answer.list('data.lines').map((_, index) => {
    const at = `data.lines[${index}]`;
    const digits = (name: string) =>
      answer.at(`${at}.${name}`) === undefined ? null : answer.digits(`${at}.${name}`);
    return {
      invoice: answer.text(`${at}.invoice_id`),
      id: answer.text(`${at}.line_item.id`),
      quantity: digits('quantity'),
      amount: digits('amount'),
    };
  });
}

test('the quantities and amounts of all events of a line add up to the line of its invoice, and each line has events', async () => {
  const answers = await Promise.all(SENT.map(({ transaction_id }) => billingOf(transaction_id)));
  const found = answers.flatMap(linesOf);
  const invoices = await api.get(`/v1/customers/${scenario.customerId}/invoices`);
  let lines = 0;
  for (const [at] of invoices.list('data').entries()) {
    for (const [index] of invoices.list(`data[${at}].line_items`).entries()) {
      const path = `data[${at}].line_items[${index}]`;
      const own = found.filter(({ id }) => id === invoices.text(`${path}.id`));
      expect(own.length, path).toBeGreaterThan(0);
      expect(new Set(own.map(({ invoice }) => invoice))).toEqual(new Set([invoices.text(`data[${at}].id`)]));
      lines += 1;
      // Tiers share their events.
      if (invoices.at(`${path}.tier`) !== undefined) continue;
      const total = (of: 'quantity' | 'amount') => sum(own.map((line) => decimal(line[of] ?? '0'))).toFixed();
      expect(total('quantity')).toBe(decimal(invoices.digits(`${path}.quantity`)).toFixed());
      expect(total('amount')).toBe(decimal(invoices.digits(`${path}.total`)).toFixed());
    }
  }
  expect(new Set(found.map(({ id }) => id)).size).toBe(lines);
});

test('an event is billed on the invoice of its time, and one without a rate is in a warning of it', async () => {
  for (const { transaction_id, timestamp, properties } of SENT) {
    const answer = await billingOf(transaction_id);
    expect(answer.list('data.invoices')).toHaveLength(1);
    const status = timestamp < '2026-11-01' ? 'FINALIZED' : 'DRAFT';
    expect(answer.text('data.invoices[0].status')).toBe(status);
    expect(answer.list('data.warnings').length > 0, transaction_id).toBe(properties.model === 'unpriced');
  }
});

test('an event of nobody is billed nowhere, and an unknown id is not found', async () => {
  await api.post('/v1/ingest', [completion('nobody', { id: 'lost', at: '2026-11-10T00:00:00Z', tokens: 1 })]);
  const answer = await billingOf('lost');
  expect(answer.at('data')).toEqual({
    ...{ transaction_id: 'lost', customer_id: null, invoices: [], lines: [], warnings: [] },
  });
  expect((await api.send('GET', '/v1/events/unknown/billing')).status).toBe(404);
  expect((await api.send('GET', `/v1/events/${'x'.repeat(129)}/billing`)).status).toBe(404);
  const withNul = await api.send('GET', '/v1/events/a%00b/billing');
  expect([withNul.status, withNul.body]).toEqual([404, { message: 'transaction a\ufffdb not found' }]);
});

test('an event that is converted has no amount by itself', async () => {
  const metric = scenario.tokensMetricId;
  const product = await createdId(api, '/v1/contract-pricing/products/create', {
    ...{ name: 'Thousands', type: 'USAGE', billable_metric_id: metric },
    quantity_conversion: { conversion_factor: 1_000, operation: 'DIVIDE' },
  });
  await api.post('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id: scenario.rateCardId,
    rates: [
      {
        product_id: product,
        starting_at: '2026-11-01T00:00:00Z',
        entitled: true,
        rate_type: 'FLAT',
        price: 5,
      },
    ],
  });
  const sent = completion('billed', {
    id: 'converted',
    at: '2026-11-12T00:00:00Z',
    tokens: 10,
    model: 'small',
  });
  await api.post('/v1/ingest', [sent]);
  const answer = await billingOf('converted');
  const names = answer.list('data.lines').map((_, at) => answer.text(`data.lines[${at}].line_item.name`));
  const line = linesOf(answer)[names.indexOf('Thousands')];
  expect([line?.quantity, line?.amount]).toEqual([null, null]);
  expect(names.sort()).toEqual(['Requests', 'Thousands', 'Tokens']);
});

test('the list of events has each event once, the newest first, page by page as at once, and those of filters alone', async () => {
  const read = async (limit: number, filter: Record<string, string> = {}) => {
    const found: string[] = [];
    let next_page: string | undefined;
    do {
      const page = await api.get('/v1/events', { query: { limit, ...filter, next_page } });
      found.push(...page.list('data').map((_, at) => page.text(`data[${at}].transaction_id`)));
      next_page = page.at('next_page') === null ? undefined : page.text('next_page');
    } while (next_page !== undefined);
    return found;
  };
  await api.post('/v1/ingest', SENT.filter(({ timestamp }) => timestamp >= '2026-11-01').slice(-1));
  const own = await read(100, { customer_id: scenario.customerId });
  const texts = SENT.map(({ timestamp, transaction_id: id }) => ({ timestamp, id }));
  texts.sort((a, b) =>
    a.timestamp === b.timestamp ? (a.id < b.id ? -1 : 1) : a.timestamp < b.timestamp ? 1 : -1,
  );
  expect(own.filter((id) => id !== 'converted')).toEqual(texts.map(({ id }) => id));
  expect(await read(7, { customer_id: scenario.customerId })).toEqual(own);
  const all = await read(100);
  expect(all.filter((id) => id !== 'lost')).toEqual(own);
  const october = await read(5, { ending_before: '2026-11-01T00:00:00Z', event_type: 'completion' });
  expect(october).toEqual(texts.filter(({ timestamp }) => timestamp < '2026-11-01').map(({ id }) => id));
  expect(await read(5, { event_type: 'other' })).toEqual([]);
});

interface CountedDay {
  readonly starting_on: string;
  readonly events: number;
}

interface SeenType {
  readonly event_type: string;
  readonly events: number;
  readonly last_timestamp: string;
  readonly properties: readonly string[];
}

test('counts of events by day and by type are those of the events in the list of the last 30 days', async () => {
  await api.post('/v1/ingest', [
    completion('billed', { id: 'tomorrow', at: '2026-11-21T00:00:00Z', tokens: 1, model: 'small' }),
    {
      ...{ transaction_id: 'first', customer_id: 'nobody', event_type: 'other' },
      ...{ timestamp: '2026-11-18T00:00:00Z', properties: { size: 'x', 'a.b': '1' } },
    },
    {
      ...{ transaction_id: 'last', customer_id: 'billed', event_type: 'other' },
      ...{ timestamp: '2026-11-19T23:59:59.999Z', properties: { colour: 'red' } },
    },
  ]);
  const query = { starting_on: '2026-10-22T00:00:00Z', ending_before: '2026-11-21T00:00:00Z', limit: 100 };
  const listed = (await api.get('/v1/events', { query })).list('data') as {
    readonly timestamp: string;
    readonly event_type: string;
  }[];
  const days = (await api.get('/v1/events/days')).list('data') as CountedDay[];
  expect(days).toEqual(
    Array.from({ length: 30 }, (_, day) => {
      const starting_on = new Date(Date.UTC(2026, 9, 22 + day)).toISOString();
      const events = listed.filter(({ timestamp }) => timestamp.startsWith(starting_on.slice(0, 10))).length;
      return { starting_on, events };
    }),
  );
  const types = (await api.get('/v1/events/types')).list('data') as SeenType[];
  expect(types.map(({ event_type }) => event_type)).toEqual(['completion', 'other']);
  for (const { event_type, events } of types) {
    expect(events).toBe(listed.filter((each) => each.event_type === event_type).length);
  }
  expect(types.find(({ event_type }) => event_type === 'other')).toEqual({
    ...{ event_type: 'other', events: 2, last_timestamp: '2026-11-19T23:59:59.999Z' },
    properties: ['a.b', 'colour', 'size'],
  });
});

test('counts of events of customers are those of SQL', async () => {
  const sql = `SELECT DATE_TRUNC('day', timestamp) AS day, COUNT(*) AS sent FROM events
    WHERE timestamp >= '2026-10-22T00:00:00Z' AND timestamp < '2026-11-21T00:00:00Z' GROUP BY day ORDER BY day`;
  const rows = (await api.post('/v1/sql', { sql })).list('data') as { day: string; sent: number }[];
  const counts = new Map(rows.map(({ day, sent }) => [Date.parse(day), Number(sent)]));
  const all = (await api.get('/v1/events', { query: { limit: 100 } })).list('data') as {
    readonly timestamp: string;
    readonly matched_customer: object | null;
  }[];
  for (const { timestamp } of all.filter(({ matched_customer }) => matched_customer === null)) {
    const day = Date.parse(`${timestamp.slice(0, 10)}T00:00:00Z`);
    counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  const days = (await api.get('/v1/events/days')).list('data') as CountedDay[];
  const withEvents = days.filter(({ events }) => events > 0);
  expect(withEvents.length).toBeGreaterThan(4);
  expect(withEvents.map(({ starting_on, events }) => [Date.parse(starting_on), events])).toEqual(
    [...counts].sort(([one], [other]) => one - other),
  );
});
