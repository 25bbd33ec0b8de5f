/** One object of each kind that the examples of requests name. */
import {
  EXAMPLE_IDS,
  EXAMPLE_INVITATION,
  EXAMPLE_JOB_ID,
  EXAMPLE_STRIPE_KEY,
  EXAMPLE_TOKEN,
} from '../../src/api/http/examples/ids.ts';
import { STAND_IN_KEY } from '../../src/demo/stripe/stand-in.ts';
import type { ApiClient } from './api-client.ts';
import { CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from './catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from './contract-terms.ts';
import type { TestService } from './service.ts';
import { billedCustomer } from './stripe/billed-customer.ts';
import { until } from './thresholds.ts';
import { importModels, SMALL } from './token-prices.ts';

type ExampleIds = Record<keyof typeof EXAMPLE_IDS, string>;

/** Replacements for the values of an example: ids and tokens within texts, the number of a job as a whole. */
export type Replacements = ReadonlyMap<string | number, string | number>;

/** The time of the clock before the world is created; it is `NOW` afterwards. */
export const START = '2026-10-01T00:00:00Z';
const NOW = '2026-11-10T00:00:00Z';
const NEXT_YEAR = '2027-10-01T00:00:00Z';

/** `stripeCustomer`: at the stand-in that the service is connected to; it has the open invoice. */
export async function createExampleWorld(
  service: TestService,
  stripeCustomer: string,
): Promise<Replacements> {
  const { api } = service;
  const catalogue = await createTermsCatalogue(api);
  const customer = await createdId(api, '/v1/customers', { name: 'World', ingest_aliases: ['world'] });
  const contract = await createdId(api, CONTRACTS, contractTerms(catalogue, customer));
  await api.post('/v1/ingest', usageOf(customer, '2026-10-01T12:00:00Z'));
  const external = await externallyBilled(api, catalogue);
  const paid = await externallyBilled(api, catalogue);
  await api.post('/v2/contracts/edit', { customer_id: customer, contract_id: contract, ...gated(catalogue) });
  await service.moveClock(NOW);
  await api.post('/v1/ingest', usageOf(customer, '2026-11-02T12:00:00Z'));
  const ids: ExampleIds = {
    customer,
    contract,
    ...(await catalogueIds(service, catalogue)),
    ...(await termIds(api, customer, contract)),
    ...(await balanceIds(api, catalogue, customer)),
    ...(await invoiceIds(api, customer)),
    ...(await creditedIds(api, external, catalogue)),
    paidVoidInvoice: await paidAndVoided(api, paid),
    openInvoice: await openInvoice(service, stripeCustomer),
    ...(await operationIds(api, customer)),
  };
  const token = await api.post('/v1/tokens/create', { name: 'World', scope: 'read' });
  const invited = await api.post('/v1/people/invite', { email: 'new@acme.example', role: 'support' });
  return new Map<string | number, string | number>([
    ...Object.entries(ids).map(([kind, id]) => [EXAMPLE_IDS[kind as keyof ExampleIds], id] as const),
    [EXAMPLE_TOKEN, token.text('data.token')],
    [EXAMPLE_INVITATION, invited.text('data.link').split('#')[1] ?? ''],
    [EXAMPLE_STRIPE_KEY, STAND_IN_KEY],
    [EXAMPLE_JOB_ID, await failedJob(service, contract)],
  ]);
}

function contractTerms({ card, fee, seats, service, tokens }: TermsCatalogue, customer_id: string): object {
  const year = { starting_at: START, ending_before: NEXT_YEAR };
  const access_schedule = { schedule_items: [{ amount: 100, ...year }] };
  const subscription = (more: object) => ({
    subscription_rate: { product_id: seats, billing_frequency: 'MONTHLY' },
    collection_schedule: 'ARREARS',
    proration: {},
    ...more,
  });
  return {
    customer_id,
    rate_card_id: card,
    ...year,
    // September is invoiced from quantities, not from events.
    starting_at: '2026-09-01T00:00:00Z',
    usage_statement_schedule: { frequency: 'MONTHLY', invoice_generation_starting_at: START },
    commits: [
      {
        type: 'POSTPAID',
        product_id: fee,
        access_schedule,
        applicable_product_ids: [tokens],
        invoice_schedule: { schedule_items: [{ timestamp: NEXT_YEAR, amount: 100 }] },
      },
    ],
    subscriptions: [
      subscription({ initial_quantity: 2 }),
      subscription({
        quantity_management_mode: 'SEAT_BASED',
        seat_config: { seat_group_key: 'user', initial_seat_ids: ['ada', 'bob'] },
        temporary_id: 'seats',
      }),
    ],
    recurring_credits: [
      {
        product_id: fee,
        access_amount: { unit_price: 1, credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2' },
        priority: 1,
        starting_at: START,
        commit_duration: { value: 1, unit: 'PERIODS' },
        subscription_config: {
          subscription_id: 'seats',
          allocation: 'INDIVIDUAL',
          apply_seat_increase_config: { is_prorated: false },
        },
      },
    ],
    scheduled_charges: [
      { product_id: fee, schedule: { schedule_items: [{ timestamp: '2026-12-10T00:00:00Z', amount: 5 }] } },
    ],
    professional_services: [{ product_id: service, unit_price: 1, quantity: 1, max_amount: 100_000 }],
  };
}

/** A commit whose purchase was invoiced, and waits for a payment. */
const gated = ({ fee }: TermsCatalogue) => ({
  add_commits: [
    {
      type: 'PREPAID',
      product_id: fee,
      access_schedule: { schedule_items: [{ amount: 100, starting_at: START, ending_before: NEXT_YEAR }] },
      invoice_schedule: { schedule_items: [{ timestamp: '2026-11-05T00:00:00Z', amount: 100 }] },
      payment_gate_config: { payment_gate_type: 'EXTERNAL' },
    },
  ],
});

const usageOf = (customer_id: string, timestamp: string) => [
  {
    transaction_id: `of ${timestamp}`,
    customer_id,
    event_type: 'completion',
    timestamp,
    properties: { tokens: '100', model: 'large', region: 'eu', user: 'ada' },
  },
];

async function catalogueIds({ api, db }: TestService, catalogue: TermsCatalogue) {
  await importModels({ db, now: Date.parse(NOW) }, [SMALL]);
  const metric = await createdId(api, METRICS, {
    name: 'World',
    aggregation_type: 'COUNT',
    event_type_filter: { in_values: ['completion'] },
    property_filters: [{ name: 'model', exists: true }],
    group_keys: [['model']],
  });
  const fixedProduct = await createdId(api, PRODUCTS, { name: 'World', type: 'FIXED' });
  return {
    metric,
    fixedProduct,
    usageProduct: catalogue.tokens,
    subscriptionProduct: catalogue.seats,
    rateCard: catalogue.card,
    managedRateCard: await createdId(api, RATE_CARDS, {
      name: 'Managed',
      managed_pricing: { models: [{ model: SMALL.model }], default_markup: 0 },
    }),
    package: await createdId(api, '/v1/packages/create', { name: 'World', rate_card_id: catalogue.card }),
  };
}

async function termIds(api: ApiClient, customer_id: string, contract_id: string) {
  const terms = await api.post('/v2/contracts/get', { customer_id, contract_id });
  const commits = terms.list('data.commits') as { id: string; type: string }[];
  const of = (type: string) => commits.find((commit) => commit.type === type)?.id ?? '';
  return {
    contractCommit: of('POSTPAID'),
    gatedCommit: of('PREPAID'),
    subscription: terms.text('data.subscriptions[0].id'),
    seatSubscription: terms.text('data.subscriptions[1].id'),
    professionalService: terms.text('data.professional_services[0].id'),
  };
}

async function balanceIds(api: ApiClient, { fee }: TermsCatalogue, customer_id: string) {
  const access_schedule = {
    schedule_items: [{ amount: 5_000, starting_at: '2026-11-01T00:00:00Z', ending_before: NEXT_YEAR }],
  };
  const terms = { customer_id, product_id: fee, priority: 50, access_schedule };
  const commit = await createdId(api, '/v1/contracts/customerCommits/create', { ...terms, type: 'PREPAID' });
  const credit = await createdId(api, '/v1/contracts/customerCredits/create', terms);
  const listed = await api.post('/v1/contracts/customerCommits/list', { customer_id, commit_id: commit });
  return { commit, credit, segment: listed.text('data[0].access_schedule.schedule_items[0].id') };
}

async function invoiceIds(api: ApiClient, customer: string) {
  const invoice = await invoiceOf(api, customer, 'USAGE', 'FINALIZED');
  // Regenerated after it was voided by the example before.
  return {
    invoice,
    voidInvoice: invoice,
    draftInvoice: await invoiceOf(api, customer, 'SCHEDULED', 'DRAFT'),
  };
}

async function creditedIds(api: ApiClient, customer: string, { fee }: TermsCatalogue) {
  const externalInvoice = await invoiceOf(api, customer, 'SCHEDULED', 'FINALIZED');
  const creditNote = await createdId(api, '/v1/invoices/creditNotes/create', {
    ...{ invoice_id: externalInvoice, reason: 'other', settlement: 'offset_unpaid' },
    lines: [{ product_id: fee, amount: 1 }],
  });
  return { externalCustomer: customer, externalInvoice, creditNote, chargedProduct: fee };
}

async function paidAndVoided(api: ApiClient, customer: string): Promise<string> {
  const id = await invoiceOf(api, customer, 'SCHEDULED', 'FINALIZED');
  await api.post('/v1/providers/custom/invoices/update', { invoice_id: id, external_status: 'PAID' });
  await api.post('/v1/invoices/void', { id });
  return id;
}

/** Finalized at Stripe, and not paid. */
async function openInvoice(service: TestService, stripeCustomer: string): Promise<string> {
  const customer = await billedCustomer(service, stripeCustomer);
  const id = await customer.bill(700);
  const status = async () => (await customer.invoice(id)).at('data.external_invoice.external_status');
  await until(status, (now) => now === 'FINALIZED');
  return id;
}

async function invoiceOf(api: ApiClient, customer: string, type: string, status: string): Promise<string> {
  const list = await api.get(`/v1/customers/${customer}/invoices`, { query: { limit: 100 } });
  const invoices = list.list('data') as { id: string; type: string; status: string }[];
  const found = invoices.find((invoice) => invoice.type === type && invoice.status === status);
  if (found === undefined) throw new Error(`no ${type} that is ${status} in ${JSON.stringify(list.body)}`);
  return found.id;
}

/** A customer whose invoices are delivered to a system other than Stripe. */
async function externallyBilled(api: ApiClient, { fee }: TermsCatalogue): Promise<string> {
  const configuration = { url: 'http://127.0.0.1:9/', signing_secret: 'whsec_d29ybGQtb2YtZXhhbXBsZXM=' };
  const customer_id = await createdId(api, '/v1/customers', { name: 'Elsewhere' });
  const configured = await api.post('/v1/setCustomerBillingProviderConfigurations', {
    data: [{ customer_id, billing_provider: 'custom', delivery_method: 'webhook', configuration }],
  });
  await createdId(api, CONTRACTS, {
    customer_id,
    starting_at: START,
    billing_provider_configuration: { billing_provider_configuration_id: configured.text('data[0].id') },
    scheduled_charges: [
      {
        product_id: fee,
        schedule: { schedule_items: [{ timestamp: '2026-11-05T00:00:00Z', amount: 5_000 }] },
      },
    ],
  });
  return customer_id;
}

async function operationIds(api: ApiClient, customer_id: string) {
  const configured = await api.post('/v1/setCustomerBillingProviderConfigurations', {
    data: [
      {
        customer_id,
        billing_provider: 'netsuite',
        delivery_method: 'direct_to_billing_provider',
        configuration: { netsuite_customer_id: '1' },
      },
    ],
  });
  const account = await api.post('/v1/providers/stripe/accounts/create', {
    name: 'world',
    api_key: STAND_IN_KEY,
  });
  return {
    billingConfiguration: configured.text('data[0].id'),
    stripeAccount: account.text('data.delivery_method_id'),
    alert: await createdId(api, '/v1/alerts/create', {
      alert_type: 'spend_threshold_reached',
      name: 'World',
      threshold: 1,
    }),
    webhook: await createdId(api, '/v1/webhooks/create', { name: 'World', url: 'http://127.0.0.1:9/' }),
    token: await createdId(api, '/v1/tokens/create', { name: 'Of the world', scope: 'read' }),
    person: await createdId(api, '/v1/people/invite', { email: 'world@acme.example', role: 'support' }),
    session: await sessionId(api),
    savedQuery: await createdId(api, '/v1/sql/queries/save', {
      name: 'Of the world',
      sql: 'SELECT 1 AS one',
    }),
    openCorrection: await correctionId(api, 'voided-1'),
    filledCorrection: await correctionId(api, 'voided-2'),
    appliedCorrection: await appliedId(api),
    wrongCorrection: await correctionId(api, 'voided-3'),
    notification: await createdId(api, '/v2/notifications/create', {
      name: 'World',
      policy: { type: 'contract.end', offset: '-P1D' },
    }),
  };
}

async function correctionId(api: ApiClient, transactionId: string): Promise<string> {
  const id = await createdId(api, '/v1/events/corrections/create', { name: transactionId, reason: 'Wrong' });
  const additions = { correction_id: id, void: [{ transaction_id: transactionId }] };
  await api.post('/v1/events/corrections/add', additions);
  return id;
}

async function appliedId(api: ApiClient): Promise<string> {
  const id = await correctionId(api, 'voided-4');
  await api.post('/v1/events/corrections/apply', { correction_id: id });
  return id;
}

async function sessionId(api: ApiClient): Promise<string> {
  const token = await api.post('/v1/tokens/create', { name: 'Of a session', scope: 'read' });
  await api.post('/console/session', { token: token.text('data.token') });
  return (await api.get('/v1/sessions')).text('data[0].id');
}

async function failedJob({ db }: TestService, contract: string): Promise<number> {
  const inserted = await db.execute(
    `insert into jobs (kind, key, subject, run_at, payload, attempts, retry_at, last_error)
     values ('unknown_kind', 'world', '${contract}', '2026-11-01', '{}', 3, now() + interval '1 hour', 'no such thing')
     returning id`,
  );
  return Number(inserted[0]?.id);
}
