/** Explanations of consolidated invoices whose constituents are issued, voided or regenerated meanwhile. */
import { beforeEach, expect, test } from 'vitest';
import { explainInvoice } from '../../src/billing/invoices/explain/explain-invoice.ts';
import { beforeQuery } from '../support/before-query.ts';
import { billingContext } from '../support/billing-context.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHierarchy, type Hierarchy, invoiceId, type Member, request } from '../support/hierarchies.ts';

const service = await serviceForFile({ sandboxNow: '2026-01-10T00:00:00Z' });
const { api, db } = service;

/** Every test has its own two months: the first is issued, the second is open. */
let month = Date.UTC(2026, 0, 1);
const at = (months: number, day = 1) => {
  const start = new Date(month);
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + months, day)).toISOString();
};

beforeEach(async () => {
  month = Date.parse(at(2));
  await service.moveClock(at(0, 10));
});

/** A parent with 3 requests and a child with 5, in the first month. */
async function family(): Promise<Hierarchy & { readonly child: Member }> {
  const children = { child: {} };
  const hierarchy = await createHierarchy(api, { startingAt: at(0), endingBefore: at(2), children });
  const child = hierarchy.children.child;
  if (child === undefined) throw new Error('the hierarchy has a child');
  await request(api, hierarchy.parent, 3, at(0, 2));
  await request(api, child, 5, at(0, 3));
  return { ...hierarchy, child };
}

const idOf = (member: Member, type: string) => invoiceId(api, member, { type, start: at(0).slice(0, 10) });
const consolidatedOf = ({ parent }: Hierarchy) => idOf(parent, 'USAGE_CONSOLIDATED');
const voided = (id: string) => api.post('/v1/invoices/void', { id });
const regenerated = async (id: string) => (await api.post('/v1/invoices/regenerate', { id })).text('data.id');

/** The explanation of the lines with usage, with a change just before one of the queries to ClickHouse. */
async function explained(
  { parent }: Hierarchy,
  id: string,
  meanwhile: { readonly at: number; change(): Promise<unknown> } = { at: -1, change: async () => {} },
) {
  const { clickhouse, queries } = beforeQuery(service.clickhouse, meanwhile.at, meanwhile.change);
  const now = Date.parse((await api.get('/v1/sandbox/clock')).text('data.now'));
  const context = billingContext({ db, clickhouse, clock: { now: () => now } });
  const page = { after: null, limit: 100 };
  const { invoice, rows } = await explainInvoice(context, parent.customerId, id, page);
  return {
    status: invoice.status,
    total: invoice.total.toFixed(),
    lines: rows
      .filter(({ line }) => line.total.toFixed() !== '0')
      .map(
        ({ line, explanation, isReproduced }) =>
          `${line.quantity} for ${line.total}: ${explanation.recomputed?.total}, ${isReproduced}`,
      ),
    queries: queries(),
  };
}

const LINES = ['3 for 6: 6, true', '5 for 10: 10, true'];

test('one that is voided with its constituents, and regenerated with other usage, is explained as it was', async () => {
  const hierarchy = await family();
  await service.moveClock(at(1, 3));
  const id = await consolidatedOf(hierarchy);
  const childId = await idOf(hierarchy.child, 'USAGE');
  const before = await explained(hierarchy, id);
  expect(before).toMatchObject({ status: 'FINALIZED', total: '16', lines: LINES });
  let again = '';
  const during = await explained(hierarchy, id, {
    at: 0,
    async change() {
      await voided(id);
      await voided(childId);
      await request(api, hierarchy.child, 2, at(0, 4));
      await regenerated(childId);
      again = await regenerated(id);
    },
  });
  expect(during).toEqual(before);
  expect(await explained(hierarchy, id)).toEqual({ ...before, status: 'VOID' });
  expect(await explained(hierarchy, again)).toMatchObject({
    ...{ status: 'FINALIZED', total: '20' },
    lines: ['3 for 6: 6, true', '7 for 14: 14, true'],
  });
});

test('a draft that is issued meanwhile, at whatever moment, is explained as the draft that it was', async () => {
  const first = await family();
  const { queries } = await explained(first, await consolidatedOf(first));
  expect(queries).toBeGreaterThan(1);
  for (const moment of [0, queries - 1]) {
    const hierarchy = await family();
    const id = await consolidatedOf(hierarchy);
    const during = await explained(hierarchy, id, {
      at: moment,
      change: () => service.moveClock(at(1, 3)),
    });
    expect(during).toMatchObject({ status: 'DRAFT', total: '16', lines: LINES });
    expect(await explained(hierarchy, id)).toMatchObject({ status: 'FINALIZED', total: '16', lines: LINES });
    month = Date.parse(at(2));
    await service.moveClock(at(0, 10));
  }
});
