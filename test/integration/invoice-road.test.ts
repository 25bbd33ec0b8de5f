/** Events in, invoice out, through the public API on real stores: drafts, breakdowns, finalization. */
import { beforeAll, describe, expect, it } from 'vitest';
import { Decimal, sum } from '../../src/core/decimal.ts';
import type { ApiAnswer, ApiClient } from '../support/api-client.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const NOW = '2026-11-10T00:00:00Z';

/** For tests that leave the clock where it stands. */
const service = await serviceForFile({ sandboxNow: NOW });
/** For tests that move it, each further than the one before. */
const moving = await serviceForFile({ sandboxNow: NOW });

/** Every page of a list, as one answer per page. */
async function allPages(
  api: ApiClient,
  path: string,
  query: Record<string, string | number>,
): Promise<ApiAnswer[]> {
  const pages: ApiAnswer[] = [];
  for (let next: string | undefined; pages.length < 100; ) {
    const answer = await api.get(path, { query: { ...query, next_page: next } });
    pages.push(answer);
    const cursor = answer.at('next_page');
    if (typeof cursor !== 'string') return pages;
    next = cursor;
  }
  throw new Error('the list does not end');
}

/** Sum of `total` and of the quantities per line key over all windows of a breakdmoving. */
async function breakdownSums(api: ApiClient, customerId: string, windowSize: 'HOUR' | 'DAY') {
  const pages = await allPages(api, `/v1/customers/${customerId}/invoices/breakdowns`, {
    starting_on: '2026-11-01T00:00:00Z',
    ending_before: '2026-12-01T00:00:00Z',
    window_size: windowSize,
  });
  const totals: Decimal[] = [];
  const quantities = new Map<string, Decimal>();
  for (const page of pages) {
    for (const index of page.list('data').keys()) {
      totals.push(new Decimal(page.digits(`data[${index}].total`)));
      for (const line of page.list(`data[${index}].line_items`).keys()) {
        const at = `data[${index}].line_items[${line}]`;
        const key = lineKey(page, at);
        const quantity = new Decimal(page.digits(`${at}.quantity`));
        quantities.set(key, (quantities.get(key) ?? new Decimal('0')).plus(quantity));
      }
    }
  }
  return { windows: totals.length, total: sum(totals).toFixed(), quantities: asText(quantities) };
}

function lineKey(answer: ApiAnswer, at: string): string {
  const part = (name: string) => JSON.stringify(answer.at(`${at}.${name}`) ?? null);
  return ['name', 'pricing_group_values', 'presentation_group_values', 'tier.level'].map(part).join(' ');
}

function asText(quantities: ReadonlyMap<string, Decimal>): Record<string, string> {
  return Object.fromEntries([...quantities].map(([key, value]) => [key, value.toFixed()]));
}

async function invoiceSums(api: ApiClient, customerId: string, invoiceId: string) {
  const answer = await api.get(`/v1/customers/${customerId}/invoices/${invoiceId}`, {
    query: { skip_zero_qty_line_items: true },
  });
  const quantities = new Map<string, Decimal>();
  for (const index of answer.list('data.line_items').keys()) {
    const at = `data.line_items[${index}]`;
    quantities.set(lineKey(answer, at), new Decimal(answer.digits(`${at}.quantity`)));
  }
  return { total: answer.digits('data.total'), quantities: asText(quantities) };
}

async function onlyInvoiceId(api: ApiClient, customerId: string, status: string): Promise<string> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status } });
  expect(answer.list('data')).toHaveLength(1);
  return answer.text('data[0].id');
}

/** 2,700 large tokens in eu over three days, 40 in us, 800 small ones; 5 requests. */
const EVENTS = (alias: string, run: string) => [
  completion(alias, { id: `${run}-1`, at: '2026-11-01T00:00:00.000Z', tokens: 600 }),
  completion(alias, { id: `${run}-2`, at: '2026-11-01T23:59:59.999Z', tokens: '600.5' }),
  completion(alias, { id: `${run}-3`, at: '2026-11-02T00:00:00.000Z', tokens: 1499.5 }),
  completion(alias, { id: `${run}-4`, at: '2026-11-05T11:30:00.000Z', tokens: 40, region: 'us' }),
  completion(alias, { id: `${run}-5`, at: '2026-11-09T12:00:00.000Z', tokens: 800, model: 'small' }),
];

/** 5 × 2 + 1000 × 0.03 + 1700 × 0.02 + 40 × 0.03 + 800 × 0.005. */
const TOTAL = '79.2';

describe('the path from an event to an invoice', () => {
  let scenario: Scenario;

  beforeAll(async () => {
    scenario = await createScenario(service.api, { alias: 'road' });
    await service.api.post('/v1/ingest', EVENTS('road', 'road'));
  });

  const draftSums = async () => {
    const { customerId } = scenario;
    return invoiceSums(service.api, customerId, await onlyInvoiceId(service.api, customerId, 'DRAFT'));
  };

  it('the path from an event to an invoice shows an acknowledged event in usage and in the draft invoice of the very next request', async () => {
    const usage = await service.api.post('/v1/usage/groups', {
      customer_id: scenario.customerId,
      billable_metric_id: scenario.tokensMetricId,
      window_size: 'DAY',
      starting_on: '2026-11-01T00:00:00Z',
      ending_before: '2026-11-11T00:00:00Z',
      group_key: ['model', 'region'],
    });
    const rows = usage.list('data').map((_, index) => ({
      day: usage.text(`data[${index}].starting_on`).slice(0, 10),
      group: usage.at(`data[${index}].group`),
      value: usage.digits(`data[${index}].value`),
    }));
    expect(rows).toEqual([
      { day: '2026-11-01', group: { model: 'large', region: 'eu' }, value: '1200.5' },
      { day: '2026-11-02', group: { model: 'large', region: 'eu' }, value: '1499.5' },
      { day: '2026-11-05', group: { model: 'large', region: 'us' }, value: '40' },
      { day: '2026-11-09', group: { model: 'small', region: 'eu' }, value: '800' },
    ]);
    const draft = await draftSums();
    expect(draft.total).toBe(TOTAL);
    expect(draft.quantities).toEqual({
      '"Requests" null null null': '5',
      '"Tokens" {"model":"large"} {"region":"eu"} 1': '1000',
      '"Tokens" {"model":"large"} {"region":"eu"} 2': '1700',
      '"Tokens" {"model":"large"} {"region":"us"} 1': '40',
      '"Tokens" {"model":"small"} {"region":"eu"} null': '800',
    });
  });

  it('the path from an event to an invoice breaks the draft down into hours and days that add up to it', async () => {
    const draft = await draftSums();
    const days = await breakdownSums(service.api, scenario.customerId, 'DAY');
    const hours = await breakdownSums(service.api, scenario.customerId, 'HOUR');
    expect(days).toEqual({ windows: 30, ...draft });
    expect(hours).toEqual({ windows: 720, ...draft });
  });

  it('the path from an event to an invoice counts a retried event once, whatever the retry says', async () => {
    const retry = EVENTS('road', 'road').map((event) => ({ ...event, properties: { tokens: 1 } }));
    const answer = await service.api.post('/v1/ingest', retry);
    expect(answer.body).toEqual({ accepted: 0, duplicates: 5 });
    const draft = await draftSums();
    expect(draft.total).toBe(TOTAL);
  });
});

describe('a finalized invoice', () => {
  const ISSUED_AT = '2026-12-02T00:00:00.000Z';
  let scenario: Scenario;

  beforeAll(async () => {
    scenario = await createScenario(moving.api, { alias: 'road' });
    await moving.api.post('/v1/ingest', EVENTS('road', 'road'));
  });

  it('a finalized invoice is the draft at the end of the period plus the grace period, and the next period opens', async () => {
    const { api } = moving;
    const { customerId } = scenario;
    const draftId = await onlyInvoiceId(api, customerId, 'DRAFT');
    const read = () => api.get(`/v1/customers/${customerId}/invoices/${draftId}`);
    await moving.moveClock('2026-12-01T23:59:59.999Z');
    expect((await read()).at('data.status')).toBe('DRAFT');
    await moving.moveClock(ISSUED_AT);
    const issued = await read();
    expect(issued.at('data.status')).toBe('FINALIZED');
    expect(issued.at('data.issued_at')).toBe(ISSUED_AT);
    expect(issued.digits('data.total')).toBe(TOTAL);
    const next = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status: 'DRAFT' } });
    expect(next.list('data')).toHaveLength(1);
    expect(next.at('data[0].start_timestamp')).toBe('2026-12-01T00:00:00.000Z');
  });

  it('a finalized invoice never changes, nor does its breakdown: not by late events, new prices, aliases or a restart', async () => {
    const { api } = moving;
    const { customerId, rateCardId, requestsProductId } = scenario;
    await moving.moveClock(ISSUED_AT);
    const invoiceId = await onlyInvoiceId(api, customerId, 'FINALIZED');
    const read = async () => ({
      // Usage that arrived too late is reported beside the invoice, and is no part of it.
      invoice: {
        ...((await api.get(`/v1/customers/${customerId}/invoices/${invoiceId}`)).at('data') as object),
        unbilled_late_usage: null,
        // Who the customer is now, as on every PDF; the first alias is taken away below.
        customer_external_id: null,
      },
      days: await breakdownSums(api, customerId, 'DAY'),
      hours: await breakdownSums(api, customerId, 'HOUR'),
    });
    const before = await read();
    expect(before.days.total).toBe(TOTAL);
    expect(before.hours).toEqual({ ...before.days, windows: 720 });
    await api.post('/v1/ingest', [
      completion('road', { id: 'late', at: '2026-11-20T00:00:00Z', tokens: 1_000_000 }),
    ]);
    await api.post('/v1/contract-pricing/rate-cards/addRate', {
      rate_card_id: rateCardId,
      product_id: requestsProductId,
      starting_at: '2026-01-01T00:00:00Z',
      entitled: true,
      rate_type: 'FLAT',
      price: 1000,
    });
    await api.post(`/v1/customers/${customerId}/setIngestAliases`, { ingest_aliases: [] });
    await moving.restart();
    expect(await read()).toEqual(before);
  });
});

describe('late binding', () => {
  it('late binding gives a customer the usage that came under its alias before the alias, or the customer, existed', async () => {
    await service.api.post('/v1/ingest', [
      completion('early', { id: 'early-1', at: '2026-11-01T10:00:00Z', tokens: 500 }),
    ]);
    const { customerId } = await createScenario(service.api, { alias: 'early' });
    const draftId = await onlyInvoiceId(service.api, customerId, 'DRAFT');
    const draft = await invoiceSums(service.api, customerId, draftId);
    expect(draft.total).toBe('17'); // 500 × 0.03 + 1 × 2
  });
});

describe('a contract that starts in the past', () => {
  let path: string;

  beforeAll(async () => {
    const past = { alias: 'past', startingAt: '2026-08-15T00:00:00Z' };
    const { customerId } = await createScenario(moving.api, past);
    path = `/v1/customers/${customerId}/invoices`;
    await moving.moveClock('2026-12-03T00:00:00Z');
  });

  it('a contract that starts in the past gets every elapsed period finalized in order, once', async () => {
    const invoices = await moving.api.get(path);
    const periods = invoices
      .list('data')
      .map((_, index) =>
        ['start_timestamp', 'end_timestamp', 'status']
          .map((name) => invoices.text(`data[${index}].${name}`).slice(0, 10))
          .join(' '),
      );
    expect(periods).toEqual([
      '2026-08-15 2026-09-01 FINALIZED',
      '2026-09-01 2026-10-01 FINALIZED',
      '2026-10-01 2026-11-01 FINALIZED',
      '2026-11-01 2026-12-01 FINALIZED',
      '2026-12-01 2027-01-01 DRAFT',
    ]);
  });

  it('a contract that starts in the past pages through invoices in both directions without a gap', async () => {
    const starts = async (sort: string) =>
      (await allPages(moving.api, path, { limit: 2, sort })).flatMap((page) =>
        page.list('data').map((_, index) => page.text(`data[${index}].start_timestamp`)),
      );
    const ascending = await starts('date_asc');
    expect(ascending).toHaveLength(5);
    expect(await starts('date_desc')).toEqual([...ascending].reverse());
  });
});

describe('refusals', () => {
  it('the API answers 404 for unknown customers and invoices, malformed ids included', async () => {
    const unknown = '00000000-0000-4000-8000-000000000000';
    for (const path of [
      `/v1/customers/${unknown}/invoices`,
      `/v1/customers/nobody/invoices`,
      `/v1/customers/${unknown}/invoices/${unknown}`,
    ]) {
      expect((await service.api.send('GET', path)).status).toBe(404);
    }
  });

  it('the API answers 401 without a token', async () => {
    const answer = await service.api.send('GET', '/v1/customers', undefined, { token: null });
    expect(answer.status).toBe(401);
  });

  it('the API refuses to move the sandbox clock back', async () => {
    const answer = await service.api.send('POST', '/v1/sandbox/clock', { now: '2026-11-01T00:00:00Z' });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^now: must not be before/);
  });
});
