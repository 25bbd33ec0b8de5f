/** Programs as they are written against the closed service, with the official client, unchanged: each from end to end. */
import Metronome, { ConflictError } from '@metronome/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T10:20:00Z', paymentProvider: 'simulated' });
const client = new Metronome({ baseURL: service.url, bearerToken: service.token, maxRetries: 0 });
const HOUR = '2026-11-10T10:00:00.000Z';
const YEAR_LATER = '2027-11-10T10:00:00.000Z';
let catalogue: TermsCatalogue;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(service.api);
});

/** Finds or creates a customer by an external id, as programs do at each sign-in. */
async function ensureCustomer(alias: string): Promise<string> {
  for await (const customer of client.v1.customers.list({ ingest_alias: alias })) return customer.id;
  const { data } = await client.v1.customers.create({ name: alias, ingest_aliases: [alias] });
  return data.id;
}

async function ensureContract(customer_id: string, key: string, more: object = {}): Promise<string> {
  try {
    const { data } = await client.v1.contracts.create({
      ...{ customer_id, rate_card_id: catalogue.card, starting_at: HOUR, uniqueness_key: key },
      ...more,
    });
    return data.id;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const [contract] = (await client.v2.contracts.list({ customer_id })).data;
    return contract?.id ?? '';
  }
}

async function use(alias: string, id: string, tokens: number): Promise<void> {
  const properties = { tokens, model: 'a', region: 'eu', user: 'ada' };
  await client.v1.usage.ingest({
    usage: [
      { transaction_id: id, customer_id: alias, event_type: 'completion', timestamp: HOUR, properties },
    ],
  });
}

/** The remaining amount of everything that the customer may use, in US cents. */
async function entitled(customer_id: string): Promise<number> {
  let left = 0;
  for await (const balance of client.v1.contracts.listBalances({
    ...{ customer_id, include_balance: true, covering_date: HOUR },
  })) {
    left += balance.balance ?? 0;
  }
  return left;
}

test('provisioning twice makes one customer and one contract', async () => {
  const ids = new Set<string>();
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const customer_id = await ensureCustomer('org_provisioned');
    ids.add(customer_id).add(await ensureContract(customer_id, 'org_provisioned-v1'));
  }
  expect(ids.size).toBe(2);
});

test('a wallet is filled when the invoice of a top-up is paid, and is used up by usage', async () => {
  const alias = 'org_wallet';
  const customer_id = await ensureCustomer(alias);
  const contract_id = await ensureContract(customer_id, alias);
  expect(await entitled(customer_id)).toBe(0);
  const edit = await client.v2.contracts.edit({
    ...{ customer_id, contract_id },
    add_commits: [
      {
        type: 'PREPAID',
        product_id: catalogue.fee,
        name: 'Top-up',
        access_schedule: {
          schedule_items: [{ amount: 1_000, starting_at: HOUR, ending_before: YEAR_LATER }],
        },
        invoice_schedule: { schedule_items: [{ timestamp: HOUR, amount: 1_000 }] },
        payment_gate_config: {
          payment_gate_type: 'STRIPE',
          stripe_config: { payment_type: 'PAYMENT_INTENT' },
        },
      },
    ],
  });
  expect(edit.data.id).toBe(contract_id);
  const isPaid = async () => {
    for await (const invoice of client.v1.customers.invoices.list({ customer_id, status: 'FINALIZED' })) {
      if (invoice.external_invoice?.external_status === 'PAID') return true;
    }
    return false;
  };
  await service.moveClock('2026-11-10T10:21:00Z');
  await expect.poll(isPaid).toBe(true);
  expect(await entitled(customer_id)).toBe(1_000);
  await use(alias, 'wallet-1', 20);
  await expect.poll(() => entitled(customer_id)).toBe(1_000 - 20 * (10 + 20) - 20);
  const { data } = await client.v1.contracts.getNetBalance({ customer_id });
  expect(data.balance).toBe(380);
});

test('invoices are synchronized page by page, each once, with what pays their lines', async () => {
  const alias = 'org_synced';
  const customer_id = await ensureCustomer(alias);
  const schedule = (timestamp: string) => ({ schedule_items: [{ timestamp, amount: 100 }] });
  const days = ['01', '02', '03', '04', '05'].map((day) => `2026-11-${day}T00:00:00Z`);
  await ensureContract(customer_id, alias, {
    starting_at: '2026-11-01T00:00:00Z',
    credits: [
      {
        product_id: catalogue.fee,
        access_schedule: {
          schedule_items: [{ amount: 5_000, starting_at: '2026-11-01T00:00:00Z', ending_before: YEAR_LATER }],
        },
      },
    ],
    scheduled_charges: days.map((day) => ({ product_id: catalogue.fee, schedule: schedule(day) })),
  });
  await use(alias, 'synced-1', 1);
  await service.moveClock('2026-11-10T10:22:00Z');
  const warehouse = new Map<string, number>();
  for await (const invoice of client.v1.customers.invoices.list({
    customer_id,
    limit: 2,
    sort: 'date_asc',
  })) {
    expect(warehouse.has(invoice.id)).toBe(false);
    warehouse.set(invoice.id, invoice.total);
    for (const line of invoice.line_items) {
      if (line.type === 'applied_commit_or_credit')
        expect(line.applied_commit_or_credit?.type).toBe('CREDIT');
    }
  }
  expect([...warehouse.values()].sort()).toEqual([0, 100, 100, 100, 100, 100]);
  let spent = 0;
  for await (const window of client.v1.customers.invoices.listBreakdowns({
    customer_id,
    starting_on: '2026-11-01T00:00:00Z',
    ending_before: '2026-11-11T00:00:00Z',
    window_size: 'DAY',
    skip_zero_qty_line_items: true,
  })) {
    for (const line of window.line_items) if (line.type === 'usage') spent += line.total;
  }
  expect(spent).toBe(31);
});

describe('seats, renewals and alerts', () => {
  test('seats are changed from now on, and the history tells of it', async () => {
    const alias = 'org_seats';
    const customer_id = await ensureCustomer(alias);
    const contract_id = await ensureContract(customer_id, alias, {
      subscriptions: [
        {
          subscription_rate: { product_id: catalogue.seats, billing_frequency: 'MONTHLY' },
          collection_schedule: 'ADVANCE',
          initial_quantity: 3,
          proration: { is_prorated: true, invoice_behavior: 'BILL_IMMEDIATELY' },
        },
      ],
    });
    const reference = { customer_id, contract_id };
    const contract = await client.v2.contracts.retrieve(reference);
    const subscription_id = contract.data.subscriptions?.[0]?.id ?? '';
    await client.v2.contracts.edit({
      ...reference,
      update_subscriptions: [
        { subscription_id, quantity_updates: [{ starting_at: '2026-11-10T11:00:00Z', quantity_delta: 2 }] },
      ],
    });
    await service.moveClock('2026-11-10T11:05:00Z');
    const history = await client.v1.contracts.retrieveSubscriptionQuantityHistory({
      ...reference,
      subscription_id,
    });
    expect(history.data.history?.map(({ data }) => data[0]?.quantity)).toEqual([3, 5]);
  });

  test('a plan is changed within its first hour; the newest contract is the present one', async () => {
    const alias = 'org_upgraded';
    const customer_id = await ensureCustomer(alias);
    const free = await ensureContract(customer_id, `${alias}-free`);
    await use(alias, 'upgraded-1', 1);
    await service.moveClock('2026-11-10T11:06:00Z');
    const paid = await ensureContract(customer_id, `${alias}-paid`, {
      transition: { type: 'RENEWAL', from_contract_id: free },
    });
    const { data: contracts } = await client.v2.contracts.list({ customer_id });
    expect(contracts.map(({ id }) => id)).toEqual([paid, free]);
    const drafts = await client.v1.customers.invoices.list({ customer_id, status: 'DRAFT' });
    expect(drafts.data.map(({ contract_id, total }) => [contract_id, total])).toEqual([[paid, 31]]);
    await client.v1.contracts.archive({ customer_id, contract_id: paid, void_invoices: true });
    const again = await client.v1.customers.invoices.list({ customer_id, status: 'DRAFT' });
    expect(again.data.map(({ contract_id, total }) => [contract_id, total])).toEqual([[free, 31]]);
  });

  test('an alert is created for one customer, is reported, and archived', async () => {
    const alias = 'org_alerted';
    const customer_id = await ensureCustomer(alias);
    await ensureContract(customer_id, alias);
    const alert = await client.v1.alerts.create({
      alert_type: 'spend_threshold_reached',
      name: 'Spent 30 cents',
      threshold: 30,
      customer_id,
      credit_grant_type_filters: ['enterprise'],
    });
    const stateOf = async () => {
      const { data } = await client.v1.customers.alerts.retrieve({ customer_id, alert_id: alert.data.id });
      return data.customer_status;
    };
    await expect.poll(stateOf).toBe('ok');
    await use(alias, 'alerted-1', 1);
    await expect.poll(stateOf).toBe('in_alarm');
    await client.v1.alerts.archive({ id: alert.data.id });
    expect(await stateOf()).toBeNull();
  });
});
