/**
 * The request of every operation that the documentation of the official client shows is answered as it declares.
 */
import { randomBytes } from 'node:crypto';
import Metronome from '@metronome/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ABSENT_OPERATIONS } from '../../src/api/http/absent-operations.ts';
import { EXAMPLE_IDS } from '../../src/api/http/examples/ids.ts';
import { startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { type ClientAnswer, misfits } from '../support/client-answers.ts';
import { clientOperations } from '../support/client-operations.ts';
import { everyTerm, type TermsCatalogue } from '../support/contract-terms.ts';
import { documentedRequests, mapped, movedTimes, run, withParams } from '../support/documented-requests.ts';
import { createExampleWorld, START } from '../support/example-world.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { everyTemplate } from '../support/package-terms.ts';
import { connectedTo } from '../support/stripe/billed-customer.ts';

type Kind = keyof typeof EXAMPLE_IDS;
type Params = Record<string, unknown>;
type Overrides = readonly { override_specifiers?: Params[] }[];

const stripe = await startStripeStandIn();
const service = await serviceForFile({
  sandboxNow: START,
  secretsKey: randomBytes(32),
  ...connectedTo(stripe),
});
const { api } = service;
const operations = await clientOperations();
const documented = await documentedRequests();
afterAll(() => stripe.close());

const shapeOf = ({ method, path }: { readonly method: string; readonly path: string }) =>
  `${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`;
const absent = new Set(ABSENT_OPERATIONS.map(shapeOf));
const works = operations.filter((operation) => !absent.has(shapeOf(operation)));

const answers: ClientAnswer[] = [];
let calling = '';
const client = new Metronome({
  baseURL: service.url,
  bearerToken: service.token,
  maxRetries: 0,
  async fetch(input, init) {
    const response = await fetch(input, init);
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    if (response.ok && isJson) answers.push({ call: calling, text: await response.clone().text() });
    return response;
  },
});

/** The objects that ids of the documentation stand for, by the names of their members. */
const KINDS: Readonly<Record<string, Kind>> = {
  customer_id: 'customer',
  customer_ids: 'customer',
  entity_id: 'customer',
  contract_id: 'contract',
  invoice_contract_id: 'contract',
  customer_plan_id: 'contract',
  rate_card_id: 'rateCard',
  product_id: 'usageProduct',
  product_order: 'usageProduct',
  charge_id: 'fixedProduct',
  billable_metric_id: 'metric',
  package_id: 'package',
  invoice_id: 'invoice',
  commit_id: 'commit',
  credit_id: 'credit',
  segment_id: 'segment',
  subscription_id: 'seatSubscription',
  subscription_ids: 'seatSubscription',
  alert_id: 'alert',
  professional_service_id: 'professionalService',
  customer_billing_provider_configuration_ids: 'billingConfiguration',
};

/** Kinds of the member `id`, by call. */
const OWN_IDS: Readonly<Record<string, Kind>> = {
  'v1.alerts.archive': 'alert',
  'v1.billableMetrics.archive': 'metric',
  'v1.contracts.addManualBalanceEntry': 'commit',
  'v1.contracts.listBalances': 'commit',
  'v1.contracts.products.retrieve': 'usageProduct',
  'v1.contracts.rateCards.retrieve': 'rateCard',
  'v1.contracts.rateCards.archive': 'rateCard',
  'v1.customers.archive': 'customer',
  'v1.invoices.void': 'invoice',
  'v1.invoices.regenerate': 'voidInvoice',
  'v2.contracts.editCommit': 'segment',
};

/** The first time of the requests. */
const DECEMBER = Date.parse('2026-12-01T00:00:00Z');

/**
 * Further values that an example leaves to its sender: objects that exist, keys of metrics, times that have usage.
 */
const OWN: Readonly<Record<string, (params: Params) => Params>> = {
  'v1.contracts.createHistoricalInvoices': (params) => {
    const september = { inclusive_start_date: SEPTEMBER, exclusive_end_date: OCTOBER };
    const [invoice] = params.invoices as Params[];
    const usage_line_items = [{ product_id: idOf('usageProduct'), quantity: 100, ...september }];
    return { ...params, invoices: [{ ...invoice, ...september, issue_date: OCTOBER, usage_line_items }] };
  },
  // The commit is the customer's.
  'v1.contracts.addManualBalanceEntry': ({ contract_id: _, ...params }) => params,
  // Each line requires an amount, as the text beside the example says.
  'v1.contracts.scheduleProServicesInvoice': (params) => ({
    ...params,
    line_items: (params.line_items as Params[]).map((line) => ({ ...line, amount: 10 })),
  }),
  'v1.contracts.setUsageFilter': (params) => ({ ...params, group_key: 'model', group_values: ['large'] }),
  'v1.contracts.rateCards.create': (params) => ({
    ...params,
    credit_type_conversions: [{ custom_credit_type_id: own.unit, fiat_per_custom_credit: 2 }],
  }),
  'v1.contracts.rateCards.productOrders.update': (params) => ({ ...params, product_moves: moves() }),
  'v1.contracts.rateCards.productOrders.set': (params) => ({
    ...params,
    product_order: moves().map(({ product_id }) => product_id),
  }),
  'v1.contracts.rateCards.rates.addMany': (params) => ({
    ...params,
    rates: (params.rates as Params[]).map((rate) => ({ ...rate, product_id: own.cloudProduct })),
  }),
  'v1.customers.commits.create': (params) => ({ ...params, product_id: idOf('fixedProduct') }),
  'v1.customers.credits.create': (params) => ({ ...params, product_id: idOf('fixedProduct') }),
  'v1.customers.invoices.addCharge': (params) => ({ ...params, invoice_start_timestamp: NOVEMBER }),
  'v1.customers.invoices.listBreakdowns': (params) => ({
    ...params,
    starting_on: OCTOBER,
    ending_before: NOVEMBER,
  }),
  'v1.customers.listCosts': (params) => ({ ...params, starting_on: OCTOBER, ending_before: NOVEMBER }),
  'v1.customers.previewEvents': (params) => ({
    ...params,
    events: (params.events as Params[]).map((event) => ({ ...event, timestamp: '2026-11-05T00:00:00Z' })),
  }),
  // The documentation leaves the configurations out, and each provider asks for another one.
  'v1.customers.setBillingConfigurations': (params) => ({
    ...params,
    data: (params.data as Params[])
      .filter(({ billing_provider }) => billing_provider === 'stripe')
      .map((one) => ({ ...one, configuration: STRIPE_CUSTOMER })),
  }),
  'v1.customers.setIngestAliases': (params) => ({ ...params, ingest_aliases: ['team@world.example'] }),
  'v1.settings.billingProviders.list': () => ({}),
  // From the client's README: the declarations show the call without events.
  'v1.usage.ingest': () => ({
    usage: [
      {
        transaction_id: '90e9401f-0f8c-4cd3-9a9f-d6beb56d8d72',
        customer_id: 'team@example.com',
        event_type: 'heartbeat',
        timestamp: NOVEMBER,
        properties: { cluster_id: '42', cpu_seconds: 60, region: 'Europe' },
      },
    ],
  }),
  'v1.usage.listWithGroups': (params) => ({
    ...params,
    group_key: ['model'],
    group_filters: { model: ['large', 'small'] },
  }),
  'v2.contracts.edit': (params) => ({
    ...params,
    add_scheduled_charges: (params.add_scheduled_charges as Params[]).map((charge) => ({
      ...charge,
      product_id: idOf('fixedProduct'),
    })),
  }),
  'v2.contracts.editCredit': (params) => ({
    ...params,
    access_schedule: {
      update_schedule_items: [{ id: own.creditSegment, ending_before: '2026-12-01T00:00:00Z' }],
    },
  }),
};

const STRIPE_CUSTOMER = { stripe_customer_id: 'cus_123', stripe_collection_method: 'charge_automatically' };
const [SEPTEMBER, OCTOBER, NOVEMBER] = [
  '2026-09-01T00:00:00Z',
  '2026-10-01T00:00:00Z',
  '2026-11-01T00:00:00Z',
];

const moves = () => [
  { product_id: idOf('usageProduct'), position: 0 },
  { product_id: idOf('subscriptionProduct'), position: 1 },
];

/** Objects that only these requests need. */
const own = {
  unit: '',
  cloudProduct: '',
  creditSegment: '',
  everything: '',
  everyCustomer: '',
  everyPackage: '',
};

async function createOwn(): Promise<void> {
  await api.post('/v1/providers/stripe/accounts/archive', { delivery_method_id: idOf('stripeAccount') });
  own.unit = await createdId(api, '/v1/credit-types/create', { name: 'Tokens of the example' });
  const billable_metric_id = await createdId(api, '/v1/billable-metrics/create', {
    name: 'Cloud',
    aggregation_type: 'COUNT',
    property_filters: ['region', 'cloud', 'model'].map((name) => ({ name, exists: true })),
    // Contracts of the world filter usage by model.
    group_keys: [
      ['region', 'cloud'],
      ['model', 'region', 'cloud'],
    ],
  });
  const pricing_group_key = ['region', 'cloud'];
  const product = { name: 'Cloud', type: 'USAGE', billable_metric_id, pricing_group_key };
  own.cloudProduct = await createdId(api, '/v1/contract-pricing/products/create', product);
  const of = { customer_id: idOf('customer'), credit_id: idOf('credit') };
  const credits = await api.post('/v1/contracts/customerCredits/list', of);
  own.creditSegment = credits.text('data[0].access_schedule.schedule_items[0].id');
}

/** The catalogue that the world was created with. */
async function worldCatalogue(): Promise<TermsCatalogue> {
  const byName = async (path: string, method: 'get' | 'post') => {
    const options = { query: { limit: 100 } };
    const page = method === 'get' ? await api.get(path, options) : await api.post(path, {}, options);
    return (name: string) =>
      (page.list('data') as { id: string; name?: string; current?: { name: string } }[]).find(
        (one) => (one.name ?? one.current?.name) === name,
      )?.id ?? '';
  };
  const product = await byName('/v1/contract-pricing/products/list', 'post');
  const unit = await byName('/v1/credit-types/list', 'get');
  return {
    card: idOf('rateCard'),
    unit: unit('Coins'),
    fee: idOf('fixedProduct'),
    service: product('Consulting'),
    tokens: idOf('usageProduct'),
    models: product('Models'),
    seats: idOf('subscriptionProduct'),
    support: product('Support'),
    unpriced: product('Unpriced'),
  };
}

/** A customer with a contract, and a package, that have everything which they can have. */
async function createEverything(): Promise<void> {
  const catalogue = await worldCatalogue();
  own.everyCustomer = await createdId(api, '/v1/customers', {
    name: 'Everything',
    ingest_aliases: ['everything'],
  });
  const { uniqueness_key: _, ...terms } = everyTerm(catalogue, own.everyCustomer) as Params;
  // The declarations know nothing of `exclude` here, and so nothing of a specifier that has only that.
  for (const { override_specifiers: specifiers = [] } of terms.overrides as Overrides) {
    for (const specifier of specifiers)
      if (specifier.exclude !== undefined) specifier.product_tags = ['usage'];
  }
  own.everything = await createdId(api, CONTRACTS, {
    ...{ customer_id: own.everyCustomer, rate_card_id: catalogue.card, starting_at: OCTOBER },
    ...terms,
  });
  own.everyPackage = await createdId(api, '/v1/packages/create', everyTemplate(catalogue));
}

let world: ReadonlyMap<string | number, string | number>;
const idOf = (kind: Kind) => String(world.get(EXAMPLE_IDS[kind]));

function ownParams(call: string, params: Params): Params {
  const key = call.slice('client.'.length);
  const named = mapped(params, (value, name) => {
    const kind = name === 'id' ? OWN_IDS[key] : KINDS[name];
    return kind === undefined ? value : idOf(kind);
  });
  const moved = movedTimes(named, DECEMBER) as Params;
  calling = call;
  return OWN[key]?.(moved) ?? moved;
}

beforeAll(async () => {
  world = await createExampleWorld(service, stripe.state.addCustomer());
  await createOwn();
  await createEverything();
});

/** Sent after the others, in this order: they remove something. */
const LAST: readonly string[] = [
  'v1.customFields.deleteValues',
  'v1.customFields.removeKey',
  'v1.alerts.archive',
  'v1.customers.archiveBillingConfigurations',
  'v1.customers.billingConfig.create',
  'v1.customers.billingConfig.retrieve',
  'v1.customers.billingConfig.delete',
  'v1.invoices.void',
  'v1.invoices.regenerate',
  'v1.contracts.updateEndDate',
  'v1.packages.archive',
  'v1.contracts.archive',
  'v1.contracts.products.archive',
  'v1.contracts.rateCards.archive',
  'v1.billableMetrics.archive',
  'v1.customers.archive',
];
const isLast = (call: string) => LAST.includes(call.slice('client.'.length));
const FIRST = ['client.v1.customers.setBillingConfigurations'];
const calls = works.map(({ call }) => call);
const before = [...FIRST, ...calls.filter((call) => !isLast(call) && !FIRST.includes(call))];

/** Its pages never end (docs/reference/access.md): the last one is the cursor of what is still to come. */
const ENDLESS = 'client.v1.auditLogs.list';

const answersExample = async (call: string) => {
  const statements = documented.get(call);
  expect(statements, 'an example in the declarations').toBeDefined();
  const sent = call === ENDLESS ? statements?.replace('// ...', 'break;') : statements;
  await run(sent ?? '', withParams(client, ownParams));
};

describe('the documented request is answered:', () => {
  test.each(before)('%s', answersExample);

  test('the documented request is answered: lists and reads of everything that there is', async () => {
    const of = { customer_id: own.everyCustomer };
    const contract = { ...of, contract_id: own.everything };
    const october = { starting_on: OCTOBER, ending_before: '2026-11-10T00:00:00Z' };
    const wrapped = withParams(client, (call, params) => {
      calling = call;
      return params;
    }) as Metronome;
    const { v1, v2 } = wrapped;
    const answered = answers.length;
    await v1.contracts.retrieve({ ...contract, include_ledgers: true, include_balance: true });
    await v2.contracts.retrieve({ ...contract, include_ledgers: true, include_balance: true });
    await v2.contracts.list({ ...of, include_ledgers: true, include_balance: true });
    await v2.contracts.getEditHistory({ customer_id: idOf('customer'), contract_id: idOf('contract') });
    await v1.contracts.listBalances({ ...of, include_ledgers: true, include_balance: true });
    await v1.contracts.retrieveRateSchedule(contract);
    await v1.packages.retrieve({ package_id: own.everyPackage });
    for (const customer_id of [idOf('customer'), own.everyCustomer]) {
      await v1.customers.invoices.list({ customer_id, limit: 100 });
      await v1.customers.invoices.listBreakdowns({ customer_id, ...october, window_size: 'DAY', limit: 20 });
      await v1.contracts.listSeatBalances({
        customer_id,
        contract_id: customer_id === own.everyCustomer ? own.everything : idOf('contract'),
        include_credits_and_commits: true,
        include_ledgers: true,
      });
    }
    await v1.usage.list({ ...october, window_size: 'DAY' });
    await v1.usage.search({ transactionIds: ['of 2026-10-01T12:00:00Z'] });
    await v1.customers.alerts.list({ customer_id: idOf('customer') });
    expect(answers.length).toBeGreaterThan(answered);
  });

  test.each(LAST.map((call) => `client.${call}`))('%s', answersExample);
});

test('every operation that works was sent as the client documents it', () => {
  expect([...before, ...LAST.map((call) => `client.${call}`)].sort()).toEqual([...calls].sort());
});

test('every answer is of the type that the client declares', async () => {
  expect(new Set(answers.map(({ call }) => call)).size).toBeGreaterThan(80);
  expect(await misfits(answers)).toBe('');
}, 120_000);
