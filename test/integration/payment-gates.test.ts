/** Commits whose balance is withheld until their purchase is paid, with the simulated provider and with external ones. */
import { expect, test } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { startTestService } from '../support/service.ts';

const service = await serviceForFile({ sandboxNow: '2026-01-10T00:00:00Z', paymentProvider: 'simulated' });
const { api } = service;
const product = await createdId(api, '/v1/contract-pricing/products/create', {
  name: 'Prepaid',
  type: 'FIXED',
});

const gatedCommit = (product_id: string, amount: number, type: string) => ({
  product_id,
  type: 'PREPAID',
  name: 'Gated',
  access_schedule: {
    schedule_items: [
      { amount: 500, starting_at: '2026-01-01T00:00:00Z', ending_before: '2027-01-01T00:00:00Z' },
    ],
  },
  invoice_schedule: {
    schedule_items: [
      { timestamp: '2026-01-05T00:00:00Z', amount },
      { timestamp: '2027-06-01T00:00:00Z', amount },
    ],
  },
  payment_gate_config: { payment_gate_type: type },
});

/** A contract to which a gated commit, and a charge of the same date, were added. */
async function bought(amount: number, type: string) {
  const customer_id = await createdId(api, '/v1/customers', { name: `Buyer of ${amount} ${type}` });
  const contract_id = await createdId(api, '/v1/contracts/create', {
    customer_id,
    starting_at: '2026-01-01T00:00:00Z',
  });
  await api.post('/v2/contracts/edit', {
    customer_id,
    contract_id,
    add_commits: [gatedCommit(product, amount, type)],
    add_scheduled_charges: [
      {
        product_id: product,
        schedule: { schedule_items: [{ timestamp: '2026-01-05T00:00:00Z', amount: 1 }] },
      },
    ],
  });
  await service.moveClock('2026-01-10T00:00:00Z');
  return {
    customer_id,
    async state() {
      const contract = await api.post('/v2/contracts/get', {
        customer_id,
        contract_id,
        include_balance: true,
      });
      const invoices = await api.get(`/v1/customers/${customer_id}/invoices`);
      return {
        balance: contract.digits('data.commits[0].balance'),
        invoices: invoices.list('data').map((_, index) => {
          const day = invoices.text(`data[${index}].issued_at`).slice(0, 10);
          return `${day} ${invoices.text(`data[${index}].status`)} ${invoices.digits(`data[${index}].total`)}`;
        }),
      };
    },
    async external() {
      const invoices = await api.get(`/v1/customers/${customer_id}/invoices`, {
        query: { status: 'FINALIZED' },
      });
      const voided = await api.get(`/v1/customers/${customer_id}/invoices`, { query: { status: 'VOID' } });
      return [...invoices.list('data'), ...voided.list('data')].map((one) => {
        const { total, external_invoice } = one as { total: unknown; external_invoice: unknown };
        return [total, external_invoice];
      });
    },
    commitId: async () =>
      (await api.post('/v2/contracts/get', { customer_id, contract_id })).text('data.commits[0].id'),
  };
}

const inAnyOrder = ({ balance, invoices }: { balance: string; invoices: string[] }) => ({
  balance,
  invoices: invoices.toSorted(),
});

test('the simulated provider pays, and the balance can be used; the purchase has a separate invoice', async () => {
  const { state, external } = await bought(400, 'STRIPE');
  expect(inAnyOrder(await state())).toEqual({
    balance: '500',
    invoices: ['2026-01-05 FINALIZED 1', '2026-01-05 FINALIZED 400', '2027-06-01 DRAFT 400'],
  });
  // An unknown value is absent, not null: programs fill wallets by the status.
  const paid = {
    billing_provider_type: 'stripe',
    invoice_id: expect.stringMatching(/^simulated_/),
    issued_at_timestamp: '2026-01-05T00:00:00.000Z',
    external_status: 'PAID',
    amount_paid: 400,
    invoiced_total: 400,
    invoiced_sub_total: 400,
    paid_at: '2026-01-05T00:00:00.000Z',
  };
  expect(await external()).toEqual(
    expect.arrayContaining([
      [400, paid],
      [1, null],
    ]),
  );
});

test('an amount that ends in 02 fails: its invoice is voided, and nothing more is invoiced or released', async () => {
  const { state, external } = await bought(402, 'STRIPE');
  expect(inAnyOrder(await state())).toEqual({
    balance: '0',
    invoices: ['2026-01-05 FINALIZED 1', '2026-01-05 VOID 402'],
  });
  const failed = {
    billing_provider_type: 'stripe',
    external_status: 'PAYMENT_FAILED',
    billing_provider_error: 'the simulated payment provider refuses this amount',
  };
  expect(await external()).toEqual(expect.arrayContaining([[402, expect.objectContaining(failed)]]));
});

test('an external payment that fails voids the invoice of its purchase', async () => {
  const { state, commitId } = await bought(300, 'EXTERNAL');
  expect((await state()).balance).toBe('0');
  const workflow_id = await commitId();
  await api.post('/v1/contracts/commits/threshold-billing/release', { workflow_id, outcome: 'failed' });
  expect(inAnyOrder(await state())).toEqual({
    balance: '0',
    invoices: ['2026-01-05 FINALIZED 1', '2026-01-05 VOID 300'],
  });
});

test('without a provider a gate of type STRIPE is refused, saying how to try it', async () => {
  const other = await startTestService();
  try {
    const fee = await createdId(other.api, '/v1/contract-pricing/products/create', {
      name: 'F',
      type: 'FIXED',
    });
    const customer_id = await createdId(other.api, '/v1/customers', { name: 'A' });
    const contract_id = await createdId(other.api, '/v1/contracts/create', {
      customer_id,
      starting_at: '2026-01-01T00:00:00Z',
    });
    const refused = await other.api.send('POST', '/v2/contracts/edit', {
      customer_id,
      contract_id,
      add_commits: [gatedCommit(fee, 1, 'STRIPE')],
    });
    expect(refused.status).toBe(400);
    expect(refused.text('message')).toContain('PAYMENT_PROVIDER=simulated');
  } finally {
    await other.close();
  }
});

test('a purchase that the simulated provider has collected is not collected again when its invoice is regenerated', async () => {
  const { customer_id } = await bought(404, 'STRIPE');
  const list = await api.get(`/v1/customers/${customer_id}/invoices`);
  const index = list.list('data').findIndex((_, at) => list.digits(`data[${at}].total`) === '404');
  const id = list.text(`data[${index}].id`);
  expect((await api.post('/v1/invoices/void', { id })).body).toMatchObject({
    warnings: [{ code: 'refund_due' }],
  });
  const voided = await api.get(`/v1/customers/${customer_id}/invoices/${id}`);
  expect(voided.body).toMatchObject({ data: { external_invoice: { refund_due: true } } });
  expect((await api.send('POST', '/v1/invoices/regenerate', { id })).status).toBe(409);
});
