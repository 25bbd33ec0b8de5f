/** The invoices that were billed, and those of Stripe: by month, status and amount, with each difference named. */
import { afterAll, expect, test, vi } from 'vitest';
import { startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { runProgram } from '../support/child-process.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { type BilledCustomer, billedCustomer, connectedTo } from '../support/stripe/billed-customer.ts';

const stripe = await startStripeStandIn();
const service = await serviceForFile({ sandboxNow: '2026-03-10T00:00:00Z', ...connectedTo(stripe) });
const { api, url, token } = service;

afterAll(() => stripe.close());

async function command(...args: string[]) {
  const range = ['--from', '2026-02-01', '--to', '2026-03-01'];
  const asked = ['--url', url, '--token', token, ...range, ...args];
  const program = runProgram('src/app/cli/main.ts', ['reconcile', ...asked], { DATA_DIR: '/nowhere' });
  const code = await program.ended;
  return { code, lines: program.stdout().trimEnd().split('\n') };
}

async function delivered(customer: BilledCustomer, amount: number, status = 'FINALIZED'): Promise<string> {
  const id = await customer.bill(amount);
  await vi.waitFor(async () => {
    const { body } = await customer.invoice(id);
    expect((body as { data: object }).data).toMatchObject({ external_invoice: { external_status: status } });
  });
  return id;
}

function there(id: string) {
  const [invoice] = stripe.state.liveOf(id);
  if (invoice === undefined) throw new Error('it is there');
  return invoice;
}

test('all agrees: sums by month and status, and exit status 0', async () => {
  const customer = await billedCustomer(service, stripe.state.addCustomer());
  const [first] = [await delivered(customer, 12_345), await delivered(customer, 655)];
  stripe.state.collect(there(first ?? '').id);
  await service.moveClock('2026-03-10T01:05:00Z');
  await vi.waitFor(
    async () =>
      expect((await customer.invoice(first ?? '')).text('data.external_invoice.external_status')).toBe(
        'PAID',
      ),
    { timeout: 10_000 },
  );
  const { code, lines } = await command();
  expect(code).toBe(0);
  expect(lines.slice(1)).toEqual([
    '  month    provider  status     invoices      billed  at the provider',
    `  ${'─'.repeat((lines[2] ?? '').trim().length)}`,
    '  2026-02  stripe    FINALIZED         1    USD 6.55         USD 6.55',
    '  2026-02  stripe    PAID              1  USD 123.45       USD 123.45',
    'Compared 2 delivered invoices with billing providers: no differences.',
  ]);
});

test('each difference is named, and the exit status is 1', async () => {
  const customer = await billedCustomer(service, stripe.state.addCustomer());
  const [changed, deleted, voided, kept, twice, paid] = [
    await delivered(customer, 101),
    await delivered(customer, 102),
    await delivered(customer, 103),
    await delivered(customer, 104),
    await delivered(customer, 105),
    await delivered(customer, 106),
  ];
  const unknown = await billedCustomer(service, 'cus_nobody');
  const refused = await delivered(unknown, 107, 'INVALID_REQUEST_ERROR');
  for (const line of there(changed ?? '').lines) line.amount = 99;
  stripe.state.invoices.delete(there(deleted ?? '').id);
  stripe.state.voidInvoice(there(voided ?? '').id);
  const copy = structuredClone(there(twice ?? ''));
  stripe.state.invoices.set('in_copy', { ...copy, id: 'in_copy' });
  stripe.state.markPaid(there(paid ?? ''));
  const live = there(kept ?? '');
  stripe.state.markPaid(live);
  await api.post('/v1/invoices/void', { id: kept });
  await vi.waitFor(
    async () =>
      expect(
        (await customer.invoice(kept ?? '')).text('data.external_invoice.billing_provider_error'),
      ).toContain('not voided'),
    { timeout: 10_000 },
  );
  const { code, lines } = await command();
  expect(code).toBe(1);
  const named = (word: string) => lines.filter((line) => line.startsWith(`${word}:`));
  expect(named('amount')).toEqual([
    expect.stringContaining(`invoice ${changed}, ${there(changed ?? '').id}: the sub-total there is not`),
  ]);
  expect(named('amount')[0]).toContain('(expected 101, found 99)');
  expect(named('missing_there')).toEqual([expect.stringContaining(`invoice ${deleted},`)]);
  expect(named('voided_there')).toEqual([expect.stringContaining(`invoice ${voided},`)]);
  expect(named('voided_here')).toEqual([expect.stringContaining(`invoice ${kept}, ${live.id}:`)]);
  expect(named('extra_there')).toEqual([expect.stringContaining(`invoice ${twice}, in_copy:`)]);
  expect(named('status')).toEqual([expect.stringContaining(`invoice ${paid},`)]);
  expect(named('not_delivered')).toEqual([
    expect.stringContaining(`invoice ${refused}: Stripe: No such customer`),
  ]);
  expect(lines.at(-1)).toBe('Compared 9 delivered invoices with billing providers: 7 differences.');
  const one = await command('--customer', unknown.customerId);
  expect(one.lines.at(-1)).toBe('Compared 1 delivered invoice with billing providers: 1 difference.');
});

test('a page ends where it is asked to, and a provider that does not answer is reported as such', async () => {
  const range = { starting_on: '2026-02-01T00:00:00Z', ending_before: '2026-03-01T00:00:00Z' };
  let count = 0;
  let next: string | null = '';
  while (next !== null) {
    const query = new URLSearchParams({ limit: '2', ...(next === '' ? {} : { next_page: next }) });
    const { body } = await api.post(`/v1/invoices/reconcileProviders?${query}`, range);
    const page = body as { data: { invoice_count: number }[]; next_page: string | null };
    count += page.data.reduce((sum, { invoice_count }) => sum + invoice_count, 0);
    next = page.next_page;
  }
  expect(count).toBe(9);
  stripe.misbehave = () => 'error_before';
  expect((await api.send('POST', '/v1/invoices/reconcileProviders', range)).status).toBe(503);
  const backwards = { starting_on: range.ending_before, ending_before: range.starting_on };
  expect((await api.send('POST', '/v1/invoices/reconcileProviders', backwards)).status).toBe(400);
});
