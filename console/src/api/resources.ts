/**
 * Which resources each operation reads, and which each change touches: after a change, what read one of these is read
 * again, and nothing else. The key of each query begins with the operation that it asks (`keyOf`).
 */
import type { OperationKey } from './client.ts';

type Resource =
  | 'alerts'
  | 'audit'
  | 'balances'
  | 'catalogue'
  | 'contracts'
  | 'customers'
  | 'events'
  | 'fields'
  | 'invoices'
  | 'jobs'
  | 'metrics'
  | 'queries'
  | 'rates'
  | 'tokens'
  | 'usage'
  | 'webhooks';

/** The service itself, and the session: no change of the console touches what they answer. */
const UNTOUCHED = [] as const;
const BILLED = ['invoices', 'usage', 'rates'] as const;

export const READS = {
  'GET /console/session': UNTOUCHED,
  'GET /metrics': UNTOUCHED,
  'GET /openapi.json': UNTOUCHED,
  'GET /readyz': UNTOUCHED,
  'GET /v1/auditLogs': ['audit'],
  'GET /v1/billable-metrics': ['metrics'],
  'GET /v1/billable-metrics/sql-reference': UNTOUCHED,
  'GET /v1/billable-metrics/{billable_metric_id}': ['metrics'],
  'GET /v1/credit-types/list': ['catalogue'],
  'GET /v1/customers': ['customers'],
  'GET /v1/customers/{customer_id}': ['customers'],
  'GET /v1/customers/{customer_id}/billable-metrics': ['metrics', 'rates'],
  'GET /v1/customers/{customer_id}/drawdownOrder': ['balances'],
  'GET /v1/customers/{customer_id}/invoices': BILLED,
  'GET /v1/customers/{customer_id}/invoices/breakdowns': BILLED,
  'GET /v1/customers/{customer_id}/invoices/{invoice_id}': BILLED,
  'GET /v1/customers/{customer_id}/invoices/{invoice_id}/change': BILLED,
  'GET /v1/customers/{customer_id}/invoices/{invoice_id}/creditable': ['invoices'],
  'GET /v1/customers/{customer_id}/invoices/{invoice_id}/explain': BILLED,
  'GET /v1/dashboards/balances': ['balances'],
  'GET /v1/dashboards/invoices': BILLED,
  'GET /v1/dashboards/invoices/{invoice_id}': BILLED,
  'GET /v1/dashboards/metrics': ['metrics'],
  'GET /v1/dashboards/usage': ['usage'],
  'GET /v1/dashboards/view': UNTOUCHED,
  'GET /v1/events': ['events'],
  'GET /v1/events/days': ['events'],
  'GET /v1/events/missing': ['events', 'customers', 'contracts'],
  'GET /v1/events/types': ['events'],
  'GET /v1/events/unmatched': ['events', 'customers'],
  'GET /v1/events/{transaction_id}/billing': ['events', 'metrics', ...BILLED],
  'GET /v1/invoices': BILLED,
  'GET /v1/invoices/counts': ['invoices'],
  'GET /v1/invoices/creditNotes': ['invoices'],
  'GET /v1/late-usage': BILLED,
  'GET /v1/month-end/{month}': BILLED,
  'GET /v1/revenue': BILLED,
  'GET /v1/sql/queries': ['queries'],
  'GET /v1/system/failedJobs': ['jobs'],
  'GET /v1/system/status': ['jobs', 'events'],
  'GET /v1/tokens': ['tokens'],
  'GET /v1/webhooks': ['webhooks'],
  'GET /v1/webhooks/{webhook_id}/deliveries': ['webhooks'],
  'POST /v1/billable-metrics/preview': ['usage'],
  'POST /v1/contract-pricing/products/list': ['catalogue'],
  'POST /v1/contract-pricing/rate-cards/getRateSchedule': ['rates'],
  'POST /v1/contract-pricing/rate-cards/getRates': ['rates'],
  'POST /v1/contract-pricing/rate-cards/list': ['catalogue'],
  'POST /v1/contracts/customerBalances/list': ['balances'],
  'POST /v1/contracts/getContractRateSchedule': ['rates', 'contracts'],
  'POST /v1/contracts/seatBalances/list': ['balances'],
  'POST /v1/customer-alerts/list': ['alerts'],
  'POST /v1/customers/{customer_id}/invoices/spend-breakdowns': BILLED,
  'POST /v1/customFields/listKeys': ['fields'],
  'POST /v1/events/search': ['events', 'metrics'],
  'POST /v1/invoices/creditNotes/preview': UNTOUCHED,
  'POST /v1/invoices/preview': UNTOUCHED,
  'POST /v1/invoices/reconcile': UNTOUCHED,
  'POST /v1/packages/list': ['catalogue'],
  'POST /v1/sql': UNTOUCHED,
  'POST /v1/usage': ['usage'],
  'POST /v1/usage/groups': ['usage'],
  'POST /v2/contracts/list': ['contracts'],
} as const satisfies Readonly<Partial<Record<OperationKey, readonly Resource[]>>>;

export type ReadKey = keyof typeof READS;

/** Changes of invoices take deductions back to balances, and send or void copies at billing providers by jobs. */
const OF_CONTRACTS = ['contracts', 'balances', 'alerts', 'audit', ...BILLED] as const;
const OF_INVOICES = ['invoices', 'balances', 'alerts', 'jobs', 'audit'] as const;

export const CHANGES = {
  'POST /v1/alerts/archive': ['alerts', 'audit'],
  'POST /v1/alerts/create': ['alerts', 'audit'],
  'POST /v1/billable-metrics/create': ['metrics', 'audit'],
  'POST /v1/contract-pricing/products/archive': ['catalogue', 'audit'],
  'POST /v1/contract-pricing/products/create': ['catalogue', 'audit'],
  'POST /v1/contract-pricing/products/update': ['catalogue', 'audit', ...BILLED],
  'POST /v1/contract-pricing/rate-cards/archive': ['catalogue', 'audit'],
  'POST /v1/contract-pricing/rate-cards/create': ['catalogue', 'rates', 'audit'],
  'POST /v1/contract-pricing/rate-cards/addRates': ['rates', 'balances', 'alerts', 'audit'],
  'POST /v1/contracts/archive': OF_CONTRACTS,
  'POST /v1/contracts/create': OF_CONTRACTS,
  'POST /v1/contracts/customerCredits/create': OF_CONTRACTS,
  'POST /v1/customFields/addKey': ['fields', 'audit'],
  'POST /v1/customFields/removeKey': ['fields', 'audit'],
  'POST /v1/customers': ['customers', 'audit'],
  'POST /v1/customers/archive': ['customers', ...OF_CONTRACTS],
  'POST /v1/customers/{customer_id}/setIngestAliases': ['customers', 'events', 'audit', ...BILLED],
  'POST /v1/customers/{customer_id}/setName': ['customers', 'audit', ...BILLED],
  'POST /v1/invoices/collect': ['invoices', 'jobs', 'audit'],
  'POST /v1/invoices/creditNotes/create': OF_INVOICES,
  'POST /v1/invoices/creditNotes/void': OF_INVOICES,
  'POST /v1/invoices/deliver': ['invoices', 'jobs', 'audit'],
  'POST /v1/invoices/refunded': ['invoices', 'audit'],
  'POST /v1/invoices/regenerate': OF_INVOICES,
  'POST /v1/invoices/void': OF_INVOICES,
  'POST /v1/sql/queries/delete': ['queries', 'audit'],
  'POST /v1/sql/queries/save': ['queries', 'audit'],
  'POST /v1/system/retryJob': ['jobs', 'invoices', 'audit'],
  'POST /v1/packages/archive': ['catalogue', 'audit'],
  'POST /v1/packages/create': ['catalogue', 'audit'],
  'POST /v1/tokens/create': ['tokens', 'audit'],
  'POST /v1/tokens/revoke': ['tokens', 'audit'],
  'POST /v1/webhooks/archive': ['webhooks', 'audit'],
  'POST /v1/webhooks/create': ['webhooks', 'audit'],
  'POST /v1/webhooks/redeliver': ['webhooks'],
  'POST /v1/webhooks/test': ['webhooks'],
  'POST /v2/contracts/edit': OF_CONTRACTS,
} as const satisfies Readonly<Partial<Record<OperationKey, readonly Resource[]>>>;

export type ChangeKey = keyof typeof CHANGES;

/** The key of a query: the operation that it asks, then what tells it from others. */
export function keyOf(operation: ReadKey, ...parts: readonly unknown[]): readonly unknown[] {
  return [operation, ...parts];
}

/** Whether the query with this key reads what the change touches. */
export function isTouched([operation]: readonly unknown[], change: ChangeKey): boolean {
  const read: readonly Resource[] = READS[operation as ReadKey] ?? [];
  return CHANGES[change].some((resource) => read.includes(resource));
}
