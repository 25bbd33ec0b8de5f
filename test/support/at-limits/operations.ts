/** Operations, each as heavy as their limits let a request be. */
import { CHANGING_OPERATIONS } from './changing-operations.ts';
import { FURTHER_OPERATIONS } from './further-operations.ts';
import type { OperationAtLimit } from './operation.ts';
import { MONTH, NOW } from './parts.ts';
import { addRatesBody } from './world.ts';

const RANGE = { starting_on: MONTH.start, ending_before: MONTH.end } as const;
const BREAKDOWNS = new URLSearchParams(RANGE);

function spend(window_size: string): OperationAtLimit['call'] {
  return ({ post }, { wide }) =>
    post(`/v1/customers/${wide.customer_id}/invoices/spend-breakdowns`, {
      ...RANGE,
      group_key: ['user'],
      window_size,
    });
}

/** Reads of a customer that go through all of its contracts. */
const OF_CONTRACTS: readonly OperationAtLimit[] = [
  {
    operation: 'listContracts',
    at: 'contracts of a customer',
    call: ({ post }, { contracts: { customer_id } }) => post('/v1/contracts/list', { customer_id }),
  },
  {
    operation: 'listContractsV2',
    at: 'contracts of a customer',
    call: ({ post }, { contracts: { customer_id } }) => post('/v2/contracts/list', { customer_id }),
  },
  {
    operation: 'listInvoices',
    at: 'drafts of the contracts of a customer',
    call: ({ get }, { contracts: { customer_id } }) => get(`/v1/customers/${customer_id}/invoices?limit=100`),
  },
  {
    operation: 'listInvoiceBreakdowns',
    at: 'days of the contracts of a customer',
    call: ({ get }, { contracts: { customer_id } }) =>
      get(`/v1/customers/${customer_id}/invoices/breakdowns?window_size=DAY&limit=100&${BREAKDOWNS}`),
  },
  {
    operation: 'listInvoiceBreakdowns',
    at: 'hours of the contracts of a customer',
    call: ({ get }, { contracts: { customer_id } }) =>
      get(`/v1/customers/${customer_id}/invoices/breakdowns?window_size=HOUR&limit=100&${BREAKDOWNS}`),
  },
  {
    operation: 'listSpendBreakdowns',
    at: 'days of the contracts of a customer',
    call: ({ post }, { contracts: { customer_id } }) =>
      post(`/v1/customers/${customer_id}/invoices/spend-breakdowns`, {
        ...RANGE,
        group_key: ['user'],
        window_size: 'DAY',
      }),
  },
  {
    operation: 'listCosts',
    at: 'contracts of a customer',
    call: ({ get }, { contracts: { customer_id } }) =>
      get(`/v1/customers/${customer_id}/costs?limit=100&${BREAKDOWNS}`),
  },
  {
    operation: 'listCustomerBalances',
    at: 'contracts of a customer',
    call: ({ post }, { contracts: { customer_id } }) =>
      post('/v1/contracts/customerBalances/list', { customer_id }),
  },
  {
    operation: 'listCustomerBillableMetrics',
    at: 'contracts of a customer',
    call: ({ get }, { contracts: { customer_id } }) =>
      get(`/v1/customers/${customer_id}/billable-metrics?limit=100`),
  },
  {
    operation: 'createContract',
    at: 'contracts of a customer',
    call: ({ post }, { contracts: { customer_id } }) =>
      post('/v1/contracts/create', { customer_id, starting_at: MONTH.start }),
  },
];

const OF_VALUES: readonly OperationAtLimit[] = [
  { operation: 'listSpendBreakdowns', at: 'values, whole invoice', call: spend('NONE') },
  { operation: 'listSpendBreakdowns', at: 'values, by day', call: spend('DAY') },
  {
    operation: 'listUsageGroups',
    at: 'groups',
    call: ({ post }, { wide: { customer_id }, metric }) =>
      post('/v1/usage/groups?limit=100', {
        ...{ customer_id, billable_metric_id: metric, window_size: 'NONE', group_key: ['user'] },
        ...RANGE,
      }),
  },
  {
    operation: 'listUsage',
    at: 'groups of a metric',
    call: ({ post }, { wide: { customer_id }, metric }) =>
      post('/v1/usage', {
        ...{ customer_ids: [customer_id], window_size: 'NONE' },
        ...{ billable_metrics: [{ id: metric, group_by: { key: 'user' } }] },
        ...RANGE,
      }),
  },
  {
    operation: 'querySql',
    at: 'a row for each event',
    call: ({ post }) => post('/v1/sql', { sql: 'SELECT customer_id, timestamp, ingested_at FROM events' }),
  },
];

const OF_LINES: readonly OperationAtLimit[] = [
  {
    operation: 'listInvoices',
    at: 'lines of a draft',
    call: ({ get }, { long: { customer_id } }) => get(`/v1/customers/${customer_id}/invoices?limit=1`),
  },
  {
    operation: 'listInvoiceBreakdowns',
    at: 'lines, by day',
    call: ({ get }, { long: { customer_id } }) =>
      get(`/v1/customers/${customer_id}/invoices/breakdowns?window_size=DAY&limit=35&${BREAKDOWNS}`),
  },
  {
    operation: 'listInvoiceBreakdowns',
    at: 'lines, by hour',
    call: ({ get }, { long: { customer_id } }) =>
      get(`/v1/customers/${customer_id}/invoices/breakdowns?window_size=HOUR&limit=100&${BREAKDOWNS}`),
  },
  {
    operation: 'listSpendBreakdowns',
    at: 'lines and values, by day',
    call: ({ post }, { long: { customer_id } }) =>
      post(`/v1/customers/${customer_id}/invoices/spend-breakdowns`, {
        ...RANGE,
        group_key: ['user'],
        window_size: 'DAY',
      }),
  },
  {
    operation: 'listCosts',
    at: 'lines',
    call: ({ get }, { long: { customer_id } }) =>
      get(`/v1/customers/${customer_id}/costs?limit=35&${BREAKDOWNS}`),
  },
];

const OF_TERMS: readonly OperationAtLimit[] = [
  {
    operation: 'addRates',
    at: 'rates of a call',
    call: ({ post }, world) => post('/v1/contract-pricing/rate-cards/addRates', addRatesBody(world)),
  },
  {
    operation: 'getRates',
    at: 'rates of a card',
    call: ({ post }, { card }) =>
      post('/v1/contract-pricing/rate-cards/getRates?limit=100', { rate_card_id: card, at: NOW }),
  },
  {
    operation: 'getRateSchedule',
    at: 'rates of a card',
    call: ({ post }, { card }) =>
      post('/v1/contract-pricing/rate-cards/getRateSchedule?limit=100', {
        rate_card_id: card,
        starting_at: MONTH.start,
      }),
  },
  {
    operation: 'setRateCardProductsOrder',
    at: 'products of a card',
    call: ({ post }, { card, products }) =>
      post('/v1/contract-pricing/rate-cards/setRateCardProductsOrder', {
        rate_card_id: card,
        product_order: products.toReversed(),
      }),
  },
  {
    operation: 'createCustomer',
    at: 'aliases',
    isDoneOnce: true,
    call: ({ post }, { limits }) =>
      post('/v1/customers', {
        name: 'Aliases',
        ingest_aliases: Array.from({ length: limits.aliases }, (_, index) => `alias ${index}`),
      }),
  },
  {
    operation: 'listCustomerBalances',
    at: 'commits of a contract with their ledgers',
    call: ({ post }, { commits: { customer_id } }) =>
      post('/v1/contracts/customerBalances/list', {
        ...{ customer_id, include_ledgers: true, include_balance: true },
      }),
  },
  {
    operation: 'getContractV2',
    at: 'commits of a contract',
    call: ({ post }, { commits }) =>
      post('/v2/contracts/get', { ...commits, include_balance: true, include_ledgers: true }),
  },
  {
    operation: 'getContract',
    at: 'commits of a contract',
    call: ({ post }, { commits }) =>
      post('/v1/contracts/get', { ...commits, include_balance: true, include_ledgers: true }),
  },
  {
    operation: 'listInvoices',
    at: 'commits of a contract',
    call: ({ get }, { commits: { customer_id } }) => get(`/v1/customers/${customer_id}/invoices?limit=100`),
  },
  {
    operation: 'moveRateCardProducts',
    at: 'products of a card',
    call: ({ post }, { card, products }) =>
      post('/v1/contract-pricing/rate-cards/moveRateCardProducts', {
        rate_card_id: card,
        product_moves: products.map((product_id, position) => ({ product_id, position })),
      }),
  },
];

/** Operations of drafts first, then those that change something. */
export const OPERATIONS_AT_LIMITS: readonly OperationAtLimit[] = [
  ...OF_VALUES,
  ...OF_LINES,
  ...OF_CONTRACTS,
  ...FURTHER_OPERATIONS,
  ...OF_TERMS,
  ...CHANGING_OPERATIONS,
];
