/** Old events that are removed while something reads them: no count and no answer is too small without saying so. */
import { expect, inject, test } from 'vitest';
import { explainInvoice } from '../../src/billing/invoices/explain/explain-invoice.ts';
import { removeOldEvents } from '../../src/billing/retention/remove-old-events.ts';
import { formatInstant } from '../../src/core/time.ts';
import { readMonthsBefore } from '../../src/metering/events/old-months.ts';
import { factsWithoutIngest } from '../../src/metering/ingest/event-facts.ts';
import { findEventRetention } from '../../src/store/erasure/event-retention.ts';
import { beforeQuery } from '../support/before-query.ts';
import { billingContext } from '../support/billing-context.ts';
import { createdId, METRICS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createMeteredCard, createMeteredCustomer } from '../support/metered-company.ts';

const REMOVED = /its events were removed/;
const MAY = '2027-05-10T00:00:00Z';
const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db } = service;
const card = await createMeteredCard(api);
const customer = await createMeteredCustomer(api, card);

// An event a month from November to April, all of which are invoiced.
for (const month of ['2026-11', '2026-12', '2027-01', '2027-02', '2027-03', '2027-04']) {
  await service.moveClock(`${month}-10T00:00:00Z`);
  const event = { customer_id: customer.alias, event_type: 'job', timestamp: `${month}-05T10:30:00Z` };
  const properties = { amount: 5, model: 'small', user: 'ada' };
  await api.post('/v1/ingest', [{ transaction_id: month, ...event, properties }]);
}
await service.moveClock(MAY);
const query = { status: 'FINALIZED', sort: 'date_asc' };
const answer = await api.get(`/v1/customers/${customer.customerId}/invoices`, { query });
const invoiceIds = answer.list('data').map((_, index) => answer.text(`data[${index}].id`));

/** Removes what is older than the window by the middle of the month, at once. Processes know of it before. */
async function removeUntil(month: number): Promise<void> {
  const now = Date.UTC(2027, month, 20);
  const removal = { months: 1, windowDays: 34, announcedMs: 0, cluster: inject('clickhouse')?.cluster };
  await removeOldEvents({ ...removal, db, clickhouse: service.clickhouse, clock: { now: () => now } });
}

let keptFrom: number | null = null;

/** The lines with usage of an invoice, with something done before one of the queries to ClickHouse. */
async function explained(index: number, at = -1, then: () => Promise<unknown> = async () => {}) {
  const { clickhouse, queries } = beforeQuery(service.clickhouse, at, then);
  const context = billingContext({
    db,
    clickhouse,
    eventFacts: factsWithoutIngest(() => keptFrom),
    clock: { now: () => Date.parse(MAY) },
  });
  const page = { after: null, limit: 100 };
  const { rows } = await explainInvoice(context, customer.customerId, invoiceIds[index] ?? '', page);
  const shown = rows.map(({ line, isReproduced }) => `${line.name} ${line.total} ${isReproduced}`);
  return { shown, queries: queries() };
}

test('an invoice is explained whole or not at all while its month is removed, at whatever moment', async () => {
  expect(invoiceIds).toHaveLength(6);
  const { shown, queries } = await explained(3);
  expect(shown.filter((line) => !line.endsWith(' true'))).toEqual([]);
  expect(queries).toBeGreaterThan(3);
  for (const [index, moment] of [0, Math.floor(queries / 2), queries - 1].entries()) {
    const remove = async () => {
      await removeUntil(index);
      keptFrom = (await findEventRetention(db))?.keptFrom ?? null;
    };
    const months = async () => (await readMonthsBefore(service.clickhouse, Date.parse(MAY))).length;
    const before = await months();
    await expect(explained(index, moment, remove)).rejects.toThrow(REMOVED);
    expect(await months()).toBe(before - 1);
    expect((await explained(index + 1)).shown).toEqual(shown);
  }
});

// The service itself learns of removals.
test('a further page of usage is refused when its month was removed after the first one', async () => {
  const streaming = await createdId(api, METRICS, {
    ...{ name: 'Jobs', aggregation_type: 'COUNT', event_type_filter: { in_values: ['job'] } },
  });
  const sql = await createdId(api, METRICS, {
    ...{ name: 'Jobs in SQL', sql: "SELECT count(*) AS value FROM events WHERE event_type = 'job'" },
  });
  const start = Date.UTC(2027, 1, 1);
  const next = async (id: string) => {
    const body = {
      ...{ starting_on: formatInstant(start), ending_before: '2027-03-01T00:00:00Z', window_size: 'DAY' },
      ...{ customer_ids: [customer.customerId], billable_metrics: [{ id }] },
    };
    const place = { customerId: customer.customerId, metricId: id, windowStart: start };
    const cursor = JSON.stringify({ ...place, ingestedUpTo: String(Date.parse(MAY) * 1_000) });
    const next_page = Buffer.from(cursor).toString('base64url');
    const page = await api.send('POST', '/v1/usage', body, { query: { next_page } });
    if (page.status !== 200) return `${page.status} ${page.text('message')}`;
    return page.list('data').flatMap((_, index) => page.at(`data[${index}].value`) ?? []);
  };
  expect([await next(streaming), await next(sql)]).toEqual([[1], [1]]);
  await removeUntil(3);
  await service.restart();
  for (const id of [streaming, sql]) expect(await next(id)).toMatch(/^400 .*its events were removed/);
});
