/** Balances that a parent shares with its children, as the terms around them change. */
import { beforeEach, describe, expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHierarchy, type Hierarchy, invoiceId, type Member, request } from '../support/hierarchies.ts';
import { reconcile } from '../support/reconciled.ts';
import { completion } from '../support/scenario.ts';
import {
  ALL,
  APART,
  balances,
  bills,
  commitProduct,
  prepaid,
  sharedWith,
} from '../support/shared-balances.ts';

const service = await serviceForFile({ sandboxNow: '2026-01-10T00:00:00Z' });
const { api } = service;
const product = await commitProduct(api);

/** Every test has its own four months. */
let month = Date.UTC(2026, 0, 1);
const at = (months: number, day = 1, hour = 0) => {
  const start = new Date(month);
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + months, day, hour)).toISOString();
};

beforeEach(async () => {
  month = Date.parse(at(4));
  await service.moveClock(at(0, 10));
});

const monthOf = (months: number) => at(months).slice(0, 7);
const access = (from = 0, to = 1) => ({ starting_at: at(from), ending_before: at(to) });

function family(parent: Record<string, unknown>, children: Record<string, object> = { child: {} }) {
  return createHierarchy(api, {
    ...{ startingAt: at(0), endingBefore: at(3) },
    parent: { hierarchy_configuration: undefined, ...parent },
    children: Object.fromEntries(
      Object.entries(children).map(([name, terms]) => [name, { ...APART, ...terms }]),
    ),
  });
}

function member({ children }: Hierarchy, name = 'child'): Member {
  const found = children[name];
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

const reference = ({ customerId: customer_id, contractId: contract_id }: Member) => ({
  customer_id,
  contract_id,
});
const edit = (of: Member, changes: object) =>
  api.send('POST', '/v2/contracts/edit', { ...reference(of), ...changes });
const archive = (of: Member) => api.post('/v1/contracts/archive', { ...reference(of), void_invoices: false });

async function usageId(of: Member, months = 0): Promise<string> {
  return invoiceId(api, of, { type: 'USAGE', start: at(months).slice(0, 10) });
}

async function billOf(of: Member, months = 0): Promise<string | undefined> {
  return (await bills(api, of)).find((text) => text.includes(monthOf(months)));
}

const draft = (pays: number, covered: number, months = 0) =>
  `DRAFT ${monthOf(months)} pays ${pays}, covered ${covered}`;
const final = (pays: number, covered: number, months = 0) =>
  `FINALIZED ${monthOf(months)} pays ${pays}, covered ${covered}`;

async function expectReconciled(...members: Member[]): Promise<void> {
  for (const { customerId: customer_id } of members) {
    const found = await reconcile(api, { starting_on: at(0), ending_before: at(4), customer_id });
    expect([...found.differences, ...found.unchecked]).toEqual([]);
  }
}

async function scheduled(of: Member): Promise<string[]> {
  const answer = await api.get(`/v1/customers/${of.customerId}/invoices`, {
    query: { type: 'SCHEDULED', sort: 'date_asc', limit: 100 },
  });
  return answer.list('data').map((_, index) => {
    const { status } = answer.at(`data[${index}]`) as { status: string };
    return `${status} ${answer.digits(`data[${index}].total`)}`;
  });
}

describe('who may draw', () => {
  test('an edit names children, and another takes the access back', async () => {
    const hierarchy = await family({ commits: [prepaid(product, 10, access())] }, { one: {}, other: {} });
    const { parent } = hierarchy;
    const [one, other] = [member(hierarchy, 'one'), member(hierarchy, 'other')];
    for (const child of [one, other]) await request(api, child, 2, at(0, 2));
    const commit_id = (await balances(api, parent))[0]?.id;
    const share = (terms: object) => edit(parent, { update_commits: [{ commit_id, ...terms }] });
    expect(await billOf(one)).toBe(draft(4, 0));
    expect((await share(sharedWith(one.contractId))).status).toBe(200);
    expect([await billOf(one), await billOf(other)]).toEqual([draft(0, 4), draft(4, 0)]);
    expect((await share(ALL)).status).toBe(200);
    expect([await billOf(one), await billOf(other)]).toEqual([draft(0, 4), draft(0, 4)]);
    await service.moveClock(at(1, 3));
    expect([await billOf(one), await billOf(other)]).toEqual([final(0, 4), final(0, 4)]);
    const none = { hierarchy_configuration: { child_access: { type: 'NONE' } } };
    expect((await share(none)).status).toBe(200);
    expect(await billOf(one)).toBe(final(0, 4));
    expect((await balances(api, parent))[0]?.ledger).toContain('EXPIRATION -2');
    await expectReconciled(parent, one, other);
  });

  test('an edit does not lower a balance below what children have drawn', async () => {
    const hierarchy = await family({ commits: [prepaid(product, 10, access(), ALL)] });
    const { parent } = hierarchy;
    await request(api, member(hierarchy), 3, at(0, 2));
    await service.moveClock(at(1, 3));
    const answer = await api.post('/v2/contracts/get', reference(parent));
    const commit_id = answer.text('data.commits[0].id');
    const id = answer.text('data.commits[0].access_schedule.schedule_items[0].id');
    const lower = (amount: number) =>
      edit(parent, {
        update_commits: [{ commit_id, access_schedule: { update_schedule_items: [{ id, amount }] } }],
      });
    expect((await lower(5)).status).toBe(400);
    expect((await lower(6)).status).toBe(200);
    const gone = await edit(parent, { archive_commits: [{ id: commit_id }] });
    expect(gone.text('message')).toContain('draws it down');
  });

  test('children of a recurring credit are shared like the credit', async () => {
    const hierarchy = await family({
      recurring_credits: [
        {
          product_id: product,
          access_amount: { unit_price: 5, quantity: 1, credit_type_id: USD_CENTS.id },
          ...{ commit_duration: { value: 1 }, priority: 1, starting_at: at(0), ...ALL },
          recurrence_frequency: 'MONTHLY',
        },
      ],
    });
    const child = member(hierarchy);
    await request(api, child, 4, at(0, 2));
    await service.moveClock(at(1, 10));
    await request(api, child, 1, at(1, 2));
    expect([await billOf(child), await billOf(child, 1)]).toEqual([final(3, 5), draft(0, 2, 1)]);
  });

  test('a parent and its child may be contracts of one customer, whose other balances stay apart', async () => {
    const hierarchy = await family({ commits: [prepaid(product, 10, access(), ALL)] });
    const { parent } = hierarchy;
    const child = member(hierarchy);
    const rate_card_id = (await api.post('/v2/contracts/get', reference(parent))).text('data.rate_card_id');
    const sibling = await createdId(api, CONTRACTS, {
      ...{ customer_id: parent.customerId, rate_card_id, starting_at: at(0, 5), ending_before: at(1) },
      hierarchy_configuration: {
        parent: { contract_id: parent.contractId, customer_id: parent.customerId },
        payer: 'SELF',
      },
    });
    // A credit of the parent's customer is none of the child's.
    await createdId(api, '/v1/contracts/customerCredits/create', {
      ...{ customer_id: parent.customerId, product_id: product, priority: 2 },
      access_schedule: { schedule_items: [{ amount: 100, ...access() }] },
    });
    await request(api, parent, 3, at(0, 6));
    await request(api, child, 4, at(0, 6));
    const own = await api.get(`/v1/customers/${parent.customerId}/invoices`, {
      query: { type: 'USAGE', limit: 100 },
    });
    const totals = own
      .list('data')
      .map((_, index) => [
        own.text(`data[${index}].contract_id`) === sibling ? 'sibling' : 'parent',
        own.digits(`data[${index}].total`),
      ]);
    expect(Object.fromEntries(totals)).toEqual({ sibling: '0', parent: '0' });
    // The parent takes 6, its child with the earlier start 4; what is left for the sibling is the credit.
    expect(await billOf(child)).toBe(draft(4, 4));
    await service.moveClock(at(1, 3));
    expect(await billOf(child)).toBe(final(4, 4));
    await expectReconciled(parent, child);
  });
});

describe('several months', () => {
  test('a draft that is read alone finds what an earlier one takes from balances of its time', async () => {
    const hierarchy = await family({
      commits: [
        prepaid(product, 6, access(0, 1), { ...ALL, priority: 1 }),
        prepaid(product, 6, access(0, 2), { ...ALL, priority: 2 }),
      ],
    });
    const { parent } = hierarchy;
    const child = member(hierarchy);
    await request(api, parent, 3, at(0, 2));
    await service.moveClock(at(1, 1, 12));
    await request(api, child, 3, at(1, 1, 6));
    const id = await usageId(child, 1);
    const alone = await api.get(`/v1/customers/${child.customerId}/invoices/${id}`);
    expect([alone.text('data.status'), alone.digits('data.total')]).toEqual(['DRAFT', '0']);
    expect(await billOf(parent)).toBe(draft(0, 6));
    await service.moveClock(at(1, 10));
    expect(await billOf(child, 1)).toBe(draft(0, 6, 1));
  });
});

describe('renewals', () => {
  test('the amount that children leave rolls over, and is shared with the children of the newer contract', async () => {
    const hierarchy = await family({
      ending_before: at(1),
      commits: [prepaid(product, 10, access(0, 2), { ...ALL, rollover_fraction: 1 })],
    });
    const { parent } = hierarchy;
    const child = member(hierarchy);
    await request(api, child, 2, at(0, 2));
    const card = (await api.post('/v2/contracts/get', reference(parent))).text('data.rate_card_id');
    const newer = await createdId(api, CONTRACTS, {
      ...{ customer_id: parent.customerId, rate_card_id: card, starting_at: at(1), ending_before: at(3) },
      transition: { type: 'RENEWAL', from_contract_id: parent.contractId },
    });
    await service.moveClock(at(1, 1, 6));
    await request(api, child, 1, at(1, 1, 2));
    expect([await billOf(child), await billOf(child, 1)]).toEqual([draft(0, 4), draft(2, 0, 1)]);
    const heirs = async () =>
      (await balances(api, parent)).flatMap(({ ledger, balance }) =>
        ledger.some((entry) => entry.startsWith('ROLLOVER')) ? [] : [balance],
      );
    expect(await heirs()).toEqual(['6']);
    const alias = `grown ${month}`;
    const grown = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
    const contractId = await createdId(api, CONTRACTS, {
      ...{ customer_id: grown, rate_card_id: card, starting_at: at(1), ending_before: at(3) },
      hierarchy_configuration: {
        parent: { contract_id: newer, customer_id: parent.customerId },
        payer: 'SELF',
      },
    });
    const other = { customerId: grown, contractId, alias };
    await request(api, other, 2, at(1, 1, 3));
    expect(await billOf(other, 1)).toBe(draft(0, 4, 1));
    expect(await heirs()).toEqual(['2']);
    await service.moveClock(at(2, 3));
    expect([await billOf(child), await billOf(child, 1)]).toEqual([final(0, 4), final(2, 0, 1)]);
    expect(await billOf(other, 1)).toBe(final(0, 4, 1));
    expect(await heirs()).toEqual(['2']);
    await expectReconciled(parent, child, other);
  });
});

test('a child that is billed after the renewal takes no more than rollovers have left', async () => {
  const hierarchy = await family(
    {
      ending_before: at(1),
      commits: [prepaid(product, 10, access(0, 2), { ...ALL, rollover_fraction: 1 })],
    },
    {
      slow: {
        usage_statement_schedule: {
          frequency: 'MONTHLY',
          day: 'CUSTOM_DATE',
          billing_anchor_date: at(0, 28),
        },
      },
    },
  );
  const { parent } = hierarchy;
  const slow = member(hierarchy, 'slow');
  const card = (await api.post('/v2/contracts/get', reference(parent))).text('data.rate_card_id');
  const contractId = await createdId(api, CONTRACTS, {
    ...{ customer_id: parent.customerId, rate_card_id: card, starting_at: at(1), ending_before: at(3) },
    usage_statement_schedule: { frequency: 'WEEKLY' },
    transition: { type: 'RENEWAL', from_contract_id: parent.contractId },
  });
  await service.moveClock(at(1, 2));
  await request(api, parent, 2, at(1, 1, 6));
  await request(api, slow, 4, at(0, 29));
  const slowBill = async () => (await bills(api, slow)).find((text) => !text.includes('covered 0'));
  expect(await slowBill()).toBe(draft(2, 6));
  await service.moveClock(at(1, 20));
  const weeks = await api.get(`/v1/customers/${parent.customerId}/invoices`, {
    query: { type: 'USAGE', status: 'FINALIZED', limit: 100, sort: 'date_asc' },
  });
  const ofNewer = weeks.list('data').findIndex((_, index) => {
    return weeks.text(`data[${index}].contract_id`) === contractId;
  });
  expect(weeks.digits(`data[${ofNewer}].total`)).toBe('0');
  expect(await slowBill()).toBe(draft(2, 6));
  await service.moveClock(at(2, 5));
  expect(await slowBill()).toBe(final(2, 6));
  const ledgers = (await balances(api, parent)).map(({ ledger }) => ledger);
  expect(
    ledgers
      .flat()
      .filter((entry) => /DEDUCTION|ROLLOVER/.test(entry))
      .toSorted(),
  ).toEqual(['AUTOMATED_INVOICE_DEDUCTION -4', 'AUTOMATED_INVOICE_DEDUCTION -6', 'ROLLOVER -4']);
  await expectReconciled(parent, slow);
});

test('an invoice that is regenerated after the renewal takes no more than rollovers have left', async () => {
  const hierarchy = await family({
    ending_before: at(1),
    commits: [prepaid(product, 10, access(0, 2), { ...ALL, rollover_fraction: 1 })],
  });
  const { parent } = hierarchy;
  const card = (await api.post('/v2/contracts/get', reference(parent))).text('data.rate_card_id');
  await createdId(api, CONTRACTS, {
    ...{ customer_id: parent.customerId, rate_card_id: card, starting_at: at(1), ending_before: at(3) },
    transition: { type: 'RENEWAL', from_contract_id: parent.contractId },
  });
  await request(api, parent, 2, at(0, 6));
  await service.moveClock(at(1, 10));
  await request(api, parent, 3, at(1, 6));
  await request(api, parent, 3, at(0, 7));
  await service.moveClock(at(2, 5));
  expect(await bills(api, parent)).toEqual([final(0, 4), final(0, 6, 1), draft(0, 0, 2)]);
  const id = await usageId(parent);
  await api.post('/v1/invoices/void', { id });
  await api.post('/v1/invoices/regenerate', { id });
  expect((await bills(api, parent)).filter((text) => text.startsWith('FINALIZED'))).toEqual(
    expect.arrayContaining([final(6, 4), final(0, 6, 1)]),
  );
  await expectReconciled(parent);
});

describe('true-ups', () => {
  const minimum = (amount: number) => ({
    ...{ product_id: product, type: 'POSTPAID', ...ALL },
    access_schedule: { schedule_items: [{ amount, ...access() }] },
    invoice_schedule: { schedule_items: [{ amount, timestamp: at(1) }] },
  });

  test('the usage of children counts for the commitment of their parent, and is due on their invoices', async () => {
    const hierarchy = await family({ commits: [minimum(20)] });
    const { parent } = hierarchy;
    const child = member(hierarchy);
    await request(api, parent, 2, at(0, 2));
    await request(api, child, 3, at(0, 2));
    expect([await billOf(parent), await billOf(child)]).toEqual([draft(4, 4), draft(6, 6)]);
    expect(await scheduled(parent)).toEqual(['DRAFT 10']);
    await service.moveClock(at(1, 3));
    expect(await scheduled(parent)).toEqual(['FINALIZED 10']);
    expect((await balances(api, parent))[0]?.ledger).toContain('TRUEUP -10');
    await expectReconciled(parent, child);
  });

  test('true-ups are held until the invoices of children are issued', async () => {
    const hierarchy = await family(
      { commits: [minimum(20)] },
      {
        slow: {
          usage_statement_schedule: {
            frequency: 'MONTHLY',
            day: 'CUSTOM_DATE',
            billing_anchor_date: at(0, 15),
          },
        },
      },
    );
    const { parent } = hierarchy;
    const slow = member(hierarchy, 'slow');
    await request(api, slow, 3, at(0, 2));
    await service.moveClock(at(1, 5));
    expect(await scheduled(parent)).toEqual(['DRAFT 14']);
    await request(api, slow, 1, at(0, 20));
    await service.moveClock(at(1, 18));
    expect(await scheduled(parent)).toEqual(['FINALIZED 12']);
    await expectReconciled(parent, slow);
  });
});

describe('archiving', () => {
  test('the contract of the parent: its children pay from then on', async () => {
    const hierarchy = await family({ commits: [prepaid(product, 10, access(0, 2), ALL)] });
    const { parent } = hierarchy;
    const child = member(hierarchy);
    await request(api, child, 2, at(0, 2));
    await archive(parent);
    await service.moveClock(at(0, 20));
    await request(api, child, 1, at(0, 15));
    expect(await billOf(child)).toBe(draft(2, 4));
    await service.moveClock(at(1, 3));
    expect(await billOf(child)).toBe(final(2, 4));
    await expectReconciled(child);
  });

  test('the contract of a child: what its draft took is there again', async () => {
    const hierarchy = await family({ commits: [prepaid(product, 10, access(), ALL)] });
    const { parent } = hierarchy;
    await request(api, member(hierarchy), 2, at(0, 2));
    expect((await balances(api, parent))[0]?.balance).toBe('6');
    await archive(member(hierarchy));
    expect((await balances(api, parent))[0]?.balance).toBe('10');
  });
});

describe('charges of subscriptions', () => {
  test('charges of subscriptions of a parent come before those of its children on the same date', async () => {
    const seats = await createdId(api, '/v1/contract-pricing/products/create', {
      name: `Seats ${month}`,
      type: 'SUBSCRIPTION',
    });
    const subscription = {
      subscription_rate: { billing_frequency: 'MONTHLY', product_id: seats },
      ...{ collection_schedule: 'ADVANCE', initial_quantity: 1 },
      proration: { is_prorated: false, invoice_behavior: 'BILL_IMMEDIATELY' },
    };
    const hierarchy = await family({ commits: [prepaid(product, 10, access(1, 2), ALL)] });
    const { parent } = hierarchy;
    const child = member(hierarchy);
    const rate_card_id = (await api.post('/v2/contracts/get', reference(parent))).text('data.rate_card_id');
    await api.post('/v1/contract-pricing/rate-cards/addRates', {
      rate_card_id,
      rates: [
        {
          ...{ product_id: seats, starting_at: at(0), entitled: true },
          ...{ rate_type: 'FLAT', price: 7, billing_frequency: 'MONTHLY' },
        },
      ],
    });
    // The child's is added first, and so is its job.
    for (const one of [child, parent]) {
      const added = await edit(one, { add_subscriptions: [{ ...subscription, starting_at: at(1) }] });
      expect(added.status).toBe(200);
    }
    expect([await scheduled(parent), await scheduled(child)]).toEqual([['DRAFT 0'], ['DRAFT 4']]);
    await service.moveClock(at(1, 2));
    const issued = async (of: Member) => (await scheduled(of)).filter((text) => text.startsWith('FINAL'));
    expect([await issued(parent), await issued(child)]).toEqual([['FINALIZED 0'], ['FINALIZED 4']]);
    await expectReconciled(parent, child);
  });
});

describe('what looks at balances', () => {
  test('previews of events count what the parent has used', async () => {
    const hierarchy = await family({ commits: [prepaid(product, 10, access(), ALL)] });
    const { parent } = hierarchy;
    const child = member(hierarchy);
    await request(api, parent, 4, at(0, 2));
    await request(api, child, 1, at(0, 3));
    const events = [1, 2].map((number) => {
      const event = completion(child.alias, { id: `preview ${month} ${number}`, at: at(0, 4), tokens: 0 });
      const { customer_id: _, ...given } = event;
      return given;
    });
    const preview = async (mode: string): Promise<string> => {
      const path = `/v1/customers/${child.customerId}/previewEvents`;
      const answer: ApiAnswer = await api.post(path, { mode, events });
      return answer.digits('data[0].total');
    };
    expect([await preview('replace'), await preview('merge')]).toEqual(['2', '4']);
  });

  test('a threshold of the parent is recharged for what children use', async () => {
    const hierarchy = await family({
      commits: [prepaid(product, 1_000, access(), ALL)],
      prepaid_balance_threshold_configuration: {
        ...{ is_enabled: true, threshold_amount: 500, recharge_to_amount: 1_500 },
        commit: { product_id: product },
        payment_gate_config: { payment_gate_type: 'NONE' },
      },
    });
    for (const day of [2, 3, 4]) await request(api, member(hierarchy), 100, at(0, day));
    await service.moveClock(at(0, 11));
    const left = (await balances(api, hierarchy.parent)).map(({ balance }) => balance);
    expect(left.toSorted()).toEqual(['1100', '400']);
  });

  test('net balances, and the alert on what is left', async () => {
    const hierarchy = await family({ commits: [prepaid(product, 10, access(), ALL)] });
    const { parent } = hierarchy;
    const customer_id = parent.customerId;
    const alert_id = await createdId(api, '/v1/alerts/create', {
      ...{ alert_type: 'low_remaining_commit_balance_reached', name: 'Low', threshold: 5, customer_id },
    });
    await request(api, member(hierarchy), 3, at(0, 2));
    const net = async (more: object = {}) =>
      (await api.post('/v1/contracts/customerBalances/getNetBalance', { customer_id, ...more })).digits(
        'data.balance',
      );
    expect([await net(), await net({ invoice_inclusion_mode: 'FINALIZED' })]).toEqual(['4', '10']);
    await service.moveClock(at(0, 11));
    const state = await api.post('/v1/customer-alerts/get', { customer_id, alert_id });
    expect(state.at('data.customer_status')).toBe('in_alarm');
  });
});
