/** Balances that a parent shares with its children: who draws on them, in which order, and what ledgers say. */
import { beforeEach, describe, expect, test } from 'vitest';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHierarchy, type Hierarchy, invoiceId, type Member, request } from '../support/hierarchies.ts';
import { reconcile } from '../support/reconciled.ts';
import {
  ALL,
  APART,
  balances,
  bill,
  bills,
  commitProduct,
  payers,
  prepaid,
} from '../support/shared-balances.ts';

const service = await serviceForFile({ usage: 'naive', sandboxNow: '2026-01-10T00:00:00Z' });
const { api } = service;
const product = await commitProduct(api);

/** Every test has its own three months. */
let month = Date.UTC(2026, 0, 1);
const at = (months: number, day = 1, hour = 0) => {
  const start = new Date(month);
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + months, day, hour)).toISOString();
};

beforeEach(async () => {
  month = Date.parse(at(3));
  await service.moveClock(at(0, 10));
});

const monthOf = (months: number) => at(months).slice(0, 7);

interface FamilyTerms {
  readonly commits?: readonly Record<string, unknown>[];
  readonly children?: Readonly<Record<string, Record<string, unknown>>>;
}

/** Two months; the parent has commits for the first one unless it is said otherwise. */
function family({ commits = [], children = { child: APART } }: FamilyTerms): Promise<Hierarchy> {
  return createHierarchy(api, {
    ...{ startingAt: at(0), endingBefore: at(2), children },
    parent: { hierarchy_configuration: undefined, commits },
  });
}

const access = (from = 0, to = 1) => ({ starting_at: at(from), ending_before: at(to) });
const shared = (amount: number, terms: Record<string, unknown> = {}) =>
  prepaid(product, amount, access(), { ...ALL, ...terms });

function member({ children }: Hierarchy, name = 'child'): Member {
  const found = children[name];
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

async function usageId(of: Member, months = 0): Promise<string> {
  return invoiceId(api, of, { type: 'USAGE', start: at(months).slice(0, 10) });
}

const first = (found: readonly string[]) => found.filter((text) => text.includes(monthOf(0)));

/** Nothing that is issued or open in these months disagrees. */
async function expectReconciled(...members: Member[]): Promise<void> {
  for (const { customerId: customer_id } of members) {
    const found = await reconcile(api, { starting_on: at(0), ending_before: at(3), customer_id });
    expect(found.differences).toEqual([]);
    expect(found.unchecked).toEqual([]);
  }
}

describe('drafts', () => {
  test('the own usage of the parent comes first, whatever is read', async () => {
    const hierarchy = await family({ commits: [shared(10)] });
    const { parent } = hierarchy;
    const child = member(hierarchy);
    await request(api, child, 4, at(0, 2));
    expect(first(await bills(api, child))).toEqual([`DRAFT ${monthOf(0)} pays 0, covered 8`]);
    await request(api, parent, 3, at(0, 5));
    const expected = [`DRAFT ${monthOf(0)} pays 4, covered 4`, `DRAFT ${monthOf(0)} pays 0, covered 6`];
    expect([...first(await bills(api, child)), ...first(await bills(api, parent))]).toEqual(expected);
    expect([
      await bill(api, child, await usageId(child)),
      await bill(api, parent, await usageId(parent)),
    ]).toEqual(expected);
    const nameOf = (id: string) => (id === child.contractId ? 'child' : 'parent');
    expect(await balances(api, parent, nameOf)).toEqual([
      {
        id: (await payers(api, child))[0],
        balance: '0',
        ledger: ['SEGMENT_START 10', expect.any(String), expect.any(String)],
      },
    ]);
    const [own] = await balances(api, parent, nameOf);
    expect(own?.ledger.slice(1).toSorted()).toEqual([
      'AUTOMATED_INVOICE_DEDUCTION -4 child',
      'AUTOMATED_INVOICE_DEDUCTION -6 parent',
    ]);
    expect(await balances(api, child)).toEqual([]);
    await expectReconciled(parent, child);
  });

  test('breakdowns, explanations and consolidated invoices show what the invoice shows', async () => {
    const hierarchy = await createHierarchy(api, {
      ...{ startingAt: at(0), endingBefore: at(2), children: { child: {} } },
      parent: { commits: [shared(10)] },
    });
    const { parent } = hierarchy;
    const child = member(hierarchy);
    await request(api, child, 4, at(0, 2));
    await request(api, parent, 3, at(0, 5));
    const check = async () => {
      const id = await usageId(child);
      const days = await api.get(`/v1/customers/${child.customerId}/invoices/breakdowns`, {
        query: { window_size: 'DAY', starting_on: at(0, 2), ending_before: at(0, 3), limit: 10 },
      });
      expect(days.digits('data[0].total')).toBe('4');
      const { body } = await api.get(`/v1/customers/${child.customerId}/invoices/${id}/explain`);
      const { data } = body as { readonly data: readonly { readonly is_reproduced: boolean }[] };
      expect(data.length).toBeGreaterThan(2);
      expect(data.every(({ is_reproduced }) => is_reproduced)).toBe(true);
      const type = 'USAGE_CONSOLIDATED';
      const whole = await invoiceId(api, parent, { type, start: at(0).slice(0, 10) });
      const consolidated = await api.get(`/v1/customers/${parent.customerId}/invoices/${whole}`);
      expect(consolidated.digits('data.total')).toBe('4');
    };
    await check();
    await service.moveClock(at(1, 3));
    await check();
    await expectReconciled(parent, child);
  });

  test('children follow one another by the start of their contracts', async () => {
    const hierarchy = await family({
      commits: [shared(10)],
      children: { late: { ...APART, starting_at: at(0, 3) }, early: { ...APART, starting_at: at(0, 2) } },
    });
    const [late, early] = [member(hierarchy, 'late'), member(hierarchy, 'early')];
    for (const one of [late, early]) await request(api, one, 4, at(0, 4));
    expect([...first(await bills(api, early)), ...first(await bills(api, late))]).toEqual([
      `DRAFT ${monthOf(0)} pays 0, covered 8`,
      `DRAFT ${monthOf(0)} pays 6, covered 2`,
    ]);
  });

  test.each([
    ['NONE', { hierarchy_configuration: { child_access: { type: 'NONE' } } }],
    ['nothing said', {}],
  ])('%s: children draw on nothing', async (_, terms) => {
    const hierarchy = await family({ commits: [prepaid(product, 10, access(), terms)] });
    await request(api, member(hierarchy), 4, at(0, 2));
    expect(first(await bills(api, member(hierarchy)))).toEqual([`DRAFT ${monthOf(0)} pays 8, covered 0`]);
    expect((await balances(api, hierarchy.parent))[0]?.balance).toBe('10');
  });

  test('a shared balance of products pays for these only', async () => {
    const hierarchy = await family({ commits: [shared(10, { applicable_product_tags: ['nothing'] })] });
    await request(api, member(hierarchy), 4, at(0, 2));
    expect(first(await bills(api, member(hierarchy)))).toEqual([`DRAFT ${monthOf(0)} pays 8, covered 0`]);
  });
});

test('hierarchies that share a customer are drawn down together', async () => {
  const hierarchy = await family({ commits: [shared(10, { priority: 2 })] });
  const { parent } = hierarchy;
  const middle = member(hierarchy);
  const card = await api.post('/v2/contracts/get', {
    ...{ customer_id: parent.customerId, contract_id: parent.contractId },
  });
  const terms = { rate_card_id: card.text('data.rate_card_id'), starting_at: at(0), ending_before: at(2) };
  // The customer of the child is a parent too.
  const other = await createdId(api, CONTRACTS, {
    ...{ ...terms, customer_id: middle.customerId, commits: [shared(10, { priority: 2 })] },
  });
  const alias = `last ${month}`;
  const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const contractId = await createdId(api, CONTRACTS, {
    ...{ ...terms, customer_id: customerId },
    hierarchy_configuration: { parent: { contract_id: other, customer_id: middle.customerId } },
  });
  await createdId(api, '/v1/contracts/customerCredits/create', {
    ...{ customer_id: middle.customerId, product_id: product, priority: 1 },
    access_schedule: { schedule_items: [{ amount: 4, ...access() }] },
  });
  const last = { customerId, contractId, alias };
  await request(api, parent, 3, at(0, 5));
  // Both contracts of its customer bill it: the credit pays for the one that is no child.
  await request(api, middle, 3, at(0, 5));
  await request(api, last, 6, at(0, 5));
  const found = async () => [
    ...first(await bills(api, last)),
    ...first(await bills(api, middle)).toSorted(),
    ...first(await bills(api, parent)),
  ];
  const expected = (status: string) =>
    ['pays 4, covered 8', 'pays 0, covered 6', 'pays 2, covered 4', 'pays 0, covered 6'].map(
      (text) => `${status} ${monthOf(0)} ${text}`,
    );
  expect(await found()).toEqual(expected('DRAFT'));
  await service.moveClock(at(1, 3));
  expect(await found()).toEqual(expected('FINALIZED'));
  await expectReconciled(parent, middle, last);
});

describe('invoices', () => {
  test('invoices keep what they took, and a voided one gives it back', async () => {
    const hierarchy = await family({ commits: [shared(10)] });
    const { parent } = hierarchy;
    const child = member(hierarchy);
    await request(api, child, 4, at(0, 2));
    await request(api, parent, 3, at(0, 5));
    await service.moveClock(at(1, 3));
    const issued = `FINALIZED ${monthOf(0)} pays 4, covered 4`;
    expect(first(await bills(api, child))).toEqual([issued]);
    expect(first(await bills(api, parent))).toEqual([`FINALIZED ${monthOf(0)} pays 0, covered 6`]);
    await expectReconciled(parent, child);
    await api.post('/v1/invoices/void', { id: await usageId(parent) });
    expect((await balances(api, parent))[0]?.ledger).toContain('CREDITED 6');
    expect(first(await bills(api, child))).toEqual([issued]);
    await api.post('/v1/invoices/void', { id: await usageId(child) });
    const again = await api.post('/v1/invoices/regenerate', { id: await usageId(child) });
    expect(await bill(api, child, again.text('data.id'))).toBe(`FINALIZED ${monthOf(0)} pays 0, covered 8`);
    await expectReconciled(parent, child);
  });
});
