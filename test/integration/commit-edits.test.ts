/** Edits of one commit or credit, of a contract or of a customer: what changes, what is refused, what is remembered. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

type Body = Record<string, unknown>;

const service = await serviceForFile({ usage: 'naive', sandboxNow: '2026-01-10T00:00:00Z' });
const { api } = service;
const catalogue = await createTermsCatalogue(api);

const day = (month: number) => new Date(Date.UTC(2026, month - 1)).toISOString();
const NOW = '2026-01-10T00:00:00Z';
const EDIT_COMMIT = '/v2/contracts/commits/edit';
const EDIT_CREDIT = '/v2/contracts/credits/edit';
const ARCHIVE_COMMIT = '/v2/contracts/commits/archive';
const ARCHIVE_CREDIT = '/v2/contracts/credits/archive';
const SHORTEN_COMMIT = '/v1/contracts/customerCommits/updateEndDate';
const SHORTEN_CREDIT = '/v1/contracts/customerCredits/updateEndDate';
const DISABLE = '/v1/contracts/commits/disableTrueup';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

let customer: string;
let contract: string;

beforeEach(async () => {
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
  contract = await newContract();
});

async function newContract(change: Body = {}): Promise<string> {
  return createdId(api, CONTRACTS, { customer_id: customer, starting_at: day(1), ...change });
}

const segment = (amount: number, from: number, until: number) => ({
  amount,
  starting_at: day(from),
  ending_before: day(until),
});

function terms(change: Body = {}): Body {
  return {
    product_id: catalogue.fee,
    access_schedule: { schedule_items: [segment(100, 1, 6), segment(50, 6, 12)] },
    ...change,
  };
}

const invoiced = (...timestamps: string[]) => ({
  invoice_schedule: { schedule_items: timestamps.map((timestamp) => ({ timestamp, amount: 80 })) },
});

/** How the commit or credit is created: of the customer, or of a contract. */
type Owner = 'customer' | 'contract';
const OWNERS: readonly [Owner][] = [['customer'], ['contract']];

async function make(owner: Owner, kind: 'commit' | 'credit', change: Body = {}): Promise<string> {
  const body = terms(kind === 'commit' ? { type: 'PREPAID', ...change } : change);
  if (owner === 'customer') {
    const path = kind === 'commit' ? 'customerCommits' : 'customerCredits';
    const invoice = 'invoice_schedule' in body ? { invoice_contract_id: contract } : {};
    const whole = { customer_id: customer, priority: 100, ...invoice, ...body };
    return createdId(api, `/v1/contracts/${path}/create`, whole);
  }
  contract = await newContract({ [`${kind}s`]: [body] });
  return (await getContract()).text(`data.${kind}s[0].id`);
}

async function getContract(): Promise<ApiAnswer> {
  return api.post('/v2/contracts/get', { customer_id: customer, contract_id: contract });
}

async function shown(id: string): Promise<ApiAnswer> {
  return api.post('/v1/contracts/customerBalances/list', {
    customer_id: customer,
    id,
    include_contract_balances: true,
    include_archived: true,
    include_balance: true,
    include_ledgers: true,
  });
}

async function segmentsOf(id: string) {
  const answer = await shown(id);
  return answer.list('data[0].access_schedule.schedule_items') as {
    readonly id: string;
    readonly amount: number;
    readonly starting_at: string;
    readonly ending_before: string;
  }[];
}

async function history(): Promise<ApiAnswer> {
  return api.post('/v2/contracts/getEditHistory', { customer_id: customer, contract_id: contract });
}

async function refusalOf(path: string, body: Body): Promise<[number, string]> {
  const answer = await api.send('POST', path, { customer_id: customer, ...body });
  return [answer.status, answer.text('message')];
}

describe.each(OWNERS)('a commit of a %s', (owner) => {
  test('a commit is edited in every field', async () => {
    const id = await make(owner, 'commit', invoiced(day(3), day(4)));
    const [first, second] = await segmentsOf(id);
    const items = (await shown(id)).list('data[0].invoice_schedule.schedule_items') as { id: string }[];
    const answer = await api.post(EDIT_COMMIT, {
      customer_id: customer,
      commit_id: id,
      name: 'Renamed',
      description: 'New',
      priority: 3,
      rate_type: 'commit_rate',
      applicable_product_tags: ['llm'],
      hierarchy_configuration: { child_access: { type: 'NONE' } },
      access_schedule: {
        add_schedule_items: [segment(7, 12, 13)],
        update_schedule_items: [{ id: first?.id, amount: 110 }],
        remove_schedule_items: [{ id: second?.id }],
      },
      invoice_schedule: {
        update_schedule_items: [{ id: items[0]?.id, amount: 90 }],
        remove_schedule_items: [{ id: items[1]?.id }],
      },
      netsuite_sales_order_id: 'ignored',
    });
    expect(answer.body).toEqual({ data: { id } });
    expect((await shown(id)).at('data[0]')).toMatchObject({
      name: 'Renamed',
      description: 'New',
      priority: 3,
      rate_type: 'COMMIT_RATE',
      applicable_product_tags: ['llm'],
      hierarchy_configuration: { child_access: { type: 'NONE' } },
      access_schedule: { schedule_items: [{ amount: 110 }, segment(7, 12, 13)] },
      invoice_schedule: { schedule_items: [{ amount: 90, timestamp: day(3) }] },
      balance: 110,
    });
    await api.post(EDIT_COMMIT, {
      customer_id: customer,
      commit_id: id,
      priority: null,
      applicable_product_tags: null,
    });
    const reset = await shown(id);
    expect(reset.at('data[0].priority')).toBe(100);
    expect(reset.at('data[0].applicable_product_tags')).toBeUndefined();
  });

  test('an edit of a commit is refused by the name of the field in this request', async () => {
    const id = await make(owner, 'commit');
    const [first] = await segmentsOf(id);
    const edit = { commit_id: id };
    const update = [{ id: first?.id, ending_before: day(1) }];
    expect(await refusalOf(EDIT_COMMIT, { ...edit, product_id: catalogue.tokens })).toEqual([
      400,
      'product_id: must be a FIXED product, not USAGE',
    ]);
    expect(
      await refusalOf(EDIT_COMMIT, { ...edit, access_schedule: { update_schedule_items: update } }),
    ).toEqual([400, 'access_schedule.update_schedule_items[0].ending_before: must be after starting_at']);
    expect(await refusalOf(EDIT_COMMIT, { ...edit, nmae: 'typo' })).toEqual([
      400,
      expect.stringContaining('nmae'),
    ]);
  });

  test('a commit is archived: what is left is canceled, and it cannot be changed any more', async () => {
    const id = await make(owner, 'commit');
    expect((await api.post(ARCHIVE_COMMIT, { customer_id: customer, commit_id: id })).body).toEqual({
      data: { id },
    });
    const answer = await shown(id);
    expect(answer.at('data[0].archived_at')).toBe('2026-01-10T00:00:00.000Z');
    expect(answer.at('data[0].balance')).toBe(0);
    expect(answer.list('data[0].ledger')).toMatchObject([
      { type: 'PREPAID_COMMIT_SEGMENT_START', amount: 100 },
      { type: 'PREPAID_COMMIT_CANCELED', amount: -100, timestamp: '2026-01-10T00:00:00.000Z' },
      { type: 'PREPAID_COMMIT_SEGMENT_START', amount: 50 },
      { type: 'PREPAID_COMMIT_CANCELED', amount: -50 },
    ]);
    const archived = [400, `commit_id: commit ${id} is already archived`];
    expect(await refusalOf(ARCHIVE_COMMIT, { commit_id: id })).toEqual(archived);
    expect(await refusalOf(EDIT_COMMIT, { commit_id: id, name: 'x' })).toEqual([
      400,
      `commit_id: commit ${id} is archived`,
    ]);
  });

  test('a commit is not archived or changed where a finalized invoice shows it, until that is voided', async () => {
    const id = await make(owner, 'commit', invoiced(NOW, day(4)));
    await service.moveClock(NOW);
    const items = (await shown(id)).list('data[0].invoice_schedule.schedule_items') as { id: string }[];
    const [due, later] = items.map((item) => ({ id: item.id }));
    const onInvoice = `commit ${id} cannot be`;
    const edit = { commit_id: id };
    const change = { update_schedule_items: [{ ...due, amount: 1 }] };
    expect(await refusalOf(ARCHIVE_COMMIT, edit)).toEqual([
      400,
      expect.stringContaining(`${onInvoice} archived`),
    ]);
    expect(await refusalOf(EDIT_COMMIT, { ...edit, invoice_schedule: change })).toEqual([
      400,
      expect.stringContaining(`${onInvoice} changed`),
    ]);
    const remove = { remove_schedule_items: [due] };
    expect(await refusalOf(EDIT_COMMIT, { ...edit, invoice_schedule: remove })).toEqual([
      400,
      expect.stringContaining(`${onInvoice} removed`),
    ]);
    expect(await refusalOf(SHORTEN_COMMIT, { ...edit, invoices_ending_before: NOW })).toEqual([
      400,
      expect.stringContaining(`${onInvoice} removed`),
    ]);
    await api.post(SHORTEN_COMMIT, { customer_id: customer, ...edit, invoices_ending_before: day(2) });
    const left = (await shown(id)).list('data[0].invoice_schedule.schedule_items');
    expect(left).toEqual([expect.objectContaining(due ?? {})]);
    expect(left).not.toContainEqual(expect.objectContaining(later ?? {}));
    const invoices = await api.get(`/v1/customers/${customer}/invoices?status=FINALIZED`);
    await api.post('/v1/invoices/void', { id: invoices.text('data[0].id') });
    expect(await refusalOf(EDIT_COMMIT, { ...edit, invoice_schedule: remove })).toEqual([
      400,
      expect.stringContaining('voided'),
    ]);
    await api.post(ARCHIVE_COMMIT, { customer_id: customer, commit_id: id });
  });

  test('a commit is shortened, never lengthened', async () => {
    const id = await make(owner, 'commit', invoiced(day(3), day(7)));
    const shorten = { customer_id: customer, commit_id: id };
    expect(await refusalOf(SHORTEN_COMMIT, { ...shorten, access_ending_before: day(13) })).toEqual([
      400,
      expect.stringContaining('access_ending_before: must not be after 2026-12-01T00:00:00.000Z'),
    ]);
    expect(
      await refusalOf(SHORTEN_COMMIT, { ...shorten, access_ending_before: '2025-12-01T00:00:00Z' }),
    ).toEqual([400, 'access_ending_before: must be after access starts']);
    expect(
      await refusalOf(SHORTEN_COMMIT, { ...shorten, access_ending_before: '2026-05-01T00:30:00Z' }),
    ).toEqual([400, expect.stringContaining('access_ending_before')]);
    await api.post(SHORTEN_COMMIT, { ...shorten, access_ending_before: day(12) });
    await api.post(SHORTEN_COMMIT, shorten);
    expect(await segmentsOf(id)).toHaveLength(2);
    await api.post(SHORTEN_COMMIT, {
      ...shorten,
      access_ending_before: day(5),
      invoices_ending_before: day(7),
    });
    expect(await segmentsOf(id)).toEqual([expect.objectContaining(segment(100, 1, 5))]);
    expect((await shown(id)).list('data[0].invoice_schedule.schedule_items')).toMatchObject([
      { timestamp: day(3) },
    ]);
  });
});

test.each(OWNERS)('a prepaid commit of a %s is archived where it is to end at its start', async (owner) => {
  const id = await make(owner, 'commit', { access_schedule: { schedule_items: [segment(100, 1, 12)] } });
  await api.post(SHORTEN_COMMIT, { customer_id: customer, commit_id: id, access_ending_before: day(1) });
  const commit = await shown(id);
  expect(commit.at('data[0].archived_at')).toEqual(expect.any(String));
  expect(commit.at('data[0].balance')).toBe(0);
  const again = { commit_id: id, access_ending_before: day(1) };
  expect(await refusalOf(SHORTEN_COMMIT, again)).toEqual([
    400,
    `commit_id: commit ${id} is already archived`,
  ]);
});

describe.each(OWNERS)('a credit of a %s', (owner) => {
  test('a credit is edited, shortened and archived', async () => {
    const id = await make(owner, 'credit');
    await api.post(EDIT_CREDIT, {
      customer_id: customer,
      credit_id: id,
      name: 'Gift',
      specifiers: [{ product_tags: ['llm'] }],
    });
    await api.post(SHORTEN_CREDIT, { customer_id: customer, credit_id: id, access_ending_before: day(4) });
    expect((await shown(id)).at('data[0]')).toMatchObject({
      name: 'Gift',
      specifiers: [{ product_tags: ['llm'] }],
      access_schedule: { schedule_items: [segment(100, 1, 4)] },
    });
    await api.post(ARCHIVE_CREDIT, { customer_id: customer, credit_id: id });
    expect((await shown(id)).list('data[0].ledger')).toMatchObject([
      { type: 'CREDIT_SEGMENT_START' },
      { type: 'CREDIT_CANCELED', amount: -100 },
    ]);
  });

  test('a credit is archived where it is to end at its start', async () => {
    const id = await make(owner, 'credit');
    const shorten = { customer_id: customer, credit_id: id };
    expect(
      await refusalOf(SHORTEN_CREDIT, { ...shorten, access_ending_before: '2025-12-01T00:00:00Z' }),
    ).toEqual([400, 'access_ending_before: must be after access starts']);
    await api.post(SHORTEN_CREDIT, { ...shorten, access_ending_before: day(1) });
    const credit = await shown(id);
    expect(credit.at('data[0].archived_at')).toEqual(expect.any(String));
    expect(credit.at('data[0].balance')).toBe(0);
  });

  test('a credit is no commit, and a commit is no credit', async () => {
    const gift = await make(owner, 'credit');
    const bought = await make(owner, 'commit');
    expect(await refusalOf(EDIT_COMMIT, { commit_id: gift, name: 'x' })).toEqual([
      404,
      `commit ${gift} not found`,
    ]);
    expect(await refusalOf(ARCHIVE_CREDIT, { credit_id: bought })).toEqual([
      404,
      `credit ${bought} not found`,
    ]);
    expect(await refusalOf(SHORTEN_CREDIT, { credit_id: bought, access_ending_before: day(4) })).toEqual([
      404,
      `credit ${bought} not found`,
    ]);
  });
});

test('a commit that there is not, and one of another customer, are not found', async () => {
  const id = await make('customer', 'commit');
  const other = await createdId(api, '/v1/customers', { name: 'Other' });
  for (const [path, body] of [
    [EDIT_COMMIT, { customer_id: other, commit_id: id, name: 'x' }],
    [ARCHIVE_COMMIT, { customer_id: other, commit_id: id }],
    [SHORTEN_COMMIT, { customer_id: other, commit_id: id }],
    [EDIT_COMMIT, { customer_id: customer, commit_id: UNKNOWN }],
    [DISABLE, { customer_id: other, commit_id: id, contract_id: contract }],
  ] as const) {
    expect((await api.send('POST', path, body)).status).toBe(404);
  }
  const unknown = await api.send('POST', ARCHIVE_COMMIT, { customer_id: UNKNOWN, commit_id: id });
  expect([unknown.status, unknown.at('code')]).toEqual([404, 'CustomerNotFound']);
});

describe('what an edit of a commit leaves in the history of its contract', () => {
  test('the record of an edit of a commit in the history of its contract is what an edit of the contract would leave', async () => {
    const id = await make('contract', 'commit');
    const [first] = await segmentsOf(id);
    await api.post(EDIT_COMMIT, { customer_id: customer, commit_id: id, name: 'Renamed' });
    await api.post(SHORTEN_COMMIT, { customer_id: customer, commit_id: id, access_ending_before: day(4) });
    await api.post(ARCHIVE_COMMIT, { customer_id: customer, commit_id: id });
    const entries = (await history()).list('data');
    expect(entries).toMatchObject([
      { update_commits: [{ id, name: 'Renamed' }] },
      {
        update_commits: [
          {
            id,
            access_schedule: {
              update_schedule_items: [{ id: first?.id, ending_before: day(4) }],
              remove_schedule_items: [{ id: expect.any(String) }],
            },
          },
        ],
      },
      { archive_commits: [{ id }] },
    ]);
    const earlier = await api.post('/v1/contracts/get', { customer_id: customer, contract_id: contract });
    expect(earlier.at('data.initial.commits[0].name')).toBeUndefined();
  });

  test('the record of an edit of a commit in the history of its contract is nothing where nothing changed, or where it was refused', async () => {
    const id = await make('contract', 'credit');
    await api.post(SHORTEN_CREDIT, { customer_id: customer, credit_id: id, access_ending_before: day(12) });
    await refusalOf(EDIT_CREDIT, { credit_id: id, product_id: catalogue.tokens });
    expect((await history()).list('data')).toEqual([]);
  });

  test('the record of an edit of a commit in the history of its contract is nothing for a commit of the customer', async () => {
    const id = await make('customer', 'commit');
    await api.post(EDIT_COMMIT, { customer_id: customer, commit_id: id, name: 'Renamed' });
    expect((await history()).list('data')).toEqual([]);
  });
});

test('a rollover changes only with its source', async () => {
  await make('contract', 'commit', { rollover_fraction: 1 });
  const transition = { type: 'RENEWAL', from_contract_id: contract };
  contract = await newContract({ starting_at: day(4), transition });
  const id = (await getContract()).text('data.commits[0].id');
  const problem = [400, 'commit_id: has rolled over from another contract and cannot be edited'];
  expect(await refusalOf(EDIT_COMMIT, { commit_id: id, name: 'x' })).toEqual(problem);
  expect(await refusalOf(SHORTEN_COMMIT, { commit_id: id, access_ending_before: day(5) })).toEqual(problem);
});

test('a commit of an archived contract is not changed', async () => {
  const id = await make('contract', 'commit');
  const body = { customer_id: customer, contract_id: contract, void_invoices: false };
  await api.post('/v1/contracts/archive', body);
  expect(await refusalOf(EDIT_COMMIT, { commit_id: id, name: 'x' })).toEqual([
    400,
    `contract ${contract} is archived`,
  ]);
});

describe('the contracts of a commit of a customer', () => {
  test('the contracts of a commit of a customer can be changed', async () => {
    const id = await make('customer', 'commit');
    const other = await newContract();
    const edit = { customer_id: customer, commit_id: id };
    await api.post(EDIT_COMMIT, {
      ...edit,
      applicable_contract_ids: [other, contract],
      invoice_contract_id: other,
    });
    expect((await shown(id)).at('data[0]')).toMatchObject({
      applicable_contract_ids: [other, contract],
      invoice_contract: { id: other },
    });
    await api.post(EDIT_COMMIT, { ...edit, applicable_contract_ids: null });
    expect((await shown(id)).at('data[0].applicable_contract_ids')).toBeUndefined();
    const [status, message] = await refusalOf(EDIT_COMMIT, { ...edit, applicable_contract_ids: [UNKNOWN] });
    expect([status, message]).toEqual([404, expect.stringContaining('applicable_contract_ids[0]')]);
  });

  test('the contracts of a commit of a customer cannot be changed for postpaid commits, nor for those of a contract', async () => {
    const postpaid = await make('customer', 'commit', {
      type: 'POSTPAID',
      access_schedule: { schedule_items: [segment(80, 1, 6)] },
      ...invoiced(day(6)),
    });
    const change = { applicable_contract_ids: [] };
    expect(await refusalOf(EDIT_COMMIT, { commit_id: postpaid, ...change })).toEqual([
      400,
      'applicable_contract_ids: cannot be changed for POSTPAID commits',
    ]);
    const ofContract = await make('contract', 'commit');
    expect(await refusalOf(EDIT_COMMIT, { commit_id: ofContract, ...change })).toEqual([
      400,
      expect.stringContaining('applicable_contract_ids: cannot be changed'),
    ]);
    const other = await newContract();
    expect(await refusalOf(EDIT_COMMIT, { commit_id: ofContract, invoice_contract_id: other })).toEqual([
      400,
      expect.stringContaining('invoice_contract_id: cannot be changed'),
    ]);
  });

  test('an edit that would invoice on no contract is refused', async () => {
    const id = await make('customer', 'commit');
    const invoice_schedule = { add_schedule_items: [{ timestamp: day(3), amount: 1 }] };
    expect(await refusalOf(EDIT_COMMIT, { commit_id: id, invoice_schedule })).toEqual([
      400,
      'invoice_contract_id: is required with invoice_schedule',
    ]);
    await api.post(EDIT_COMMIT, {
      customer_id: customer,
      commit_id: id,
      invoice_schedule,
      invoice_contract_id: contract,
    });
  });
});

describe('the purchase of a commit of a customer', () => {
  const invoices = async (contract_id = contract) => {
    const answer = await api.get(`/v1/customers/${customer}/invoices?limit=100`);
    return answer
      .list('data')
      .map((_, index) => `data[${index}]`)
      .filter((one) => answer.at(`${one}.contract_id`) === contract_id)
      .map((one) =>
        [
          answer.text(`${one}.issued_at`).slice(0, 10),
          answer.at(`${one}.status`),
          answer.digits(`${one}.total`),
          answer.at(`${one}.line_items[0].type`),
        ].join(' '),
      );
  };

  test('the purchase of a commit of a customer is invoiced on its contract, on its date, once, and its items name their invoice', async () => {
    const id = await make('customer', 'commit', invoiced(NOW, day(3)));
    expect(await invoices()).toContain('2026-03-01 DRAFT 80 commit_purchase');
    await service.moveClock(NOW);
    expect(await invoices()).toEqual([
      '2026-01-10 FINALIZED 80 commit_purchase',
      '2026-03-01 DRAFT 80 commit_purchase',
    ]);
    const finalized = await api.get(`/v1/customers/${customer}/invoices?status=FINALIZED`);
    const items = (await shown(id)).list('data[0].invoice_schedule.schedule_items') as Body[];
    expect(items.map(({ invoice_id }) => invoice_id)).toEqual([finalized.text('data[0].id'), undefined]);
  });

  test('the purchase of a commit of a customer moves to another contract as far as it is not invoiced', async () => {
    const id = await make('customer', 'commit', invoiced(NOW, day(3)));
    await service.moveClock(NOW);
    const other = await newContract();
    await api.post(EDIT_COMMIT, { customer_id: customer, commit_id: id, invoice_contract_id: other });
    expect(await invoices()).toEqual(['2026-01-10 FINALIZED 80 commit_purchase']);
    expect(await invoices(other)).toEqual(['2026-03-01 DRAFT 80 commit_purchase']);
  });

  test('the purchase of a commit of a customer ends when the commit is archived', async () => {
    const id = await make('customer', 'commit', invoiced(day(3)));
    await api.post(ARCHIVE_COMMIT, { customer_id: customer, commit_id: id });
    expect(await invoices()).toEqual([]);
  });
});

describe.each(OWNERS)('the true-up of a postpaid commit of a %s', (owner) => {
  const postpaid = () =>
    make(owner, 'commit', {
      type: 'POSTPAID',
      access_schedule: { schedule_items: [segment(80, 1, 6)] },
      ...invoiced(day(6)),
    });

  test('the true-up of a postpaid commit is waived: its amount stays on record', async () => {
    const id = await postpaid();
    const body = { customer_id: customer, commit_id: id, contract_id: contract };
    expect((await api.post(DISABLE, body)).body).toEqual({ data: { id } });
    await api.post(DISABLE, body);
    expect((await shown(id)).at('data[0].invoice_schedule')).toMatchObject({
      do_not_invoice: true,
      schedule_items: [{ amount: 80, timestamp: day(6) }],
    });
    if (owner === 'contract') expect((await history()).list('data')).toHaveLength(1);
  });

  test('the true-up of a postpaid commit is not that of a prepaid commit, of another contract, or of one that is archived', async () => {
    const prepaid = await make(owner, 'commit', invoiced(day(6)));
    const body = { commit_id: prepaid, contract_id: contract };
    expect(await refusalOf(DISABLE, body)).toEqual([
      400,
      expect.stringContaining('commit_id: has no true-up'),
    ]);
    const id = await postpaid();
    const other = await newContract();
    expect((await refusalOf(DISABLE, { commit_id: id, contract_id: other }))[0]).toBe(404);
    await api.post(ARCHIVE_COMMIT, { customer_id: customer, commit_id: id });
    expect(await refusalOf(DISABLE, { commit_id: id, contract_id: contract })).toEqual([
      400,
      `commit_id: commit ${id} is archived`,
    ]);
  });

  test('the true-up of a postpaid commit is not shortened', async () => {
    const id = await postpaid();
    expect(await refusalOf(SHORTEN_COMMIT, { commit_id: id, access_ending_before: day(3) })).toEqual([
      400,
      'commit_id: is a POSTPAID commit, whose end is changed by an edit',
    ]);
  });
});

test('concurrent edits of one commit all count, and archiving one has one winner', async () => {
  const id = await make('customer', 'commit', invoiced(day(3)));
  const other = await newContract();
  const edits = Array.from({ length: 6 }, (_, index) =>
    api.send('POST', EDIT_COMMIT, {
      customer_id: customer,
      commit_id: id,
      invoice_contract_id: index % 2 === 0 ? other : contract,
      access_schedule: { add_schedule_items: [segment(index + 1, 1, 3)] },
    }),
  );
  expect((await Promise.all(edits)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  expect((await shown(id)).at('data[0].balance')).toBe(121);
  const archived = await Promise.all(
    Array.from({ length: 4 }, () =>
      api.send('POST', ARCHIVE_COMMIT, { customer_id: customer, commit_id: id }),
    ),
  );
  expect(archived.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400]);
});

test('a purchase joins the usage invoice of its contract, if the contract takes such', async () => {
  contract = await newContract({ rate_card_id: catalogue.card, scheduled_charges_on_usage_invoices: 'ALL' });
  await make('customer', 'commit', invoiced(day(3)));
  const answer = await api.get(`/v1/customers/${customer}/invoices?limit=100`);
  const joined = answer
    .list('data')
    .map((_, index) => [
      answer.at(`data[${index}].type`),
      answer.text(`data[${index}].end_timestamp`),
      (answer.list(`data[${index}].line_items`) as Body[]).filter(({ type }) => type === 'commit_purchase')
        .length,
    ]);
  expect(joined).toContainEqual(['USAGE', day(2), 0]);
  expect(answer.list('data').some((_, index) => answer.at(`data[${index}].type`) === 'SCHEDULED')).toBe(
    false,
  );
  await service.moveClock('2026-02-15T00:00:00Z');
  const later = await api.get(`/v1/customers/${customer}/invoices?limit=100&status=DRAFT`);
  expect(later.list('data[0].line_items')).toContainEqual(
    expect.objectContaining({ type: 'commit_purchase', total: 80 }),
  );
});
