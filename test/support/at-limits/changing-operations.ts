/**
 * Operations that preview, change or end whole objects, as heavy as their limits let them be. They come last: what they
 * void, archive or erase was driven before.
 */
import { namedScheduleValue, servicesBody } from './changing-world.ts';
import type { OperationAtLimit } from './operation.ts';
import { MONTH } from './parts.ts';
import { addRatesBody } from './world.ts';

const RANGE = { starting_on: MONTH.start, ending_before: MONTH.end } as const;
/** Events of one preview. */
const PREVIEWED_EVENTS = 100;

const OF_PREVIEWS: readonly OperationAtLimit[] = [
  {
    operation: 'previewBillableMetric',
    at: 'groups of a metric',
    call: ({ post }, { wide: { customer_id } }) =>
      post('/v1/billable-metrics/preview', {
        ...{ customer_id, window_size: 'NONE', ...RANGE, aggregation_type: 'SUM', aggregation_key: 'tokens' },
        property_filters: ['tokens', 'user'].map((name) => ({ name, exists: true })),
        ...{ group_keys: [['user']], group_key: ['user'] },
      }),
  },
  {
    operation: 'previewEvents',
    at: 'lines of a draft',
    call: ({ post }, { long: { customer_id } }) =>
      post(`/v1/customers/${customer_id}/previewEvents`, {
        mode: 'MERGE',
        events: Array.from({ length: PREVIEWED_EVENTS }, (_, index) => ({
          event_type: 'call',
          properties: { tokens: '1', user: `previewed ${index}` },
        })),
      }),
  },
  {
    operation: 'previewInvoices',
    at: 'lines of a draft, an edit',
    call: ({ post }, { long }) =>
      post('/v1/invoices/preview', {
        edit: { ...long, update_contract_name: 'Long' },
        include_invoices: true,
      }),
  },
  {
    operation: 'previewInvoices',
    at: 'rates of a call',
    call: ({ post }, world) => post('/v1/invoices/preview', { add_rates: addRatesBody(world) }),
  },
];

const OF_MESSAGES: readonly OperationAtLimit[] = [
  {
    operation: 'resetCustomerAlert',
    at: 'alerts of a customer',
    call: ({ post }, { alerts }) => post('/v1/customer-alerts/reset', alerts),
  },
  {
    operation: 'archiveAlert',
    at: 'alerts of a customer',
    isDoneOnce: true,
    call: ({ post }, { alerts: { alert_id } }) => post('/v1/alerts/archive', { id: alert_id }),
  },
  {
    operation: 'createOffsetNotification',
    at: 'contracts that end',
    isDoneOnce: true,
    call: ({ post }) =>
      post('/v2/notifications/create', {
        ...{ name: 'A month before a contract ends', policy: { type: 'contract.end', offset: '-P1M' } },
      }),
  },
  {
    operation: 'archiveOffsetNotification',
    at: 'contracts that end',
    isDoneOnce: true,
    call: ({ post }, { notification: id }) => post('/v2/notifications/archive', { id }),
  },
  {
    operation: 'editNotification',
    at: 'contracts',
    call: ({ post }) =>
      post('/v2/notifications/edit', { is_enabled: true, policy: { type: 'contract.create' } }),
  },
];

const OF_REQUESTED: readonly OperationAtLimit[] = [
  {
    operation: 'scheduleProServicesInvoice',
    at: 'lines of a call',
    call: ({ post }, { services }) =>
      post('/v1/contracts/scheduleProServicesInvoice', servicesBody(services)),
  },
  {
    operation: 'updateInvoiceIssueDate',
    at: 'lines of a scheduled invoice',
    call: ({ post }, { services: { invoice_id } }) =>
      post('/v1/contracts/updateInvoiceIssueDate', { invoice_id, issue_date: '2026-12-15T00:00:00Z' }),
  },
  {
    operation: 'setContractUsageFilter',
    at: 'commits of a contract',
    isDoneOnce: true,
    call: ({ post }, { commits }) =>
      post('/v1/contracts/setUsageFilter', {
        ...{ ...commits, group_key: 'user', group_values: ['user-1'], starting_at: MONTH.end },
      }),
  },
];

const NAMES = { schedule_name: 'team' } as const;

const OF_NAMES: readonly OperationAtLimit[] = [
  {
    operation: 'getContractNamedSchedule',
    at: 'entries of a schedule',
    call: ({ post }, { commits }) => post('/v1/contracts/getNamedSchedule', { ...commits, ...NAMES }),
  },
  {
    operation: 'updateContractNamedSchedule',
    at: 'entries of a schedule',
    call: ({ post }, { commits }) =>
      post('/v1/contracts/updateNamedSchedule', { ...commits, ...NAMES, ...namedScheduleValue(0) }),
  },
  {
    operation: 'removeCustomFieldKey',
    at: 'contracts with a value',
    isDoneOnce: true,
    call: ({ post }) => post('/v1/customFields/removeKey', { entity: 'contract', key: 'team' }),
  },
];

const OF_TOKENS: readonly OperationAtLimit[] = [
  {
    operation: 'listEvents',
    at: 'events of all customers',
    call: ({ get }) => get('/v1/events?limit=100'),
  },
  {
    operation: 'countEventsByDay',
    at: 'events of all customers',
    call: ({ get }) => get('/v1/events/days'),
  },
  {
    operation: 'listEventTypes',
    at: 'events of all customers',
    call: ({ get }) => get('/v1/events/types'),
  },
  {
    operation: 'listUnmatchedEvents',
    at: 'customers with events',
    call: ({ get }) => get('/v1/events/unmatched?limit=100'),
  },
  {
    operation: 'listMissingEvents',
    at: 'customers with contracts',
    call: ({ get }) => get('/v1/events/missing?limit=100'),
  },
  {
    operation: 'listUnpricedTokens',
    at: 'models in use',
    call: ({ get }) => get('/v1/token-billing/unpriced?limit=100'),
  },
  {
    operation: 'listTokenMargins',
    at: 'lines of a draft',
    call: ({ get }, { long: { customer_id } }) =>
      get(`/v1/token-billing/margin?customer_id=${customer_id}&${new URLSearchParams(RANGE)}`),
  },
];

/** Each does away with what the one before has left. */
const OF_ENDS: readonly OperationAtLimit[] = [
  {
    operation: 'voidInvoice',
    at: 'lines of an issued invoice',
    isDoneOnce: true,
    call: ({ post }, { issued: { invoice_id: id } }) => post('/v1/invoices/void', { id }),
  },
  {
    operation: 'regenerateInvoice',
    at: 'lines of an issued invoice',
    isDoneOnce: true,
    call: ({ post }, { issued: { invoice_id: id } }) => post('/v1/invoices/regenerate', { id }),
  },
  {
    operation: 'eraseCustomer',
    at: 'lines of an issued invoice, and events of all of them',
    call: ({ post }, { issued: { customer_id } }) => post(`/v1/customers/${customer_id}/erase`, {}),
  },
  {
    operation: 'archiveCustomer',
    at: 'contracts of a customer',
    isDoneOnce: true,
    call: ({ post }, { contracts: { customer_id: id } }) => post('/v1/customers/archive', { id }),
  },
];

export const CHANGING_OPERATIONS: readonly OperationAtLimit[] = [
  ...OF_PREVIEWS,
  ...OF_TOKENS,
  ...OF_MESSAGES,
  ...OF_REQUESTED,
  ...OF_NAMES,
  ...OF_ENDS,
];
