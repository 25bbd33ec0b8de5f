/** Consolidated invoices of hierarchies, through the API. */
import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { issueConsolidatedInvoices } from '../../src/billing/invoices/consolidated/issue.ts';
import { CONSOLIDATION_JOB } from '../../src/store/jobs/consolidation-jobs.ts';
import { billingContext } from '../support/billing-context.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import {
  createHierarchy,
  type Hierarchy,
  invoiceId,
  type Member,
  request,
  usageInvoices,
} from '../support/hierarchies.ts';
import { readPdf } from '../support/pdf.ts';
import { reconcile } from '../support/reconciled.ts';

const service = await serviceForFile({ sandboxNow: '2026-01-10T00:00:00Z' });
const { api, db } = service;

/** Every test has two separate months: the first is issued, the second is open. */
let month = Date.UTC(2026, 0, 1);
const at = (months: number, day = 1, hour = 0) => {
  const start = new Date(month);
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + months, day, hour)).toISOString();
};
const dayOf = (instant: string) => instant.slice(0, 10);

beforeEach(async () => {
  month = Date.parse(at(2));
  await service.moveClock(at(0, 10));
});

const CONSOLIDATED = 'USAGE_CONSOLIDATED';

function consolidated({ parent }: Hierarchy, status?: string): Promise<string> {
  const asked = { type: CONSOLIDATED, start: dayOf(at(0)) };
  return invoiceId(api, parent, status === undefined ? asked : { ...asked, status });
}

const usageOf = (member: Member, start = at(0)) =>
  invoiceId(api, member, { type: 'USAGE', start: dayOf(start) });
/** The message of a request that must be refused with 400. */
async function refusal(method: string, path: string, body?: unknown): Promise<string> {
  const answer = await api.send(method, path, body);
  expect(answer.status).toBe(400);
  return answer.text('message');
}

const read = (member: Member, id: string) => api.get(`/v1/customers/${member.customerId}/invoices/${id}`);

/** A parent with 3 requests, a child that consolidates with 5, in the first month. */
async function family(children: Record<string, Record<string, unknown>> = { child: {} }): Promise<Hierarchy> {
  const hierarchy = await createHierarchy(api, { startingAt: at(0), endingBefore: at(2), children });
  await request(api, hierarchy.parent, 3, at(0, 2));
  for (const child of Object.values(hierarchy.children)) await request(api, child, 5, at(0, 3));
  return hierarchy;
}

function childOf({ children }: Hierarchy): Member {
  const [first] = Object.values(children);
  if (first === undefined) throw new Error('the hierarchy has a child');
  return first;
}

test('the draft has the lines of the parent and of the child, each with its origin, and their sum as total', async () => {
  const hierarchy = await family();
  const { parent } = hierarchy;
  const child = childOf(hierarchy);
  expect(await usageInvoices(api, parent)).toEqual([
    `USAGE ${dayOf(at(0))} DRAFT 6`,
    `${CONSOLIDATED} ${dayOf(at(0))} DRAFT 16`,
  ]);
  expect(await usageInvoices(api, child)).toEqual([`USAGE ${dayOf(at(0))} DRAFT 10`]);
  const [ownId, childId, id] = [await usageOf(parent), await usageOf(child), await consolidated(hierarchy)];
  const answer = await read(parent, id);
  const owner = (member: Member, invoice_id: string) => ({
    invoice_id,
    customer_id: member.customerId,
    contract_id: member.contractId,
  });
  expect(answer.at('data.constituent_invoices')).toEqual([owner(parent, ownId), owner(child, childId)]);
  const [own, childs] = [await read(parent, ownId), await read(child, childId)];
  const lineOf = (line: unknown, member: Member, invoice: string) => ({
    ...(line as Record<string, unknown>),
    id: expect.any(String),
    origin: { line_item_id: (line as { id: string }).id, ...owner(member, invoice) },
  });
  expect(answer.list('data.line_items')).toEqual([
    ...own.list('data.line_items').map((line) => lineOf(line, parent, ownId)),
    ...childs.list('data.line_items').map((line) => lineOf(line, child, childId)),
  ]);
  expect(childs.at('data.payer')).toEqual({ customer_id: parent.customerId, contract_id: parent.contractId });
  expect(own.at('data.payer')).toEqual({ customer_id: parent.customerId, contract_id: parent.contractId });
  expect(answer.at('data.payer')).toBeUndefined();
});

test('lines have the list prices that they have on their constituents, on the draft and when it is issued', async () => {
  const hierarchy = await family();
  const { parent } = hierarchy;
  const child = childOf(hierarchy);
  const priced = async (member: Member, id: string) => {
    const path = `/v1/customers/${member.customerId}/invoices/${id}`;
    const answer = await api.get(path, { query: { include_list_prices: true } });
    return answer.list('data.line_items').map((line) => (line as { list_price?: unknown }).list_price);
  };
  const id = await consolidated(hierarchy);
  const own = [
    ...(await priced(parent, await usageOf(parent))),
    ...(await priced(child, await usageOf(child))),
  ];
  expect(own).not.toContain(undefined);
  expect(await priced(parent, id)).toEqual(own);
  await service.moveClock(at(1, 3));
  expect(await priced(parent, id)).toEqual(own);
});

test('the issued invoice is the draft: same id, same lines, same line ids, and every amount agrees', async () => {
  const hierarchy = await family();
  const { parent } = hierarchy;
  const id = await consolidated(hierarchy);
  const draft = await read(parent, id);
  await service.moveClock(at(1, 3));
  const issued = await read(parent, id);
  expect(issued.at('data')).toMatchObject({ type: CONSOLIDATED, status: 'FINALIZED', issued_at: at(1, 2) });
  expect(issued.list('data.line_items')).toEqual(draft.list('data.line_items'));
  expect(issued.digits('data.total')).toBe('16');
  expect(issued.text('data.invoice_number')).toMatch(/^INV-/);
  expect(await usageInvoices(api, parent, { status: 'FINALIZED' })).toEqual([
    `USAGE ${dayOf(at(0))} FINALIZED 6`,
    `${CONSOLIDATED} ${dayOf(at(0))} FINALIZED 16`,
  ]);
  expect(await usageInvoices(api, parent, { type: CONSOLIDATED, status: 'DRAFT' })).toEqual([
    `${CONSOLIDATED} ${dayOf(at(1))} DRAFT 0`,
  ]);
  const range = { starting_on: at(0), ending_before: at(1) };
  expect(await reconcile(api, range)).toMatchObject({ differences: [], late: [], unchecked: [] });
});

describe('what stays apart', () => {
  const cases: Record<string, Record<string, unknown>> = {
    'a child that keeps separate statements': { hierarchy: { usage_statement_behavior: 'SEPARATE' } },
    'a child that pays for itself': { hierarchy: { payer: 'SELF', usage_statement_behavior: 'SEPARATE' } },
    'a child whose statements end on another day': {
      usage_statement_schedule: {
        frequency: 'MONTHLY',
        day: 'CUSTOM_DATE',
        billing_anchor_date: '2025-12-15T00:00:00Z',
      },
    },
    'a child whose statements are longer': {
      usage_statement_schedule: { frequency: 'QUARTERLY', day: 'CONTRACT_START' },
    },
  };
  test.each(Object.entries(cases))('%s', async (_, terms) => {
    const hierarchy = await family({ other: terms });
    expect(await usageInvoices(api, hierarchy.parent, { type: CONSOLIDATED })).toEqual([]);
    await service.moveClock(at(1, 3));
    expect(await usageInvoices(api, hierarchy.parent, { type: CONSOLIDATED })).toEqual([]);
  });

  test('a parent that does not concatenate', async () => {
    const hierarchy = await createHierarchy(api, {
      startingAt: at(0),
      endingBefore: at(2),
      parent: { hierarchy_configuration: { parent_behavior: { invoice_consolidation_type: 'NONE' } } },
      children: { child: {} },
    });
    await service.moveClock(at(1, 3));
    expect(await usageInvoices(api, hierarchy.parent, { type: CONSOLIDATED })).toEqual([]);
  });

  test('weekly statements of a child stay separate unless they are issued on the day of the parent', async () => {
    const hierarchy = await family({
      weekly: {
        usage_statement_schedule: {
          ...{ frequency: 'WEEKLY', day: 'CUSTOM_DATE' },
          billing_anchor_date: at(1),
        },
      },
    });
    await service.moveClock(at(1, 3));
    const child = childOf(hierarchy);
    const own = await usageInvoices(api, child, { status: 'FINALIZED' });
    expect(own.length).toBeGreaterThan(3);
    const id = await consolidated(hierarchy);
    const parts = (await read(hierarchy.parent, id)).list('data.constituent_invoices');
    const lastId = await usageOf(child, new Date(Date.parse(at(1)) - 7 * 86_400_000).toISOString());
    expect(parts).toEqual([
      expect.objectContaining({ customer_id: hierarchy.parent.customerId }),
      expect.objectContaining({ invoice_id: lastId }),
    ]);
  });
});

test('children follow the parent by the start of their contracts', async () => {
  const hierarchy = await createHierarchy(api, {
    startingAt: at(0),
    endingBefore: at(2),
    children: { late: { starting_at: at(0, 5) }, early: { starting_at: at(0, 2) } },
  });
  const answer = await read(hierarchy.parent, await consolidated(hierarchy));
  const { parent, children } = hierarchy;
  expect(answer.list('data.constituent_invoices')).toMatchObject(
    [parent, children.early, children.late].map((member) => ({ customer_id: member?.customerId })),
  );
});

test('the consolidated invoice waits for an invoice of a child that fails, and is issued with it', async () => {
  const hierarchy = await family();
  const { parent } = hierarchy;
  const child = childOf(hierarchy);
  await db.execute(sql`
    update jobs set attempts = 1, retry_at = '2200-01-01T00:00:00Z'
    where subject = ${child.contractId} and kind = 'finalize_usage_invoice'`);
  await service.moveClock(at(1, 3));
  const id = await consolidated(hierarchy, 'DRAFT');
  expect((await read(parent, id)).digits('data.total')).toBe('16');
  expect(await usageInvoices(api, parent, { status: 'FINALIZED' })).toEqual([
    `USAGE ${dayOf(at(0))} FINALIZED 6`,
  ]);
  await db.execute(sql`update jobs set retry_at = 'epoch' where attempts > 0`);
  await service.moveClock(at(1, 3, 1));
  await db.execute(sql`update jobs set retry_at = 'epoch' where attempts > 0`);
  await service.moveClock(at(1, 3, 2));
  expect((await read(parent, id)).at('data.status')).toBe('FINALIZED');
  expect((await read(parent, id)).digits('data.total')).toBe('16');
});

test('a child that is archived before its invoice is issued is not waited for', async () => {
  const hierarchy = await family({ stays: {}, goes: {} });
  const { goes } = hierarchy.children;
  await api.post('/v1/contracts/archive', {
    customer_id: goes?.customerId,
    contract_id: goes?.contractId,
    void_invoices: false,
  });
  await service.moveClock(at(1, 3));
  const answer = await read(hierarchy.parent, await consolidated(hierarchy, 'FINALIZED'));
  expect(answer.digits('data.total')).toBe('16');
});

test('two processes that issue the same consolidated invoice issue it once', async () => {
  const hierarchy = await family();
  const { contractId } = hierarchy.parent;
  await service.moveClock(at(1, 3));
  const id = await consolidated(hierarchy, 'FINALIZED');
  // As it was before: with its job, and without the invoice.
  await db.execute(sql`delete from invoice_constituents where invoice_id = ${id}`);
  for (const table of ['invoice_numbers', 'invoice_custom_fields'])
    await db.execute(sql`delete from ${sql.identifier(table)} where invoice_id = ${id}`);
  await db.execute(sql`delete from invoices where id = ${id}`);
  const payload = { contract_id: contractId, period_start: Date.parse(at(0)) };
  const job = {
    ...{ id: 0, kind: CONSOLIDATION_JOB, key: '', subject: null, runAt: 0, attempts: 0 },
    payload,
  };
  const context = billingContext({ db, clock: { now: () => Date.parse(at(1, 3)) } });
  const issue = () => db.transaction((tx) => issueConsolidatedInvoices(context, tx, [job]));
  const results = await Promise.allSettled([issue(), issue(), issue()]);
  const issued = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  expect(issued.map((invoice) => invoice.id)).toEqual([id]);
  expect(await issue()).toEqual([]);
  expect((await read(hierarchy.parent, id)).digits('data.total')).toBe('16');
});

describe('void and regenerate', () => {
  async function issuedFamily() {
    const hierarchy = await family();
    await service.moveClock(at(1, 3));
    return { hierarchy, child: childOf(hierarchy), id: await consolidated(hierarchy) };
  }
  const voided = (id: string) => api.post('/v1/invoices/void', { id });
  const regenerated = async (id: string) =>
    (await api.post('/v1/invoices/regenerate', { id })).text('data.id');

  test('a constituent is not voided while the consolidated invoice stands', async () => {
    const { child, id } = await issuedFamily();
    const childId = await usageOf(child);
    expect(await refusal('POST', '/v1/invoices/void', { id: childId })).toContain(id);
    expect((await read(child, childId)).at('data.status')).toBe('FINALIZED');
  });

  test('a voided one is regenerated of the same invoices, or of what they were regenerated as', async () => {
    const { hierarchy, child, id } = await issuedFamily();
    const childId = await usageOf(child);
    await voided(id);
    await voided(childId);
    expect(await refusal('POST', '/v1/invoices/regenerate', { id })).toContain(childId);
    await request(api, child, 2, at(0, 4));
    const newChildId = await regenerated(childId);
    const again = await regenerated(id);
    const answer = await read(hierarchy.parent, again);
    expect(answer.at('data')).toMatchObject({
      ...{ type: CONSOLIDATED, status: 'FINALIZED', regenerated_from_invoice_id: id },
      constituent_invoices: [{}, { invoice_id: newChildId }],
    });
    expect(answer.digits('data.total')).toBe('20');
    expect((await read(hierarchy.parent, id)).digits('data.total')).toBe('16');
    const range = { starting_on: at(0), ending_before: at(1) };
    expect((await reconcile(api, range)).differences).toEqual([]);
  });

  test('archiving a child with its invoices voids the consolidated invoice that they are on', async () => {
    const { hierarchy, child, id } = await issuedFamily();
    await api.post('/v1/contracts/archive', {
      ...{ customer_id: child.customerId, contract_id: child.contractId, void_invoices: true },
    });
    expect((await read(hierarchy.parent, id)).at('data.status')).toBe('VOID');
    expect(await refusal('POST', '/v1/invoices/regenerate', { id })).toContain('nothing to bill');
  });
});

test('no amount is counted twice: breakdowns, costs and queries leave consolidated invoices out', async () => {
  const hierarchy = await family();
  const { customerId } = hierarchy.parent;
  await service.moveClock(at(1, 3));
  const range = { starting_on: at(0), ending_before: at(1) };
  const breakdowns = await api.get(`/v1/customers/${customerId}/invoices/breakdowns`, { query: range });
  expect(breakdowns.list('data').every((item) => (item as { type: string }).type === 'USAGE')).toBe(true);
  const costs = await api.get(`/v1/customers/${customerId}/costs`, { query: range });
  const cents = costs.list('data').flatMap((_, index) => {
    const path = `data[${index}].credit_types`;
    return Object.keys(costs.at(path) as object).map((id) => Number(costs.digits(`${path}.${id}.cost`)));
  });
  expect(cents.reduce((sum, one) => sum + one, 0)).toBe(6);
  const report = await api.post('/v1/sql', {
    sql: `SELECT sum(total) AS total FROM invoices WHERE customer_id = '${customerId}' AND type <> 'SCHEDULED'`,
  });
  expect(JSON.stringify(report.body)).toContain('6');
});

test('the CSV names the customer and the invoice of each line, and the PDF the customer', async () => {
  const hierarchy = await family();
  const child = childOf(hierarchy);
  const id = await consolidated(hierarchy);
  const path = `/v1/customers/${hierarchy.parent.customerId}/invoices/${id}`;
  const csv = String((await api.get(path, { headers: { accept: 'text/csv' } })).body);
  expect(csv).toContain(`${child.customerId},${await usageOf(child)}`);
  const headers = { authorization: `Bearer ${service.token}` };
  const pdf = await fetch(new URL(`${path}/pdf`, service.url), { headers });
  const { pages } = await readPdf(new Uint8Array(await pdf.arrayBuffer()));
  expect(pages.join(' ')).toContain(`${child.alias}: Requests`);
});

interface Explanation {
  readonly line_number: number;
  readonly line_item: { readonly id: string; readonly origin?: { readonly line_item_id: string } };
  readonly is_reproduced?: boolean;
  readonly counted_up_to?: string;
}

/** All explanations of an invoice, read in pages of `limit`. */
async function explained(
  { customerId }: Pick<Member, 'customerId'>,
  id: string,
  limit = 100,
): Promise<Explanation[]> {
  const found: Explanation[] = [];
  let next_page: unknown;
  do {
    const query = { limit, ...(next_page === undefined ? {} : { next_page: String(next_page) }) };
    const { body } = await api.get(`/v1/customers/${customerId}/invoices/${id}/explain`, { query });
    const page = body as { data: Explanation[]; next_page: string | null };
    found.push(...page.data);
    next_page = page.next_page ?? undefined;
  } while (next_page !== undefined);
  return found;
}

test('lines of a consolidated invoice are explained as those of its constituents, page by page, as a draft and issued', async () => {
  const hierarchy = await family({ one: {}, other: {} });
  const { parent } = hierarchy;
  const id = await consolidated(hierarchy);
  const { body } = await read(parent, id);
  const { data } = body as { data: { constituent_invoices: { invoice_id: string; customer_id: string }[] } };
  expect(data.constituent_invoices).toHaveLength(3);
  const check = async () => {
    const own: Explanation[] = [];
    for (const { invoice_id, customer_id } of data.constituent_invoices) {
      own.push(...(await explained({ customerId: customer_id }, invoice_id)));
    }
    const all = await explained(parent, id);
    expect(all.map(({ line_number }) => line_number)).toEqual(own.map((_, index) => index + 1));
    expect(all.map(({ line_item }) => line_item.origin?.line_item_id)).toEqual(
      own.map(({ line_item }) => line_item.id),
    );
    const shown = ({ line_number: _, line_item: __, counted_up_to: ___, ...rest }: Explanation) => rest;
    expect(all.map(shown)).toEqual(own.map(shown));
    expect(all.every(({ is_reproduced, counted_up_to }) => is_reproduced && counted_up_to)).toBe(true);
    expect(await explained(parent, id, 1)).toEqual(all);
  };
  await check();
  await service.moveClock(at(1, 3));
  await check();
});

test('the line numbers in explanations are those of the consolidated invoice', async () => {
  const hierarchy = await family();
  const child = childOf(hierarchy);
  await api.post('/v1/contracts/customerCredits/create', {
    ...{ customer_id: child.customerId, priority: 1, name: 'Trial' },
    product_id: await createdId(api, '/v1/contract-pricing/products/create', {
      name: 'Credit',
      type: 'FIXED',
    }),
    access_schedule: { schedule_items: [{ amount: 4, starting_at: at(0), ending_before: at(1) }] },
  });
  const rows = await explained(hierarchy.parent, await consolidated(hierarchy));
  const applied = rows.find((row) => 'covered_line' in row);
  expect(applied).toMatchObject({ line_number: 4, covered_line: { line_number: 3, amount: 4 } });
  expect(applied).toMatchObject({
    formula: [expect.anything(), expect.anything(), expect.stringContaining('line 3,')],
  });
  expect(rows.every(({ is_reproduced }) => is_reproduced)).toBe(true);
});

test('a draft can be neither voided nor moved', async () => {
  const hierarchy = await family();
  const id = await consolidated(hierarchy);
  expect(await refusal('POST', '/v1/invoices/void', { id })).toContain('DRAFT');
  const moved = { invoice_id: id, issue_date: at(1, 5) };
  expect(await refusal('POST', '/v1/contracts/updateInvoiceIssueDate', moved)).toContain('usage invoice');
});

test('a payment by a shared commit of the parent is on the consolidated invoice once', async () => {
  const commit_product = await createdId(api, '/v1/contract-pricing/products/create', {
    ...{ name: `Commit ${month}`, type: 'FIXED' },
  });
  const hierarchy = await createHierarchy(api, {
    startingAt: at(0),
    endingBefore: at(2),
    parent: {
      commits: [
        {
          ...{ product_id: commit_product, type: 'PREPAID', priority: 1 },
          access_schedule: {
            schedule_items: [{ amount: 8, starting_at: at(0), ending_before: at(1) }],
          },
          hierarchy_configuration: { child_access: { type: 'ALL' } },
        },
      ],
    },
    children: { child: {} },
  });
  await request(api, hierarchy.parent, 3, at(0, 2));
  await request(api, childOf(hierarchy), 5, at(0, 3));
  const draft = await read(hierarchy.parent, await consolidated(hierarchy));
  await service.moveClock(at(1, 3));
  const issued = await read(hierarchy.parent, await consolidated(hierarchy));
  expect(issued.list('data.line_items')).toEqual(draft.list('data.line_items'));
  const parts = [
    await read(hierarchy.parent, await usageOf(hierarchy.parent)),
    await read(childOf(hierarchy), await usageOf(childOf(hierarchy))),
  ].map((answer) => Number(answer.digits('data.total')));
  expect(Number(issued.digits('data.total'))).toBe(parts.reduce((sum, one) => sum + one, 0));
});
