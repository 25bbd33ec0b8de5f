/** Operations on seats, issued and imported invoices, balances and alerts, as heavy as their limits let them be. */
import { importBody } from './further-world.ts';
import type { OperationAtLimit } from './operation.ts';
import { MONTH, NOW } from './parts.ts';

const RANGE = { starting_on: MONTH.start, ending_before: MONTH.end } as const;
const IN_MONTH = new URLSearchParams(RANGE);

const OF_SEATS: readonly OperationAtLimit[] = [
  {
    operation: 'listInvoices',
    at: 'seats with a credit each',
    call: ({ get }, { seats: { customer_id } }) => get(`/v1/customers/${customer_id}/invoices?limit=1`),
  },
  {
    operation: 'listSeatBalances',
    at: 'seats with a credit each',
    call: ({ post }, { seats }) => post('/v1/contracts/seatBalances/list', { ...seats, covering_date: NOW }),
  },
];

const invoicesOf = (customer: string) => `/v1/customers/${customer}/invoices`;

const OF_ISSUED: readonly OperationAtLimit[] = [
  {
    operation: 'getInvoice',
    at: 'lines of an issued invoice',
    call: ({ get }, { issued }) => get(`${invoicesOf(issued.customer_id)}/${issued.invoice_id}`),
  },
  {
    operation: 'listInvoices',
    at: 'lines of an issued invoice',
    call: ({ get }, { issued }) => get(`${invoicesOf(issued.customer_id)}?status=FINALIZED&limit=1`),
  },
  {
    operation: 'listIssuedInvoices',
    at: 'lines of an issued invoice',
    call: ({ get }, { issued }) => get(`/v1/invoices?customer_id=${issued.customer_id}&limit=1`),
  },
  {
    operation: 'countIssuedInvoices',
    at: 'invoices of all customers',
    call: ({ get }) => get('/v1/invoices/counts'),
  },
  {
    operation: 'sumIssuedInvoices',
    at: 'invoices of all customers',
    call: ({ get }) => get('/v1/invoices/sums'),
  },
  {
    operation: 'readAgeing',
    at: 'invoices of all customers',
    call: ({ get }) => get('/v1/invoices/ageing'),
  },
  {
    operation: 'getInvoicePdf',
    at: 'lines of an issued invoice',
    call: ({ take }, { issued }) => take(`${invoicesOf(issued.customer_id)}/${issued.invoice_id}/pdf`),
  },
  {
    operation: 'readInvoiceChange',
    at: 'lines of an issued invoice',
    call: ({ get }, { issued }) => get(`${invoicesOf(issued.customer_id)}/${issued.invoice_id}/change`),
  },
  {
    operation: 'readCreditable',
    at: 'lines of an issued invoice',
    call: ({ get }, { issued }) => get(`${invoicesOf(issued.customer_id)}/${issued.invoice_id}/creditable`),
  },
  {
    operation: 'explainInvoice',
    at: 'lines of an issued invoice, a page of 100',
    call: ({ get }, { issued }) =>
      get(`${invoicesOf(issued.customer_id)}/${issued.invoice_id}/explain?limit=100`),
  },
  {
    operation: 'listInvoiceBreakdowns',
    at: 'lines of an issued invoice, by day',
    call: ({ get }, { issued }) =>
      get(`${invoicesOf(issued.customer_id)}/breakdowns?window_size=DAY&limit=35&${IN_MONTH}`),
  },
  {
    operation: 'listRevenue',
    at: 'lines of an issued invoice',
    call: ({ get }, { issued }) => get(`/v1/revenue?customer_id=${issued.customer_id}&${IN_MONTH}`),
  },
  {
    operation: 'readMonthEnd',
    at: 'lines of an issued invoice',
    call: ({ get }) => get(`/v1/month-end/${MONTH.start.slice(0, 7)}`),
  },
  {
    operation: 'listLateUsage',
    at: 'lines of an issued invoice',
    call: ({ get }) => get(`/v1/late-usage?month=${MONTH.start.slice(0, 7)}`),
  },
  {
    operation: 'reconcileInvoices',
    at: 'lines of an issued invoice',
    call: ({ post }, { issued: { customer_id } }) =>
      post('/v1/invoices/reconcile', { ...RANGE, customer_id }),
  },
  {
    operation: 'createHistoricalInvoices',
    at: 'lines of an import, previewed',
    call: ({ post }, world) =>
      post('/v1/contracts/createHistoricalInvoices', {
        ...importBody(world, world.limits),
        preview: true,
      }),
  },
  {
    operation: 'createHistoricalInvoices',
    at: 'lines of an import',
    isDoneOnce: true,
    call: ({ post }, world) =>
      post('/v1/contracts/createHistoricalInvoices', {
        ...importBody(world, world.limits),
        preview: false,
      }),
  },
];

const OF_BALANCES: readonly OperationAtLimit[] = [
  {
    operation: 'getNetBalance',
    at: 'commits of a contract',
    call: ({ post }, { commits: { customer_id } }) =>
      post('/v1/contracts/customerBalances/getNetBalance', { customer_id }),
  },
  {
    operation: 'getDrawdownOrder',
    at: 'commits of a contract',
    call: ({ get }, { commits: { customer_id } }) => get(`/v1/customers/${customer_id}/drawdownOrder`),
  },
  {
    operation: 'listCustomerCommits',
    at: 'commits of a contract with their ledgers',
    call: ({ post }, { commits: { customer_id } }) =>
      post('/v1/contracts/customerCommits/list', {
        ...{ customer_id, include_ledgers: true, include_balance: true, include_contract_commits: true },
      }),
  },
];

const OF_ALERTS: readonly OperationAtLimit[] = [
  {
    operation: 'listCustomerAlerts',
    at: 'alerts of a customer',
    call: ({ post }, { alerts: { customer_id } }) =>
      post('/v1/customer-alerts/list?limit=100', { customer_id }),
  },
  {
    operation: 'getCustomerAlert',
    at: 'alerts of a customer',
    call: ({ post }, { alerts }) => post('/v1/customer-alerts/get', alerts),
  },
  {
    operation: 'createAlert',
    at: 'alerts of a customer',
    isDoneOnce: true,
    call: ({ post }, { alerts: { customer_id } }) =>
      post('/v1/alerts/create', {
        ...{ customer_id, alert_type: 'spend_threshold_reached', name: 'Last', threshold: 1 },
      }),
  },
];

export const FURTHER_OPERATIONS: readonly OperationAtLimit[] = [
  ...OF_SEATS,
  ...OF_ISSUED,
  ...OF_BALANCES,
  ...OF_ALERTS,
];
