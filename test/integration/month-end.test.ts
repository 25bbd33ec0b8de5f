/** Month end has the invoices that lists by month have, their exact sums, and changes that their reasons explain. */
import { beforeAll, expect, test } from 'vitest';
import { decimal, sum } from '../../src/core/decimal.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { contractsOfEveryRhythm } from '../support/every-rhythm.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-10-18T00:00:00Z' });
const { api } = service;
const MONTHS = ['2026-10', '2026-11', '2026-12', '2027-01'];

beforeAll(() => contractsOfEveryRhythm(service), 300_000);

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly type: string;
  readonly total: string;
}

/** All invoices of a month as the list has them. */
async function listed(month: string): Promise<Listed[]> {
  const read = async (query: Record<string, string>) => {
    const answer = await api.get('/v1/invoices', { query: { month, limit: 100, ...query } });
    expect(answer.at('next_page')).toBeNull();
    return answer.list('data').map((item, index) => ({
      ...(item as Listed),
      total: answer.digits(`data[${index}].total`),
    }));
  };
  return [...(await read({})), ...(await read({ status: 'DRAFT' }))];
}

const isCounted = ({ status, type }: Listed) => status !== 'VOID' && type !== 'USAGE_CONSOLIDATED';
const totalOf = (invoices: readonly { readonly total: string }[]) =>
  sum(invoices.map(({ total }) => decimal(total))).toFixed();

interface Row extends Listed {
  readonly customer: string;
  readonly former: { readonly id: string; readonly total: string } | null;
  readonly change: string | null;
  readonly reasons: readonly string[];
}

async function pages(month: string, limit: number): Promise<ApiAnswer[]> {
  const found: ApiAnswer[] = [];
  let next_page: string | undefined;
  do {
    const page = await api.get(`/v1/month-end/${month}`, { query: { limit, next_page } });
    expect(page.list('data').length).toBeLessThanOrEqual(limit);
    found.push(page);
    next_page = page.at('next_page') === null ? undefined : page.text('next_page');
  } while (next_page !== undefined);
  return found;
}

function rowsOf(page: ApiAnswer): Row[] {
  return page.list('data').flatMap((_, contract) =>
    page.list(`data[${contract}].invoices`).map((item, index) => {
      const at = `data[${contract}].invoices[${index}]`;
      const has = (name: string) => page.at(`${at}.${name}`) !== undefined;
      const kinds = ['price', 'volume', 'mix', 'terms'];
      return {
        ...(item as Listed),
        customer: page.text(`data[${contract}].customer_id`),
        total: page.digits(`${at}.total`),
        former: has('former_invoice')
          ? { id: page.text(`${at}.former_invoice.id`), total: page.digits(`${at}.former_invoice.total`) }
          : null,
        change: has('change') ? page.digits(`${at}.change`) : null,
        reasons: has('reasons') ? kinds.map((kind) => page.digits(`${at}.reasons.${kind}_change`)) : [],
      };
    }),
  );
}

test('month end has each invoice of the month once, and its sums are those of the lists, page by page as at once', async () => {
  const byMonth = new Map(
    await Promise.all(MONTHS.map(async (month) => [month, await listed(month)] as const)),
  );
  for (const [at, month] of MONTHS.entries()) {
    const [all, former] = [byMonth.get(month) ?? [], byMonth.get(MONTHS[at - 1] ?? '') ?? []];
    const [whole] = await pages(month, 100);
    const inParts = await pages(month, 2);
    const last = inParts.at(-1);
    expect(last?.at('summary'), month).toEqual(whole?.at('summary'));
    const rows = inParts.flatMap(rowsOf);
    expect(rows.map(({ id }) => id).sort()).toEqual(all.map(({ id }) => id).sort());
    if (last === undefined || last.list('summary.totals').length === 0) continue;
    expect(last.list('summary.totals')).toHaveLength(1);
    const total = (name: string) => decimal(last.digits(`summary.totals[0].${name}`)).toFixed();
    expect(total('total'), month).toBe(totalOf(all.filter(isCounted)));
    if (at > 0) {
      const counted = former.filter(isCounted);
      const paired = rows.flatMap((row) => row.former ?? []);
      const unpaired = counted.filter(({ id }) => paired.every((each) => each.id !== id));
      expect(new Set(paired.map(({ id }) => id)).size).toBe(paired.length);
      expect(total('former_total'), month).toBe(totalOf(counted));
      expect(total('unpaired_total'), month).toBe(totalOf(unpaired));
      expect(last.at('summary.unpaired_invoice_count')).toBe(unpaired.length);
    }
    const count = (status: string) => all.filter((each) => each.status === status).length;
    expect(last.at('summary.invoice_counts')).toEqual({
      ...{ draft: count('DRAFT'), finalized: count('FINALIZED'), void: count('VOID') },
    });
  }
});

/** The members of a change of an invoice that are numbers, with all digits. */
const digitsAt = (answer: ApiAnswer, at: string, kinds: readonly string[]) =>
  kinds.map((kind) => answer.digits(`${at}.${kind}`));
const REASONS = ['price_change', 'volume_change', 'mix_change', 'terms_change'];

test('a change is the difference of both invoices, and its reasons are those of the invoice’s products and add up to it', async () => {
  let [compared, beside] = [0, 0];
  for (const month of MONTHS) {
    for (const row of (await pages(month, 100)).flatMap(rowsOf)) {
      const change = await api.get(`/v1/customers/${row.customer}/invoices/${row.id}/change`);
      expect(change.digits('data.total')).toBe(row.total);
      if (change.at('data.former_invoice') !== undefined) {
        const [own] = digitsAt(change, 'data', ['change']);
        const difference = decimal(row.total).minus(change.digits('data.former_invoice.total'));
        expect(own).toBe(difference.toFixed());
        const parts = digitsAt(change, 'data.reasons', REASONS).map(decimal);
        expect(sum(parts).toFixed()).toBe(own);
        const products = change.list('data.products').map((_, at) => `data.products[${at}]`);
        REASONS.slice(0, 3).forEach((kind, at) => {
          const all = products.map((product) => decimal(change.digits(`${product}.${kind}`)));
          expect(sum(all).toFixed()).toBe(parts[at]?.toFixed());
        });
      }
      if (row.former === null) continue;
      compared += 1;
      expect(row.change).toBe(decimal(row.total).minus(row.former.total).toFixed());
      expect(sum(row.reasons.map(decimal)).toFixed()).toBe(row.change);
      if (change.at('data.former_invoice.id') !== row.former.id) continue;
      beside += 1;
      expect(row.reasons).toEqual(digitsAt(change, 'data.reasons', REASONS));
    }
  }
  expect(compared).toBeGreaterThan(3);
  expect(beside).toBeGreaterThan(1);
});

test('the events of a customer are those that SQL counts in the same days of both months', async () => {
  const [page] = await pages('2026-11', 100);
  const sql = `SELECT customer_id, SUM(CASE WHEN timestamp >= '2026-11-01T00:00:00Z' THEN 1 ELSE 0 END) AS n,
    SUM(CASE WHEN timestamp < '2026-10-31T00:00:00Z' THEN 1 ELSE 0 END) AS f FROM events
    WHERE timestamp >= '2026-10-01T00:00:00Z' AND timestamp < '2026-12-01T00:00:00Z' GROUP BY customer_id`;
  const answer = await api.post('/v1/sql', { sql });
  const counts = new Map(
    answer
      .list('data')
      .map((_, index) => [
        answer.text(`data[${index}].customer_id`),
        [Number(answer.digits(`data[${index}].n`)), Number(answer.digits(`data[${index}].f`))],
      ]),
  );
  const contracts = (page?.list('data') ?? []) as {
    readonly customer_id: string;
    readonly events: number;
    readonly events_before: number;
  }[];
  expect(contracts.length).toBeGreaterThan(4);
  for (const { customer_id, events, events_before } of contracts) {
    expect([events, events_before]).toEqual(counts.get(customer_id) ?? [0, 0]);
  }
});

test('a month that is none is refused, and one without invoices is empty', async () => {
  expect((await api.send('GET', '/v1/month-end/2026-13')).status).toBe(404);
  const empty = await api.get('/v1/month-end/2020-01');
  expect([empty.list('data'), empty.at('next_page'), empty.list('summary.totals')]).toEqual([[], null, []]);
});

test('a contract is in the sums of the month as it was when its page was read', async () => {
  const month = '2026-11';
  const [whole] = await pages(month, 100);
  const all = whole === undefined ? [] : rowsOf(whole);
  const ofType = (type: string) => all.filter((row) => row.type === type && row.status === 'FINALIZED');
  const weekly = ofType('USAGE').find(
    ({ customer }, _, rows) => rows.filter((row) => row.customer === customer).length > 2,
  );
  const changed = [...ofType('SCHEDULED').slice(0, 1), ...(weekly === undefined ? [] : [weekly])];
  expect(changed).toHaveLength(2);
  const totalIn = (page: ApiAnswer | undefined) => decimal(page?.digits('summary.totals[0].total') ?? '0');
  let next_page: string | undefined;
  let read: Row[] = [];
  while (read.length === 0) {
    const page = await api.get(`/v1/month-end/${month}`, { query: { limit: 1, next_page } });
    next_page = page.text('next_page');
    read = rowsOf(page).filter(({ id }) => changed.some((each) => each.id === id));
  }
  expect(read).toHaveLength(1);
  for (const { id } of changed) await api.post('/v1/invoices/void', { id });
  const last = await api.get(`/v1/month-end/${month}`, { query: { limit: 100, next_page } });
  expect(last.at('next_page')).toBeNull();
  const [again] = await pages(month, 100);
  expect(totalIn(again).toFixed()).toBe(totalIn(whole).minus(totalOf(changed)).toFixed());
  // The invoice that was read before it was voided is still in the sums that continue.
  expect(totalIn(last).toFixed()).toBe(totalIn(again).plus(totalOf(read)).toFixed());
});

test('the counts of issued invoices are those of their list and, without consolidated ones, those of SQL', async () => {
  const list = async (status: string) =>
    (await api.get('/v1/invoices', { query: { status, limit: 100 } })).list('data') as { type: string }[];
  const [finalized, voided] = [await list('FINALIZED'), await list('VOID')];
  expect((await api.get('/v1/invoices/counts')).at('data')).toEqual({
    ...{ finalized: finalized.length, void: voided.length },
  });
  const sql = `SELECT invoice_status, COUNT(*) AS n FROM invoices WHERE invoice_status <> 'DRAFT' GROUP BY invoice_status ORDER BY invoice_status`;
  const rows = (await api.post('/v1/sql', { sql })).list('data') as { n: number }[];
  expect(rows.map(({ n }) => Number(n))).toEqual(
    [finalized, voided].map((all) => all.filter(({ type }) => type !== 'USAGE_CONSOLIDATED').length),
  );
});
