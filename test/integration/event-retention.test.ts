/** Events that are older than EVENT_RETENTION_MONTHS: when they go, and what is said of them afterwards. */
import { eq } from 'drizzle-orm';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { removeOldEvents } from '../../src/billing/retention/remove-old-events.ts';
import { readMonthsBefore } from '../../src/metering/events/old-months.ts';
import { auditLog } from '../../src/store/access/audit-log.tables.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { CONTRACTS } from '../support/catalogue-api.ts';
import {
  createMeteredCard,
  createMeteredCustomer,
  type MeteredCustomer,
} from '../support/metered-company.ts';
import { reconcile } from '../support/reconciled.ts';
import { startTestService, type TestService } from '../support/service.ts';

const START = '2026-11-10T00:00:00Z';
const MARCH = Date.UTC(2027, 2, 1);
const DECEMBER = '2026-12-01T00:00:00.000Z';

interface Company {
  readonly service: TestService;
  readonly card: string;
  readonly customer: MeteredCustomer;
  /** The invoice of the customer's November. */
  readonly invoiceId: string;
}

/** One customer with an event a month, of which November is invoiced. It is the tenth of December. */
async function company(settings: { readonly eventRetentionMonths?: number }): Promise<Company> {
  const service = await startTestService({ sandboxNow: START, ...settings });
  onTestFinished(() => service.close());
  const card = await createMeteredCard(service.api);
  const customer = await createMeteredCustomer(service.api, card);
  await use(service, customer, '2026-11-05T10:30:00Z');
  await service.moveClock('2026-12-10T00:00:00Z');
  await use(service, customer, '2026-12-05T10:30:00Z');
  const issued = await invoices(service, customer);
  return { service, card, customer, invoiceId: issued.text('data[0].id') };
}

async function use({ api }: TestService, { alias }: MeteredCustomer, timestamp: string): Promise<void> {
  const event = { transaction_id: `${alias} ${timestamp}`, customer_id: alias, event_type: 'job', timestamp };
  await api.post('/v1/ingest', [{ ...event, properties: { amount: 5, model: 'small', user: 'ada' } }]);
}

function invoices({ api }: TestService, { customerId }: MeteredCustomer): Promise<ApiAnswer> {
  const query = { status: 'FINALIZED', sort: 'date_asc' };
  return api.get(`/v1/customers/${customerId}/invoices`, { query });
}

async function storedMonths({ clickhouse }: TestService): Promise<string[]> {
  const months = await readMonthsBefore(clickhouse, MARCH);
  return months.map(({ start }) => new Date(start).toISOString().slice(0, 7));
}

async function message(answer: Promise<ApiAnswer>): Promise<string> {
  const { status, at } = await answer;
  return `${status} ${String(at('message'))}`;
}

const figure = async ({ url }: TestService, name: string) => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text
    .split('\n')
    .find((line) => line.startsWith(`${name} `))
    ?.split(' ')[1];
};

describe('events of old months', () => {
  it('events of old months go when they are invoiced, and usage of them is refused in words instead of counted as zero', async () => {
    const { service, card, customer, invoiceId } = await company({ eventRetentionMonths: 1 });
    const { api } = service;
    const invoicePath = `/v1/customers/${customer.customerId}/invoices/${invoiceId}`;
    const hours = {
      query: { window_size: 'HOUR', starting_on: '2026-11-01T00:00:00Z', ending_before: DECEMBER },
    };
    const breakdowns = `/v1/customers/${customer.customerId}/invoices/breakdowns`;
    const before = (await api.get(invoicePath)).at('data');
    const frozen = (await api.get(breakdowns, hours)).body;
    expect(await storedMonths(service)).toEqual(['2026-11', '2026-12']);

    await service.moveClock('2027-01-20T00:00:00Z');
    await expect.poll(() => storedMonths(service)).toEqual(['2026-12']);

    const removed = /^400 .*usage before 2026-12-01T00:00:00.000Z cannot be counted: its events were removed/;
    const asked = { starting_on: '2026-11-30T00:00:00Z', ending_before: '2026-12-31T00:00:00Z' };
    const body = { ...asked, window_size: 'DAY', customer_ids: [customer.customerId] };
    expect(await message(api.send('POST', '/v1/usage', body))).toMatch(removed);
    expect((await api.post('/v1/usage', { ...body, starting_on: DECEMBER })).list('data')).not.toEqual([]);
    const after = await api.get(invoicePath);
    expect(after.at('data.unbilled_late_usage')).toBeNull();
    expect({ ...(after.at('data') as object), unbilled_late_usage: [] }).toEqual(before);
    expect((await api.get(breakdowns, hours)).body).toEqual(frozen);
    expect(await message(api.send('GET', `${invoicePath}/explain`))).toMatch(removed);
    const found = await reconcile(api, { starting_on: '2026-11-01T00:00:00Z', ending_before: DECEMBER });
    expect(found.differences).toEqual([]);
    expect(JSON.stringify(found)).toContain('its events were removed');

    expect(await message(api.send('POST', '/v1/invoices/void', { id: invoiceId }))).toMatch(
      /^400 invoice .* could not be regenerated: usage before 2026-12-01/,
    );
    const contract = {
      customer_id: customer.customerId,
      rate_card_id: card,
      starting_at: '2026-06-01T00:00:00Z',
    };
    expect(await message(api.send('POST', CONTRACTS, contract))).toMatch(
      /^400 contract .* would be invoiced from 2026-06-01T00:00:00.000Z on, but usage before/,
    );
    const usage_statement_schedule = {
      frequency: 'MONTHLY',
      invoice_generation_starting_at: '2027-01-01T00:00:00Z',
    };
    await api.post(CONTRACTS, { ...contract, usage_statement_schedule });

    expect(await figure(service, 'tallyhouse_events_removed_total')).toBe('1');
    expect(await figure(service, 'tallyhouse_events_kept_from_timestamp_seconds')).toBe(
      String(Date.parse(DECEMBER) / 1_000),
    );
    const rows = await service.db.select().from(auditLog).where(eq(auditLog.action, 'removeOldEvents'));
    expect(rows).toMatchObject([{ actorId: 'job:remove_old_events', resourceId: DECEMBER }]);
    await service.restart();
    expect((await api.get('/readyz')).status).toBe(200);
    expect(await message(api.send('POST', '/v1/usage', body))).toMatch(removed);
  });

  it('events of old months stay while an invoice of them is void, and go when it is regenerated', async () => {
    const { service, invoiceId } = await company({ eventRetentionMonths: 1 });
    const { api } = service;
    await api.post('/v1/invoices/void', { id: invoiceId });
    await service.moveClock('2027-02-20T00:00:00Z');
    await expect.poll(() => figure(service, 'tallyhouse_events_retention_held')).toBe('1');
    expect(await storedMonths(service)).toEqual(['2026-11', '2026-12']);
    await api.post('/v1/invoices/regenerate', { id: invoiceId });
    await expect.poll(() => storedMonths(service)).toEqual([]);
    await expect.poll(() => figure(service, 'tallyhouse_events_retention_held')).toBe('0');
  });

  it('events of old months that were announced go in the end, whenever a process was killed, and are no loss', async () => {
    const { service } = await company({});
    await service.moveClock('2027-03-20T00:00:00Z');
    const { db, clickhouse } = service;
    let commands = 0;
    const dying = {
      ...clickhouse,
      command: async (sql: string) => {
        commands += 1;
        // A month is removed by two: its corrections, then its events.
        if (commands > 3) throw new Error('killed');
        await clickhouse.command(sql);
      },
    };
    const context = {
      db,
      clock: { now: () => MARCH },
      windowDays: 34,
      cluster: inject('clickhouse')?.cluster,
    };
    const announced = await removeOldEvents({ ...context, clickhouse, months: 1, announcedMs: 60_000 });
    expect(announced).toMatchObject({ keptFrom: Date.parse('2027-01-01T00:00:00Z'), removed: [] });
    expect(await storedMonths(service)).toEqual(['2026-11', '2026-12']);
    const killed = removeOldEvents({ ...context, clickhouse: dying, months: 1, announcedMs: 0 });
    await expect(killed).rejects.toThrow('killed');
    expect(await storedMonths(service)).toEqual(['2026-12']);
    await service.restart();
    expect((await service.api.get('/readyz')).status).toBe(200);
    await removeOldEvents({ ...context, clickhouse, months: null, announcedMs: 0 });
    expect(await storedMonths(service)).toEqual([]);
    await service.restart();
    expect((await service.api.get('/readyz')).status).toBe(200);
  });
});
