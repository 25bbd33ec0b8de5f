/** Two processes on the same stores take the same requests for invoices at the same time. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BillingProcess } from '../support/billing-process.ts';
import { createSharedStores, type SharedStores } from '../support/shared-stores.ts';

const NOW = '2026-11-10T00:00:00Z';
const REQUESTS = 10;

let stores: SharedStores;
const services: BillingProcess[] = [];
const ids = { customer: '', contract: '', fee: '', consulting: '', requests: '' };

beforeAll(async () => {
  stores = await createSharedStores(NOW);
  for (const name of ['one', 'two']) services.push(await stores.start(name));
  await createContract();
}, 120_000);

afterAll(() => stores.close());

async function call(index: number, path: string, body?: unknown) {
  const service = services[index % services.length];
  if (service === undefined) throw new Error('two processes');
  const answer = await service.call(path, body);
  return { status: answer.status, data: JSON.parse(answer.body || '{}').data };
}

async function created(path: string, body: unknown): Promise<string> {
  const { status, data } = await call(0, path, body);
  expect(status).toBe(200);
  return data.id;
}

async function createContract(): Promise<void> {
  const products = '/v1/contract-pricing/products/create';
  const billable_metric_id = await created('/v1/billable-metrics/create', {
    name: 'Requests',
    aggregation_type: 'COUNT',
    event_type_filter: { in_values: ['request'] },
  });
  ids.requests = await created(products, { name: 'Requests', type: 'USAGE', billable_metric_id });
  ids.fee = await created(products, { name: 'Fee', type: 'FIXED' });
  ids.consulting = await created(products, { name: 'Consulting', type: 'PROFESSIONAL_SERVICE' });
  const rate_card_id = await created('/v1/contract-pricing/rate-cards/create', { name: 'List' });
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 2 };
  await call(0, '/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id,
    rates: [{ ...rate, product_id: ids.requests }],
  });
  ids.customer = await created('/v1/customers', { name: 'Customer' });
  ids.contract = await created('/v1/contracts/create', {
    customer_id: ids.customer,
    rate_card_id,
    starting_at: '2026-01-01T00:00:00Z',
    usage_statement_schedule: {
      frequency: 'MONTHLY',
      invoice_generation_starting_at: '2026-11-01T00:00:00Z',
    },
    professional_services: [{ product_id: ids.consulting, unit_price: 1, quantity: 1, max_amount: 1000 }],
    discounts: [
      {
        product_id: ids.fee,
        schedule: { schedule_items: [{ timestamp: '2027-02-01T00:00:00Z', amount: 5 }] },
      },
    ],
  });
}

const statuses = async (send: (index: number) => ReturnType<typeof call>) =>
  (await Promise.all(Array.from({ length: REQUESTS }, (_, index) => send(index))))
    .map(({ status }) => status)
    .toSorted();

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly total: number;
  readonly type: string;
}
const invoices = async (type: string): Promise<Listed[]> =>
  (await call(0, `/v1/customers/${ids.customer}/invoices?limit=100&type=${type}`)).data;

test('a historical invoice is created once', async () => {
  const dates = { inclusive_start_date: '2026-01-01T00:00:00Z', exclusive_end_date: '2026-02-01T00:00:00Z' };
  const body = {
    preview: false,
    invoices: [
      {
        ...dates,
        customer_id: ids.customer,
        contract_id: ids.contract,
        credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2',
        issue_date: '2026-02-01T00:00:00Z',
        usage_line_items: [{ ...dates, product_id: ids.requests, quantity: 7 }],
      },
    ],
  };
  expect(await statuses((index) => call(index, '/v1/contracts/createHistoricalInvoices', body))).toEqual([
    200,
    ...Array(REQUESTS - 1).fill(400),
  ]);
  const issued = (await invoices('USAGE')).filter(({ status }) => status === 'FINALIZED');
  expect(issued.map(({ total }) => total)).toEqual([14]);
});

test('professional services are invoiced up to their maximum, and each invoice is issued once', async () => {
  const body = {
    customer_id: ids.customer,
    contract_id: ids.contract,
    issued_at: '2026-12-01T00:00:00Z',
    line_items: [] as object[],
  };
  const service = await call(0, '/v2/contracts/get', {
    customer_id: ids.customer,
    contract_id: ids.contract,
  });
  body.line_items = [{ professional_service_id: service.data.professional_services[0].id, amount: 300 }];
  expect(await statuses((index) => call(index, '/v1/contracts/scheduleProServicesInvoice', body))).toEqual([
    200,
    200,
    200,
    ...Array(REQUESTS - 3).fill(400),
  ]);
  await Promise.all([0, 1].map((index) => call(index, '/v1/sandbox/clock', { now: '2026-12-01T00:00:00Z' })));
  const issued = (await invoices('SCHEDULED')).filter(({ status }) => status === 'FINALIZED');
  expect(issued.map(({ total }) => total)).toEqual([300, 300, 300]);
});

test('a discount whose date is moved by both while it is issued by both is issued once', async () => {
  const [draft] = (await invoices('SCHEDULED')).filter(({ status }) => status === 'DRAFT');
  expect(draft?.total).toBe(-5);
  await Promise.all([
    ...Array.from({ length: REQUESTS }, (_, index) =>
      call(index, '/v1/contracts/updateInvoiceIssueDate', {
        invoice_id: draft?.id,
        issue_date: `2026-12-01T0${index % 10}:00:00Z`,
      }),
    ),
    ...[0, 1].map((index) => call(index, '/v1/sandbox/clock', { now: '2026-12-02T00:00:00Z' })),
  ]);
  await Promise.all([0, 1].map((index) => call(index, '/v1/sandbox/clock', { now: '2027-03-01T00:00:00Z' })));
  const own = (await invoices('SCHEDULED')).filter(({ total }) => total === -5);
  expect(own.map(({ id, status }) => [id, status])).toEqual([[draft?.id, 'FINALIZED']]);
});

test('charges of both are on the draft, each once', async () => {
  const { data } = await call(0, `/v1/customers/${ids.customer}/invoices?limit=100&type=USAGE&status=DRAFT`);
  const start = data.at(-1).start_timestamp;
  const path = `/v1/customers/${ids.customer}/addCharge`;
  const charge = {
    customer_plan_id: ids.contract,
    charge_id: ids.fee,
    price: 1,
    quantity: 1,
    description: '',
    invoice_start_timestamp: start,
  };
  const answers = await statuses((index) => call(index, path, charge));
  expect(answers).toEqual(Array(REQUESTS).fill(200));
  // February is in its grace period.
  const drafts = (await invoices('USAGE')).filter(({ status }) => status === 'DRAFT');
  expect(drafts.map(({ total }) => total)).toEqual([0, REQUESTS]);
});
