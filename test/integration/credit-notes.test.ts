/** Credit notes: what they take back of an issued invoice, and where it goes. */
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createCreditNote } from '../../src/billing/invoices/credit-notes/issue-note.ts';
import { startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { createDatabase } from '../../src/store/base/database.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { billingContext } from '../support/billing-context.ts';
import { ADD_RATES, createdId, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { reconcile } from '../support/reconciled.ts';
import { completion, createScenario } from '../support/scenario.ts';
import { billedCustomer, connectedTo } from '../support/stripe/billed-customer.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const stripe = await startStripeStandIn();
const service = await serviceForFile({
  usage: 'naive',
  sandboxNow: '2026-11-10T00:00:00Z',
  ...connectedTo(stripe),
});
const { api } = service;
const receiver = await startWebhookReceiver();
await api.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });
afterAll(async () => {
  await receiver.close();
  await stripe.close();
});

const CREATE = '/v1/invoices/creditNotes/create';
const NOVEMBER = { starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-02-01T00:00:00Z' };
const scenario = await createScenario(api, { alias: 'other' });
const fixed = await createdId(api, PRODUCTS, { name: 'Prepaid', type: 'FIXED' });
const card = await createdId(api, RATE_CARDS, { name: 'Card' });
const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT' };
await api.post(ADD_RATES, {
  rate_card_id: card,
  rates: [
    { ...rate, product_id: scenario.tokensProductId, price: 0.5 },
    { ...rate, product_id: scenario.requestsProductId, price: 3 },
  ],
});

interface Billed {
  readonly customerId: string;
  readonly invoiceId: string;
}

let customers = 0;
const billed: Billed[] = [];

/** 200 tokens that a credit pays with 100 cents, 40 tokens for 20 cents, and two requests for 6 cents. */
async function usageInvoices(count: number): Promise<void> {
  const owners: string[] = [];
  for (let index = 0; index < count; index += 1) {
    customers += 1;
    const alias = `ada-${customers}`;
    const customer_id = await createdId(api, '/v1/customers', { name: 'Ada', ingest_aliases: [alias] });
    await createdId(api, '/v1/contracts/create', {
      ...{ customer_id, rate_card_id: card, starting_at: NOVEMBER.starting_at },
      credits: [
        {
          ...{ product_id: fixed, name: 'Trial', applicable_product_ids: [scenario.tokensProductId] },
          access_schedule: { schedule_items: [{ amount: 100, ...NOVEMBER }] },
        },
      ],
    });
    await api.post('/v1/ingest', [
      completion(alias, { id: `${alias} 1`, at: '2026-11-03T10:30:00Z', tokens: 150 }),
      completion(alias, { id: `${alias} 2`, at: '2026-11-05T10:30:00Z', tokens: 90 }),
    ]);
    owners.push(customer_id);
  }
  await service.moveClock('2026-12-03T00:00:00Z');
  for (const customerId of owners) {
    const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status: 'FINALIZED' } });
    billed.push({ customerId, invoiceId: answer.text('data[0].id') });
  }
}
await usageInvoices(8);

function nextBilled(): Billed {
  const one = billed.shift();
  if (one === undefined) throw new Error('there are enough invoices');
  return one;
}

const note = (invoiceId: string, more: object) => ({
  ...{ invoice_id: invoiceId, reason: 'service_issue', settlement: 'offset_unpaid' },
  ...more,
});

async function refusal(body: object, path = CREATE): Promise<string> {
  const answer = await api.send('POST', path, body);
  return `${answer.status} ${answer.text('message')}`;
}

const tokens = (amount: number) => ({ product_id: scenario.tokensProductId, amount });
const requests = (amount: number) => ({ product_id: scenario.requestsProductId, amount });

const invoiceOf = ({ customerId, invoiceId }: Billed) =>
  api.get(`/v1/customers/${customerId}/invoices/${invoiceId}`);
const noteOf = (id: string) => api.get(`/v1/invoices/creditNotes/${id}`);

async function ledger(customerId: string): Promise<string[]> {
  const answer = await api.post('/v1/contracts/customerBalances/list', {
    ...{
      customer_id: customerId,
      include_contract_balances: true,
      include_ledgers: true,
      include_balance: true,
    },
  });
  const found = answer.list('data') as {
    name: string;
    balance: number;
    ledger: { type: string; amount: number }[];
  }[];
  return found.flatMap(({ name, balance, ledger: entries }) => [
    `${name} ${balance}`,
    ...entries
      .filter(({ type }) => type.endsWith('CREDIT_NOTE'))
      .map(({ type, amount }) => `${type} ${amount}`),
  ]);
}

const lines = (answer: ApiAnswer) =>
  (
    answer.list('data.lines') as { name: string; amount: number; paid_by: string; balance_amount?: number }[]
  ).map(({ name, amount, paid_by, balance_amount }) => `${name} ${amount} ${paid_by} ${balance_amount ?? 0}`);

test('a credit note takes back the money of a product first, then what a balance paid, which goes back to it', async () => {
  const own = nextBilled();
  const first = await createdId(
    api,
    CREATE,
    note(own.invoiceId, { lines: [tokens(50)], memo: 'Slow in November' }),
  );
  const answer = await noteOf(first);
  expect(lines(answer)).toEqual(['Tokens 30 balance 30', 'Tokens 20 money 0']);
  expect(answer.text('data.number')).toMatch(/^CN-2026-\d{6}$/);
  expect(answer.text('data.invoice_issued_at')).toBe('2026-12-02T00:00:00.000Z');
  expect(answer.digits('data.subtotal')).toBe('20');
  expect(answer.digits('data.offset_amount')).toBe('20');
  expect(await ledger(own.customerId)).toEqual(['Trial 30', 'CREDIT_CREDIT_NOTE 30']);
  const invoice = await invoiceOf(own);
  expect([
    invoice.digits('data.total'),
    invoice.digits('data.credited'),
    invoice.digits('data.payable_amount'),
  ]).toEqual(['26', '20', '6']);
  expect(await refusal(note(own.invoiceId, { lines: [tokens(71)] }))).toMatch(
    /^400 .*exceeds what is left.* 70/,
  );
  const rest = await createdId(api, CREATE, note(own.invoiceId, { lines: [tokens(70), requests(6)] }));
  expect(lines(await noteOf(rest))).toEqual(['Tokens 70 balance 70', 'Requests 6 money 0']);
  expect((await invoiceOf(own)).digits('data.payable_amount')).toBe('0');
  expect(await refusal(note(own.invoiceId, { lines: [requests(1)] }))).toMatch(/^400/);

  expect(await refusal({ id: own.invoiceId }, '/v1/invoices/void')).toMatch(/^409 .*credit note CN-/);
  expect(await refusal({ id: own.invoiceId }, '/v1/invoices/regenerate')).toMatch(/^409 .*credit note CN-/);
  const range = { starting_on: NOVEMBER.starting_at, ending_before: '2026-12-01T00:00:00Z' };
  const checked = await reconcile(api, { ...range, customer_id: own.customerId });
  expect(checked).toMatchObject({ differences: [], unchecked: [] });
});

test('a credit note counts in the revenue of the day of its issue, and the days of the invoice stay', async () => {
  const own = nextBilled();
  await createdId(api, CREATE, note(own.invoiceId, { lines: [requests(3)] }));
  const query = {
    starting_on: '2026-12-01T00:00:00Z',
    ending_before: '2027-01-01T00:00:00Z',
    customer_id: own.customerId,
  };
  const revenue = await api.get('/v1/revenue', { query });
  const days = JSON.stringify(revenue.body);
  expect(days).toContain('"2026-12-03T00:00:00.000Z"');
  expect(days).toMatch(/"total":-3\b/);
});

test('credit notes of one invoice that two processes issue at once take back no more than it has, with numbers without a gap', async () => {
  const own = nextBilled();
  const other = createDatabase(service.connection);
  const context = billingContext({ db: other.db });
  const input = {
    ...{
      invoiceId: own.invoiceId,
      reason: 'other' as const,
      memo: null,
      settlement: 'offset_unpaid' as const,
    },
    lines: null,
    credit: { productId: null, startingAt: null, endingBefore: null },
    ...{ uniquenessKey: null, deliverAfter: null, createdBy: 'another process' },
  };
  const invoice = await invoiceOf(own);
  const line = invoice
    .list('data.line_items')
    .findIndex((_, at) => invoice.text(`data.line_items[${at}].name`) === 'Requests');
  const lineItemId = invoice.text(`data.line_items[${line}].id`);
  const { Decimal } = await import('../../src/core/decimal.ts');
  const there = () =>
    createCreditNote(context, {
      ...input,
      lines: [{ lineItemId, productId: null, amount: new Decimal('2'), quantity: null }],
    }).then(
      () => 200,
      () => 400,
    );
  const here = async () =>
    (
      await api.send(
        'POST',
        CREATE,
        note(own.invoiceId, { lines: [{ line_item_id: lineItemId, amount: 2 }] }),
      )
    ).status;
  const outcomes = await Promise.all([here(), there(), here(), there(), here(), there()]);
  expect(outcomes.filter((status) => status === 200)).toHaveLength(3);
  await other.close();
  const all = await api.get('/v1/invoices/creditNotes', { query: { limit: 100 } });
  const numbers = all.list('data').map((_, at) => Number(all.text(`data[${at}].number`).slice(-6)));
  expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1));
  expect((await invoiceOf(own)).digits('data.credited')).toBe('6');
});

test('a voided credit note keeps its number, and takes back what it gave while that is unused', async () => {
  const own = nextBilled();
  const id = await createdId(api, CREATE, note(own.invoiceId, { lines: [tokens(50)] }));
  await api.post('/v1/invoices/creditNotes/void', { id });
  const answer = await noteOf(id);
  expect([answer.text('data.status'), answer.text('data.voided_at')]).toEqual([
    'VOID',
    '2026-12-03T00:00:00.000Z',
  ]);
  expect(await ledger(own.customerId)).toEqual([
    'Trial 0',
    'CREDIT_CREDIT_NOTE 30',
    'CREDIT_CREDIT_NOTE -30',
  ]);
  expect((await invoiceOf(own)).at('data.credited')).toBeUndefined();
  expect(await refusal({ id }, '/v1/invoices/creditNotes/void')).toMatch(/^409/);
  const types = () => receiver.received.map(({ message }) => message.type);
  await vi.waitFor(() =>
    expect(types()).toEqual(expect.arrayContaining(['credit_note.issued', 'credit_note.voided'])),
  );
  await api.post('/v1/invoices/void', { id: own.invoiceId });
});

test('credit notes are listed as JSON and as CSV with a row for each line, and a preview stores none', async () => {
  const own = nextBilled();
  const body = note(own.invoiceId, { lines: [{ product_id: scenario.tokensProductId, quantity: 20 }] });
  const preview = await api.post('/v1/invoices/creditNotes/preview', body);
  expect(lines(preview)).toEqual(['Tokens 10 money 0']);
  const query = { invoice_id: own.invoiceId };
  expect((await api.get('/v1/invoices/creditNotes', { query })).list('data')).toEqual([]);
  await createdId(api, CREATE, { ...body, uniqueness_key: 'once' });
  expect(await refusal({ ...body, uniqueness_key: 'once' })).toMatch(/^409/);
  const csv = await api.get('/v1/invoices/creditNotes', { query, headers: { accept: 'text/csv' } });
  expect(csvRows(csv.body)).toMatchObject([
    {
      status: 'ISSUED',
      line_name: 'Tokens',
      amount: '10',
      paid_by: 'money',
      note_total: '10',
      currency: 'USD',
    },
  ]);
});

test('a credit note takes back the difference to the invoice of today, once', async () => {
  const own = nextBilled();
  const difference = note(own.invoiceId, { lines: undefined, difference_to_regenerated: true });
  expect(await refusal(difference)).toMatch(/^400 difference_to_regenerated.*the same today/);
  const contracts = await api.post('/v2/contracts/list', { customer_id: own.customerId });
  const override = (price: number) =>
    api.post('/v2/contracts/edit', {
      ...{ customer_id: own.customerId, contract_id: contracts.text('data[0].id') },
      add_overrides: [
        {
          ...{ type: 'OVERWRITE', starting_at: NOVEMBER.starting_at, product_id: scenario.requestsProductId },
          overwrite_rate: { rate_type: 'FLAT', price },
        },
      ],
    });
  await override(2);
  const id = await createdId(api, CREATE, difference);
  expect(lines(await noteOf(id))).toEqual(['Requests 2 money 0']);
  expect(await refusal(difference)).toMatch(/^400 difference_to_regenerated.*the same today/);
});

describe('a credit note is refused', () => {
  test('a credit note is refused for drafts, for amounts that are no minor units, and for lines that cannot be credited', async () => {
    const own = nextBilled();
    const invoice = await invoiceOf(own);
    const ids = invoice.list('data.line_items').map((_, at) => ({
      id: invoice.text(`data.line_items[${at}].id`),
      name: invoice.text(`data.line_items[${at}].name`),
    }));
    const applied = ids.find(({ name }) => name === 'Trial applied')?.id;
    const drafts = await api.get('/v1/invoices', { query: { status: 'DRAFT' } });
    const of = (more: object, id = own.invoiceId) => refusal(note(id, more));
    expect(await of({ lines: [requests(1)] }, drafts.text('data[0].id'))).toMatch(/^400 .*is DRAFT/);
    expect(await of({ lines: [requests(1)] }, fixed)).toMatch(/^404/);
    expect(await of({ lines: [requests(1.5)] })).toMatch(/^400 lines\[0\].amount.*minor units/);
    expect(await of({ lines: [{ line_item_id: applied, amount: 1 }] })).toMatch(
      /^400 lines\[0\].line_item_id.*balance/,
    );
    expect(await of({ lines: [{ line_item_id: fixed, amount: 1 }] })).toMatch(/^404/);
    expect(await of({ lines: [{ amount: 1 }] })).toMatch(/^400 lines\[0\].line_item_id/);
    expect(await of({ lines: [requests(1)], settlement: undefined })).toMatch(/^400 settlement.*required/);
    expect(await of({ lines: [requests(1)], settlement: 'credit_balance' })).toMatch(
      /^400 credit_product_id/,
    );
  });
});

describe('with a billing provider', () => {
  const paid = async (...amounts: number[]) => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    const id = await customer.bill(...amounts);
    const own = { customerId: customer.customerId, invoiceId: id };
    const [there] = stripe.state.liveOf(id);
    if (there === undefined) throw new Error('it is there');
    return { own, there };
  };
  const line = async (own: Billed) => (await invoiceOf(own)).text('data.line_items[0].id');

  test('a paid invoice is refunded or becomes a credit of the customer, an unpaid one is offset', async () => {
    const { own, there } = await paid(1_000);
    const lines = [{ line_item_id: await line(own), amount: 100 }];
    expect(await refusal(note(own.invoiceId, { lines, settlement: 'refund' }))).toMatch(
      /^400 settlement.*offset_unpaid/,
    );
    stripe.state.collect(there.id);
    await stripe.deliver(`${service.url}/v1/providers/stripe/webhook/default`, stripe.state.events.slice(-1));
    await vi.waitFor(
      async () => expect((await invoiceOf(own)).text('data.external_invoice.external_status')).toBe('PAID'),
      { timeout: 20_000 },
    );
    expect(await refusal(note(own.invoiceId, { lines }))).toMatch(
      /^400 settlement.*refund or credit_balance/,
    );
    const refunded = await noteOf(
      await createdId(api, CREATE, note(own.invoiceId, { lines, settlement: 'refund' })),
    );
    expect(refunded.digits('data.refund_amount')).toBe('100');
    const credit = {
      settlement: 'credit_balance',
      credit_product_id: fixed,
      credit_ending_before: NOVEMBER.ending_before,
    };
    const credited = await noteOf(await createdId(api, CREATE, note(own.invoiceId, { lines, ...credit })));
    expect(credited.digits('data.credit_balance_amount')).toBe('100');
    expect(await ledger(own.customerId)).toEqual([`Credit note ${credited.text('data.number')} 100`]);
  });
});

test('the creditable lines of an invoice have what standing notes leave of them, and a note of all of it leaves nothing', async () => {
  const own = nextBilled();
  const path = `/v1/customers/${own.customerId}/invoices/${own.invoiceId}/creditable`;
  const open = async () => {
    const answer = await api.get(path);
    const found = answer.list('data.lines') as { name: string; line_item_id: string; left_amount: number }[];
    const left = found.map(({ name, left_amount }) => `${name} ${left_amount}`);
    return { found, left, money: answer.digits('data.left_amount') };
  };
  expect(await open()).toMatchObject({ left: ['Tokens 100', 'Tokens 20', 'Requests 6'], money: '26' });
  const first = await createdId(api, CREATE, note(own.invoiceId, { lines: [requests(2), tokens(30)] }));
  const after = await open();
  expect(after).toMatchObject({ left: ['Tokens 90', 'Tokens 0', 'Requests 4'], money: '4' });
  const rest = after.found
    .filter(({ left_amount }) => left_amount > 0)
    .map(({ line_item_id, left_amount: amount }) => ({ line_item_id, amount }));
  const second = await createdId(api, CREATE, note(own.invoiceId, { lines: rest }));
  expect(await open()).toMatchObject({ left: ['Tokens 0', 'Tokens 0', 'Requests 0'], money: '0' });
  for (const id of [first, second]) await api.post('/v1/invoices/creditNotes/void', { id });
  expect((await open()).money).toBe('26');

  const other = await api.send('GET', path.replace(own.customerId, scenario.customerId));
  expect(other.status).toBe(404);
  await api.post('/v1/invoices/void', { id: own.invoiceId });
  const voided = await api.send('GET', path);
  expect(`${voided.status} ${voided.text('message')}`).toMatch(/^400 .*only a FINALIZED invoice/);
});
