/** Every question that can be asked of a frozen state: each operation that reads, of each thing it knows. */

import type { RouteDefinition } from '../../src/api/http/route.ts';
import { routeFor } from '../../test/support/contract.ts';
import type { FrozenRequest } from '../../test/support/frozen-state.ts';
import type { Story } from './story.ts';
import { SEARCHED_IDS } from './usage.ts';

/** Values that change from one start to the next, or describe the program and not its data. */
const NOT_ASKED = [
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/docs',
  '/v1/services',
  // A row is written some time after its request.
  '/v1/auditLogs',
  // Printed from what the others answer.
  '/v1/customers/{customer_id}/invoices/{invoice_id}/pdf',
  // Drafts and issued invoices with what is not stored.
  '/v1/customers/{customer_id}/previewEvents',
  '/v1/invoices/preview',
];

const READING = '2026-11-12T00:00:00Z';
const months = { starting_on: '2026-10-01T00:00:00Z', ending_before: '2026-12-10T00:00:00Z' };

/** With a page of 35 days. */
const MONTHS = [
  'starting_on=2026-10-01T00:00:00Z&ending_before=2026-11-01T00:00:00Z',
  'starting_on=2026-11-01T00:00:00Z&ending_before=2026-12-01T00:00:00Z',
];
const ONE_DAY = 'starting_on=2026-10-19T00:00:00Z&ending_before=2026-10-20T00:00:00Z';

export interface FrozenSubscription {
  readonly customerId: string;
  readonly contractId: string;
  readonly id: string;
  readonly hasSeats: boolean;
}

const get = (path: string): FrozenRequest => ({ method: 'GET', path });
const post = (path: string, body: object = {}): FrozenRequest => ({ method: 'POST', path, body });

/** Fails when an operation that reads is not among them. */
export function readRequests(
  story: Story,
  invoiceIds: ReadonlyMap<string, readonly string[]>,
  subscriptions: readonly FrozenSubscription[],
  routes: readonly RouteDefinition[],
): FrozenRequest[] {
  const requests = [
    get('/v1/sandbox/clock'),
    ...catalogueReads(story),
    ...contractReads(story),
    ...subscriptions.flatMap(subscriptionReads),
    ...[...invoiceIds].flatMap(([customer, ids]) => customerReads(customer, ids)),
    ...usageReads(story),
    ...billedReads(story.contracts.usage.customerId, invoiceIds),
  ];
  const asked = new Set(requests.map(({ method, path }) => routeFor(routes, method, path)?.operationId));
  const missing = routes
    .filter(({ scope, path }) => (scope === 'read' || scope === 'public') && !NOT_ASKED.includes(path))
    .filter(({ operationId }) => !asked.has(operationId));
  if (missing.length > 0) throw new Error(`nothing asks ${missing.map(({ path }) => path).join(', ')}`);
  return requests;
}

function catalogueReads({ catalogue, packages }: Story): FrozenRequest[] {
  const { metrics, products, cards, terms } = catalogue;
  const pricing = '/v1/contract-pricing';
  return [
    get('/v1/billable-metrics?limit=100&include_archived=true'),
    ...Object.values(metrics).map((id) => get(`/v1/billable-metrics/${id}`)),
    get('/v1/credit-types/list?limit=100'),
    post('/v1/customFields/listKeys'),
    post('/v1/listConfiguredBillingProviders'),
    post(`${pricing}/products/list?limit=100`, { archive_filter: 'ALL' }),
    ...Object.values(products).map((id) => post(`${pricing}/products/get`, { id })),
    post(`${pricing}/rate-cards/list?limit=100`),
    ...Object.values(cards).map((id) => post(`${pricing}/rate-cards/get`, { id })),
    ...[...Object.values(cards), terms.card].flatMap((rate_card_id) => [
      post(`${pricing}/rate-cards/getRates`, { rate_card_id, at: READING }),
      post(`${pricing}/rate-cards/getRateSchedule`, { rate_card_id, starting_at: '2026-01-01T00:00:00Z' }),
    ]),
    post('/v1/packages/list?limit=100', { archive_filter: 'ALL' }),
    ...[packages.everything, packages.small, packages.retired].flatMap((package_id) => [
      post('/v1/packages/get', { package_id }),
      post('/v1/packages/listContractsOnPackage?limit=100', { package_id, include_archived: true }),
    ]),
  ];
}

function contractReads({ contracts, packages }: Story): FrozenRequest[] {
  const { retiredBillingConfiguration: _, ...references } = contracts;
  const all = [...Object.values(references), packages.contract];
  const options = { include_balance: true, include_ledgers: true };
  const customers = [...new Set(all.map(({ customerId }) => customerId))];
  return [
    ...all.flatMap(({ customerId, contractId }) => {
      const reference = { customer_id: customerId, contract_id: contractId };
      return [
        post('/v1/contracts/get', { ...reference, ...options }),
        post('/v2/contracts/get', { ...reference, ...options }),
        post('/v2/contracts/get', { ...reference, as_of_date: '2026-11-01T00:00:00Z' }),
        post('/v2/contracts/getEditHistory', reference),
        post('/v1/contracts/getContractRateSchedule', { ...reference, at: READING }),
      ];
    }),
    ...customers.flatMap((customer_id) => [
      post('/v1/contracts/list', { customer_id, include_archived: true }),
      post('/v2/contracts/list', { customer_id, include_archived: true }),
    ]),
  ];
}

function subscriptionReads({ customerId, contractId, id, hasSeats }: FrozenSubscription): FrozenRequest[] {
  const reference = { customer_id: customerId, contract_id: contractId, subscription_id: id };
  return [
    post('/v1/contracts/getSubscriptionQuantityHistory', reference),
    ...(hasSeats ? [post('/v1/contracts/getSubscriptionSeatsHistory', reference)] : []),
  ];
}

function customerReads(customer: string, invoiceIds: readonly string[]): FrozenRequest[] {
  const of = `/v1/customers/${customer}`;
  return [
    get(of),
    get(`${of}/billable-metrics?limit=100&include_archived=true`),
    get(`${of}/billable-metrics?limit=100&on_current_plan=true`),
    post('/v1/getCustomerBillingProviderConfigurations', { customer_id: customer, include_archived: true }),
    get(`${of}/invoices?limit=100`),
    get(`${of}/invoices?limit=100&status=VOID`),
    ...invoiceIds.map((id) => get(`${of}/invoices/${id}`)),
    ...MONTHS.map((month) => get(`${of}/invoices/breakdowns?${month}&skip_zero_qty_line_items=true`)),
    get(`${of}/invoices/breakdowns?window_size=HOUR&${ONE_DAY}`),
    ...balanceReads(customer),
  ];
}

function balanceReads(customer_id: string): FrozenRequest[] {
  const options = { include_balance: true, include_ledgers: true, include_archived: true };
  const lists = '/v1/contracts';
  return [
    post(`${lists}/customerCommits/list`, { customer_id, ...options, include_contract_commits: true }),
    post(`${lists}/customerCredits/list`, { customer_id, ...options, include_contract_credits: true }),
    post(`${lists}/customerBalances/list`, { customer_id, ...options, include_contract_balances: true }),
    post(`${lists}/customerBalances/getNetBalance`, { customer_id }),
    post(`${lists}/customerBalances/getNetBalance`, { customer_id, invoice_inclusion_mode: 'FINALIZED' }),
    get(`/v1/customers/${customer_id}/drawdownOrder`),
  ];
}

/** Reads of the customer whose usage is invoiced; the proofs of all numbers are long. */
function billedReads(
  customer_id: string,
  invoiceIds: ReadonlyMap<string, readonly string[]>,
): FrozenRequest[] {
  const of = `/v1/customers/${customer_id}`;
  return [
    get('/v1/invoices?limit=100'),
    get(`${of}/costs?limit=100&${MONTHS[0]}`),
    post(`${of}/invoices/spend-breakdowns`, { ...months, group_key: ['model'] }),
    ...(invoiceIds.get(customer_id) ?? []).map((id) => get(`${of}/invoices/${id}/explain?limit=5`)),
    post('/v1/invoices/reconcile', { ...months, customer_id }),
  ];
}

function usageReads({ catalogue, contracts }: Story): FrozenRequest[] {
  const { metrics } = catalogue;
  const customer_id = contracts.usage.customerId;
  const grouped = (metric: string, question: object) =>
    post('/v1/usage/groups?limit=100', { customer_id, billable_metric_id: metric, ...question });
  return [
    get('/v1/customers?limit=100'),
    get('/v1/customers?limit=100&only_archived=true'),
    get('/v1/customers?limit=100&ingest_alias=everything-2'),
    post('/v1/usage', {
      window_size: 'NONE',
      ...months,
      customer_ids: [customer_id, contracts.everything.customerId, contracts.weekly.customerId],
    }),
    ...Object.values(metrics).map((metric) => grouped(metric, { window_size: 'NONE', ...months })),
    grouped(metrics.tokens, { window_size: 'DAY', ...months, group_key: ['model', 'region'] }),
    grouped(metrics.users, { window_size: 'NONE', current_period: true, group_by: { key: 'model' } }),
    post('/v1/billable-metrics/preview', {
      sql: 'SELECT SUM(properties.amount) AS value FROM events',
      customer_id,
      window_size: 'NONE',
      ...months,
    }),
    post('/v1/events/search', { transactionIds: SEARCHED_IDS, include_unmatched: true }),
  ];
}
