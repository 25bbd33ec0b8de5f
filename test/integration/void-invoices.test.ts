/** Voiding and regenerating issued invoices, and the list of those of all customers, through the API. */
import Metronome from '@metronome/sdk';
import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { regenerateInvoice } from '../../src/billing/invoices/issued/regenerate.ts';
import { newId } from '../../src/core/ids.ts';
import type { UsageSource } from '../../src/metering/usage/usage-source.ts';
import { billingContext } from '../support/billing-context.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ usage: 'naive', sandboxNow: '2026-11-10T00:00:00Z' });
const { api } = service;
const fee = await createdId(api, '/v1/contract-pricing/products/create', {
  name: 'Platform fee',
  type: 'FIXED',
});

const DAY_MS = 86_400_000;
let clock = Date.parse('2026-11-10T00:00:00Z');
let alias = '';
let tests = 0;
beforeEach(() => {
  tests += 1;
  alias = `customer-${tests}`;
});

const day = (offset: number) => new Date(clock + offset * DAY_MS).toISOString();
/** Tests of this file follow one another in time. */
async function passDays(days: number): Promise<void> {
  clock += days * DAY_MS;
  await service.moveClock(clock);
}

/** Billing periods are months: the one that starts next. */
function nextMonth(): string {
  const now = new Date(clock);
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString();
}

let events = 0;
/** One request, at 2 cents, with tokens at 0.03 cents. */
async function use(tokens: number, at: string): Promise<void> {
  events += 1;
  await api.post('/v1/ingest', [completion(alias, { id: `e${events}`, at, tokens })]);
}

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly total: string;
  readonly from: unknown;
  readonly issuedAt: string;
  readonly number: unknown;
}

async function read(customerId: string, id: string): Promise<Shown> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices/${id}`);
  return {
    id,
    status: answer.text('data.status'),
    total: answer.digits('data.total'),
    from: answer.at('data.regenerated_from_invoice_id'),
    issuedAt: answer.text('data.issued_at'),
    number: answer.at('data.invoice_number'),
  };
}

async function idsOf(customerId: string, query: Record<string, string> = {}): Promise<string[]> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query: { limit: 100, ...query } });
  return answer.list('data').map((_, index) => answer.text(`data[${index}].id`));
}

/** Usage as the service reads it, with something done before each reading. */
function beforeEachReading(work: () => Promise<void>): UsageSource {
  const source = service.usageSource;
  const changed: UsageSource = {
    ...source,
    async series(asked) {
      await work();
      return await source.series(asked);
    },
    async sharedSeries(asked) {
      await work();
      return await source.sharedSeries(asked);
    },
    inLane: () => changed,
    inShare: () => changed,
  };
  return changed;
}

const voidInvoice = (id: string) => api.post('/v1/invoices/void', { id });
const regenerate = async (id: string) => (await api.post('/v1/invoices/regenerate', { id })).text('data.id');

/** `400 invoice … is VOID` */
async function refusal(operation: 'void' | 'regenerate', id: string): Promise<string> {
  const answer = await api.send('POST', `/v1/invoices/${operation}`, { id });
  return `${answer.status} ${answer.text('message')}`;
}

interface Issued extends Scenario {
  readonly invoiceId: string;
  /** Starts the billing period, which has ended. */
  readonly start: string;
}

/** A contract of ten days with 100 tokens, 5 cents, whose invoice is issued. */
async function issuedUsage(terms: { readonly end?: boolean } = {}): Promise<Issued> {
  await passDays((Date.parse(nextMonth()) - clock) / DAY_MS);
  const start = day(0);
  const scenario = await createScenario(api, {
    alias,
    startingAt: start,
    ...(terms.end === false ? {} : { endingBefore: day(10) }),
  });
  await use(100, day(0.5));
  await passDays(terms.end === false ? 35 : 12);
  const [invoiceId = ''] = await idsOf(scenario.customerId, { status: 'FINALIZED' });
  return { ...scenario, invoiceId, start };
}

async function priceRequests({ rateCardId, requestsProductId, start }: Issued, price: number): Promise<void> {
  await api.post('/v1/contract-pricing/rate-cards/addRate', {
    rate_card_id: rateCardId,
    product_id: requestsProductId,
    rate_type: 'FLAT',
    price,
    entitled: true,
    starting_at: start,
  });
}

describe('a usage invoice', () => {
  test('a usage invoice is voided with its lines and its number, once', async () => {
    const { customerId, invoiceId } = await issuedUsage();
    const before = await read(customerId, invoiceId);
    expect(before).toMatchObject({ status: 'FINALIZED', total: '5' });
    await voidInvoice(invoiceId);
    expect(await read(customerId, invoiceId)).toEqual({ ...before, status: 'VOID' });
    expect(await refusal('void', invoiceId)).toBe(
      `400 invoice ${invoiceId} is VOID: only a FINALIZED invoice can be voided`,
    );
  });

  test('a usage invoice is regenerated with present usage and prices, as a new invoice that is final at once', async () => {
    const issued = await issuedUsage();
    const { customerId, invoiceId } = issued;
    await use(50, issued.start);
    await priceRequests(issued, 7);
    await voidInvoice(invoiceId);
    const id = await regenerate(invoiceId);
    expect(id).not.toBe(invoiceId);
    await passDays(0);
    const now = await read(customerId, id);
    // 150 tokens at 0.03 and two requests at 7.
    expect(now).toMatchObject({
      status: 'FINALIZED',
      total: '18.5',
      from: invoiceId,
      issuedAt: new Date(clock).toISOString(),
      number: expect.stringMatching(/^INV-/),
    });
    const old = await read(customerId, invoiceId);
    expect(old).toMatchObject({ status: 'VOID', total: '5', from: undefined });
    expect(now.number).not.toBe(old.number);
    const one = await api.get(`/v1/customers/${customerId}/invoices/${id}`);
    expect(one.at('data.start_timestamp')).toBe(issued.start);
    expect(one.at('data.unbilled_late_usage')).toEqual([]);
    expect((await idsOf(customerId)).toSorted()).toEqual([id, invoiceId].toSorted());
  });

  test('a voided invoice has a separate breakdown that adds up to it', async () => {
    const issued = await issuedUsage();
    await use(50, issued.start);
    await voidInvoice(issued.invoiceId);
    const id = await regenerate(issued.invoiceId);
    const windows = await api.get(`/v1/customers/${issued.customerId}/invoices/breakdowns`, {
      query: { starting_on: issued.start, ending_before: day(0), status: 'FINALIZED' },
    });
    const totals = windows.list('data').map((_, index) => Number(windows.digits(`data[${index}].total`)));
    expect(windows.at('data[0].id')).toBe(id);
    expect(windows.at('data[0].regenerated_from_invoice_id')).toBe(issued.invoiceId);
    expect(totals.reduce((sum, total) => sum + total, 0)).toBe(8.5);
  });

  test('a usage invoice is regenerated once, and the new one again after it is voided', async () => {
    const { customerId, invoiceId } = await issuedUsage();
    expect(await refusal('regenerate', invoiceId)).toBe(
      `400 invoice ${invoiceId} is FINALIZED: only a VOID invoice can be regenerated`,
    );
    await voidInvoice(invoiceId);
    const second = await regenerate(invoiceId);
    expect(await refusal('regenerate', invoiceId)).toBe(
      `400 invoice ${invoiceId} was regenerated before, as invoice ${second}`,
    );
    await voidInvoice(second);
    expect(await refusal('regenerate', invoiceId)).toMatch(/^400 .* was regenerated before/);
    const third = await regenerate(second);
    expect(await read(customerId, third)).toMatchObject({ status: 'FINALIZED', total: '5', from: second });
  });

  test('a usage invoice is regenerated once by 20 requests at the same time', async () => {
    const { customerId, invoiceId } = await issuedUsage();
    await voidInvoice(invoiceId);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.send('POST', '/v1/invoices/regenerate', { id: invoiceId })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(400)]);
    expect(await idsOf(customerId)).toHaveLength(2);
  });

  test('a usage invoice has a price that changes while it is computed', async () => {
    const issued = await issuedUsage();
    await voidInvoice(issued.invoiceId);
    let changes = 0;
    const usageSource = beforeEachReading(async () => {
      changes += 1;
      if (changes === 1) await priceRequests(issued, 9);
    });
    const context = billingContext({
      db: service.db,
      clickhouse: service.clickhouse,
      usageSource,
      clock: { now: () => clock },
    });
    const id = await regenerateInvoice(context, issued.invoiceId);
    expect(changes).toBeGreaterThan(1);
    expect(await read(issued.customerId, id)).toMatchObject({ total: '12' });
  });

  test('a usage invoice is not regenerated if its terms never stop changing', async () => {
    const issued = await issuedUsage();
    await voidInvoice(issued.invoiceId);
    let price = 10;
    const usageSource = beforeEachReading(async () => {
      price += 1;
      await priceRequests(issued, price);
    });
    const context = billingContext({
      db: service.db,
      clickhouse: service.clickhouse,
      usageSource,
      clock: { now: () => clock },
    });
    await expect(regenerateInvoice(context, issued.invoiceId)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await idsOf(issued.customerId)).toHaveLength(1);
  });

  test('a usage invoice cannot be regenerated twice in the database', async () => {
    const { invoiceId } = await issuedUsage();
    await voidInvoice(invoiceId);
    const id = await regenerate(invoiceId);
    await voidInvoice(id);
    const twin = service.db.execute(sql`
      insert into invoices (id, customer_id, contract_id, type, status, period_start, period_end, issued_at,
        credit_type_id, total, warning_count, card_terms_id, contract_terms_id, breakdown_id,
        regenerated_from_invoice_id)
      select ${newId()}::uuid, customer_id, contract_id, type, status, period_start, period_end, issued_at,
        credit_type_id, total, warning_count, card_terms_id, contract_terms_id, breakdown_id,
        regenerated_from_invoice_id
      from invoices where id = ${id}`);
    await expect(twin).rejects.toMatchObject({
      cause: { constraint_name: 'invoices_regenerated_once' },
    });
  });

  test('a usage invoice does not bring the draft of its period back, and later invoices stay as they are', async () => {
    const issued = await issuedUsage({ end: false });
    const before = await idsOf(issued.customerId);
    await voidInvoice(issued.invoiceId);
    expect(await idsOf(issued.customerId)).toEqual(before);
    await passDays(31);
    const later = await idsOf(issued.customerId, { status: 'FINALIZED' });
    const id = await regenerate(issued.invoiceId);
    await passDays(1);
    expect((await idsOf(issued.customerId, { status: 'FINALIZED' })).toSorted()).toEqual(
      [...later, id].toSorted(),
    );
  });

  test('a usage invoice is regenerated up to the present end of its contract', async () => {
    const issued = await issuedUsage();
    await use(1000, new Date(Date.parse(issued.start) + 6 * DAY_MS).toISOString());
    const end = new Date(Date.parse(issued.start) + 5 * DAY_MS).toISOString();
    await voidInvoice(issued.invoiceId);
    const setEnd = (endingBefore: string) =>
      api.post('/v1/contracts/updateEndDate', {
        customer_id: issued.customerId,
        contract_id: issued.contractId,
        ending_before: endingBefore,
      });
    await setEnd(end);
    const id = await regenerate(issued.invoiceId);
    const answer = await api.get(`/v1/customers/${issued.customerId}/invoices/${id}`);
    expect(answer.at('data.end_timestamp')).toBe(end);
    expect(answer.digits('data.total')).toBe('5');
    // The rest is billed if the contract gets its time back: 900 tokens of the first tier, 100 of the second.
    await setEnd(new Date(Date.parse(issued.start) + 10 * DAY_MS).toISOString());
    await passDays(0);
    const all = await Promise.all(
      (await idsOf(issued.customerId, { status: 'FINALIZED' })).map((one) => read(issued.customerId, one)),
    );
    expect(all.map(({ total }) => total).toSorted()).toEqual(['31', '5']);
  });

  test('a usage invoice of an archived contract is not regenerated', async () => {
    const issued = await issuedUsage();
    await api.post('/v1/contracts/archive', {
      customer_id: issued.customerId,
      contract_id: issued.contractId,
      void_invoices: true,
    });
    expect(await refusal('regenerate', issued.invoiceId)).toBe(
      `400 contract ${issued.contractId} is archived: nothing is invoiced for it any more`,
    );
  });

  test('a usage invoice keeps the scheduled charges that joined it', async () => {
    const scenario = await createScenario(api, { alias, endingBefore: '2026-11-02T00:00:00Z' });
    await passDays((Date.parse(nextMonth()) - clock) / DAY_MS);
    const start = day(0);
    const contractId = await createdId(api, '/v1/contracts/create', {
      customer_id: scenario.customerId,
      rate_card_id: scenario.rateCardId,
      starting_at: start,
      scheduled_charges_on_usage_invoices: 'ALL',
      scheduled_charges: [
        { product_id: fee, schedule: { schedule_items: [{ timestamp: nextMonth(), amount: 40 }] } },
      ],
    });
    await use(100, start);
    await passDays(34);
    const [id = ''] = await idsOf(scenario.customerId, { contract_id: contractId, status: 'FINALIZED' });
    expect(await read(scenario.customerId, id)).toMatchObject({ total: '45' });
    await voidInvoice(id);
    const again = await regenerate(id);
    expect(await read(scenario.customerId, again)).toMatchObject({ total: '45', from: id });
    await passDays(1);
    expect(await idsOf(scenario.customerId, { type: 'SCHEDULED', contract_id: contractId })).toEqual([]);
    await voidInvoice(again);
    expect(await read(scenario.customerId, await regenerate(again))).toMatchObject({ total: '45' });
  });
});

describe('a scheduled invoice', () => {
  async function charged(): Promise<{ customerId: string; contractId: string; ids: string[] }> {
    const customerId = await createdId(api, '/v1/customers', { name: alias });
    const items = [
      { timestamp: day(-2), amount: 10 },
      { timestamp: day(20), amount: 30 },
    ];
    const contractId = await createdId(api, '/v1/contracts/create', {
      customer_id: customerId,
      starting_at: day(-5),
      scheduled_charges: [{ product_id: fee, schedule: { schedule_items: items } }],
    });
    await passDays(0);
    return { customerId, contractId, ids: await idsOf(customerId) };
  }

  test('a scheduled invoice is regenerated with its items, which are invoiced once', async () => {
    const { customerId, ids } = await charged();
    const [first = '', draft = ''] = ids;
    await voidInvoice(first);
    await passDays(0);
    expect(await idsOf(customerId)).toEqual(ids);
    await api.post('/v1/contract-pricing/products/update', {
      product_id: fee,
      name: `Fee ${alias}`,
      starting_at: '2026-01-01T00:00:00Z',
    });
    const again = await regenerate(first);
    await passDays(0);
    expect(await idsOf(customerId)).toEqual([first, again, draft]);
    expect(await read(customerId, first)).toMatchObject({ status: 'VOID', total: '10' });
    expect(await read(customerId, again)).toMatchObject({
      status: 'FINALIZED',
      total: '10',
      from: first,
      issuedAt: new Date(clock).toISOString(),
      number: expect.stringMatching(/^INV-/),
    });
    const one = await api.get(`/v1/customers/${customerId}/invoices/${again}`);
    expect(one.at('data.line_items[0].name')).toBe(`Fee ${alias}`);
    const items = await service.db.execute(
      sql`select item_id from invoiced_items where invoice_id in (${first}, ${again})`,
    );
    expect(items).toHaveLength(1);
    expect(await refusal('regenerate', first)).toMatch(/^400 .* was regenerated before/);
  });

  test('a scheduled invoice is not regenerated if its charges were archived meanwhile', async () => {
    const { customerId, contractId, ids } = await charged();
    const [first = ''] = ids;
    await voidInvoice(first);
    const contract = await api.post('/v2/contracts/get', {
      customer_id: customerId,
      contract_id: contractId,
    });
    await api.post('/v2/contracts/edit', {
      customer_id: customerId,
      contract_id: contractId,
      archive_scheduled_charges: [{ id: contract.text('data.scheduled_charges[0].id') }],
    });
    expect(await refusal('regenerate', first)).toBe(
      `400 invoice ${first} has nothing to bill any more under contract ${contractId} as it is now`,
    );
    expect(await read(customerId, first)).toMatchObject({ status: 'VOID', total: '10' });
  });

  test('a scheduled invoice that is a draft is neither voided nor regenerated', async () => {
    const { ids } = await charged();
    const draft = ids[1] ?? '';
    expect(await refusal('void', draft)).toBe(
      `400 invoice ${draft} is DRAFT: only a FINALIZED invoice can be voided`,
    );
    expect(await refusal('regenerate', draft)).toBe(
      `400 invoice ${draft} is DRAFT: only a VOID invoice can be regenerated`,
    );
  });
});

test('the draft of a usage invoice is neither voided nor regenerated', async () => {
  const { customerId } = await createScenario(api, { alias, startingAt: day(0) });
  const [draft = ''] = await idsOf(customerId);
  expect(await refusal('void', draft)).toMatch(/^400 .* is DRAFT/);
  expect(await refusal('regenerate', draft)).toMatch(/^400 .* is DRAFT/);
});

test.each(['void', 'regenerate'] as const)('an unknown invoice cannot be meant by %s', async (operation) => {
  const id = newId();
  expect(await refusal(operation, id)).toBe(`404 invoice ${id} not found`);
});

test('the official client voids and regenerates', async () => {
  const client = new Metronome({ baseURL: service.url, bearerToken: service.token });
  const { customerId, invoiceId } = await issuedUsage();
  expect(await client.v1.invoices.void({ id: invoiceId })).toEqual({ data: { id: invoiceId } });
  const { data } = await client.v1.invoices.regenerate({ id: invoiceId });
  const { data: invoice } = await client.v1.customers.invoices.retrieve({
    customer_id: customerId,
    invoice_id: data?.id ?? '',
  });
  expect(invoice.regenerated_from_invoice_id).toBe(invoiceId);
});

describe('the list of issued invoices', () => {
  const list = (query: Record<string, string | number | boolean>) => api.get('/v1/invoices', { query });

  test('the list of issued invoices has those of all customers in the order of issue date and id, page by page', async () => {
    await issuedUsage();
    const whole = await list({ limit: 100 });
    const all = whole.list('data').map((_, index) => ({
      id: whole.text(`data[${index}].id`),
      status: whole.text(`data[${index}].status`),
      at: whole.text(`data[${index}].issued_at`),
    }));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['FINALIZED', 'VOID']));
    expect(all).toEqual(all.toSorted((a, b) => a.at.localeCompare(b.at) || (a.id < b.id ? -1 : 1)));
    const paged: string[] = [];
    let cursor: unknown = '';
    while (typeof cursor === 'string') {
      const page = await list({
        limit: 3,
        sort: 'date_desc',
        ...(cursor === '' ? {} : { next_page: cursor }),
      });
      paged.push(...page.list('data').map((_, index) => page.text(`data[${index}].id`)));
      cursor = page.at('next_page');
    }
    expect(paged).toEqual(all.map(({ id }) => id).toReversed());
  });

  test('the list of issued invoices is filtered by status, type, customer, contract, time and warnings', async () => {
    const issued = await issuedUsage();
    // Nothing has a price for this model.
    await api.post('/v1/ingest', [
      completion(alias, { id: `${alias}-free`, at: issued.start, tokens: 5, model: 'unknown' }),
    ]);
    await voidInvoice(issued.invoiceId);
    const id = await regenerate(issued.invoiceId);
    const ids = async (query: Record<string, string | number | boolean>) => {
      const answer = await list({ customer_id: issued.customerId, ...query });
      return answer.list('data').map((_, index) => answer.text(`data[${index}].id`));
    };
    const both = [issued.invoiceId, id];
    expect(await ids({})).toEqual(both);
    expect(await ids({ status: 'VOID' })).toEqual([issued.invoiceId]);
    expect(await ids({ status: 'FINALIZED', type: 'USAGE' })).toEqual([id]);
    expect(await ids({ type: 'SCHEDULED' })).toEqual([]);
    expect(await ids({ contract_id: issued.contractId })).toEqual(both);
    expect(await ids({ contract_id: newId() })).toEqual([]);
    expect(await ids({ has_warnings: true })).toEqual([id]);
    expect(await ids({ has_warnings: false })).toEqual([issued.invoiceId]);
    const end = new Date(Date.parse(issued.start) + 10 * DAY_MS).toISOString();
    expect(await ids({ starting_on: issued.start, ending_before: end })).toEqual(both);
    expect(await ids({ starting_on: end })).toEqual([]);
    expect(await ids({ ending_before: issued.start })).toEqual([]);
    const ofContract = await list({ contract_id: issued.contractId, has_warnings: true });
    expect(ofContract.text('data[0].id')).toBe(id);
    expect((await list({ contract_id: newId() })).list('data')).toEqual([]);
  });

  test('the list of issued invoices is answered as CSV', async () => {
    const answer = await api.get('/v1/invoices', {
      headers: { accept: 'text/csv' },
      query: { status: 'VOID' },
    });
    const [head, ...rows] = String(answer.body).trimEnd().split('\r\n');
    expect(head).toMatch(/^invoice_number,/);
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row).toContain(',VOID,');
  });

  test('the list of issued invoices has no drafts', async () => {
    const drafts = await api.get('/v1/invoices', { query: { status: 'DRAFT', limit: 1 } });
    const all = await list({});
    expect(all.list('data').map((_, index) => all.text(`data[${index}].status`))).not.toContain('DRAFT');
    expect(drafts.text('data[0].status')).toBe('DRAFT');
  });
});
