/**
 * The permission that each operation needs, by `operationId`: one table for the API, its document and the roles.
 *
 * An operation without a row here needs `settings:read` or `settings:write`, which of the roles only `admin` has in
 * full, until somebody decides (`test/unit/api/http/permissions.test.ts` refuses it).
 */
import type { Permission } from '../../core/permissions.ts';
import type { RouteFacts } from './route.ts';

/** Operations that need a token or a session only: they concern the caller, or check by themselves what they show of others. */
const OF_ANY_CALLER: readonly string[] = ['listSessions', 'endSession'];

const TABLE: Partial<Readonly<Record<Permission, readonly string[]>>> = {
  'customers:read': [
    ...[
      'listCustomers',
      'getCustomer',
      'getCustomerNamedSchedule',
      'listCustomFieldKeys',
      'getBillingConfig',
    ],
    ...['getCustomerBillingProviderConfigurations'],
  ],
  'customers:write': [
    ...['createCustomer', 'archiveCustomer', 'eraseCustomer', 'setIngestAliases', 'setCustomerName'],
    ...[
      'updateCustomerConfig',
      'updateCustomerNamedSchedule',
      'setCustomFieldValues',
      'deleteCustomFieldValues',
    ],
    ...['setBillingConfig', 'deleteBillingConfig', 'setCustomerBillingProviderConfigurations'],
    ...['archiveCustomerBillingProviderConfigurations', 'setBillableStatus'],
  ],
  'metrics:read': [
    ...['getSqlReference', 'getBillableMetric', 'listBillableMetrics', 'listCustomerBillableMetrics'],
    ...['previewBillableMetric'],
  ],
  'metrics:write': ['createBillableMetric', 'renameBillableMetric', 'archiveBillableMetric'],
  'events:read': [
    ...[
      'listUsage',
      'listUsageGroups',
      'searchEvents',
      'listUnmatchedEvents',
      'listMissingEvents',
      'getEventBilling',
      'listEvents',
    ],
    ...['listEventCorrections', 'getEventCorrection'],
    ...['countEventsByDay', 'listEventTypes', 'getSystemStatus', 'getSandboxClock'],
  ],
  'events:write': [
    ...['createEventCorrection', 'addToEventCorrection', 'applyEventCorrection', 'revertEventCorrection'],
    ...['dropEventCorrection'],
  ],
  'sql:read': ['querySql', 'listSavedQueries'],
  'sql:write': ['saveQuery', 'deleteSavedQuery'],
  'prices:read': [
    ...[
      'listPricingUnits',
      'getProduct',
      'listProducts',
      'getRateCard',
      'listRateCards',
      'listPendingRepricing',
    ],
    ...['getRates', 'getRateSchedule', 'listTokenMargins', 'listUnpricedTokens', 'getRateCardNamedSchedule'],
    ...['listPlans', 'getPackage', 'listPackages'],
  ],
  'prices:write': [
    ...['createPricingUnit', 'createProduct', 'updateProduct', 'archiveProduct', 'createRateCard'],
    ...['updateRateCard', 'archiveRateCard', 'setRateCardProductsOrder', 'moveRateCardProducts', 'addRate'],
    ...['addRates', 'updateRateCardNamedSchedule', 'createPackage', 'archivePackage'],
  ],
  'contracts:read': [
    ...['listContractsOnPackage', 'getContract', 'listContracts', 'getContractV2', 'listContractsV2'],
    ...[
      'getContractEditHistory',
      'getContractRateSchedule',
      'getSubscriptionQuantityHistory',
      'listCustomerPlans',
    ],
    ...['getSubscriptionSeatsHistory', 'getContractNamedSchedule', 'previewEvents', 'previewInvoices'],
  ],
  'contracts:write': [
    ...[
      'createContract',
      'updateContractEndDate',
      'setContractUsageFilter',
      'archiveContract',
      'editContract',
    ],
    ...['amendContract', 'updateContractNamedSchedule'],
  ],
  'balances:read': [
    ...[
      'listCustomerCommits',
      'listCustomerCredits',
      'listCustomerBalances',
      'getNetBalance',
      'getDrawdownOrder',
    ],
    ...['listSeatBalances', 'listCreditGrants', 'listCreditEntries'],
  ],
  'balances:write': [
    ...['createCustomerCommit', 'createCustomerCredit', 'updateCommitEndDate', 'updateCreditEndDate'],
    ...['editCommit', 'editCredit', 'archiveCommit', 'archiveCredit', 'disableCommitTrueup', 'releaseCommit'],
    ...['addManualBalanceLedgerEntry'],
  ],
  'invoices:read': [
    ...['listInvoices', 'listInvoiceBreakdowns', 'getInvoice', 'listIssuedInvoices', 'countIssuedInvoices'],
    ...['sumIssuedInvoices', 'readAgeing'],
    ...['listCosts', 'listRevenue', 'listLateUsage', 'readMonthEnd', 'listSpendBreakdowns', 'getInvoicePdf'],
    ...['explainInvoice', 'readInvoiceChange', 'reconcileInvoices', 'getEmbeddableDashboardUrl'],
    ...['listCreditNotes', 'getCreditNote', 'previewCreditNote', 'readCreditable'],
  ],
  'invoices:write': [
    ...[
      'voidInvoice',
      'collectInvoice',
      'regenerateInvoice',
      'reportRefund',
      'scheduleProServicesInvoice',
      'updateInvoiceIssueDate',
    ],
    ...['addChargeToInvoice', 'createHistoricalInvoices', 'updateExternalInvoice'],
    ...['createCreditNote', 'voidCreditNote'],
  ],
  'deliveries:read': ['listConfiguredBillingProviders', 'listStripeAccounts', 'reconcileProviders'],
  'deliveries:write': ['deliverInvoices', 'redeliverWebhookMessages'],
  'alerts:read': [
    ...['getCustomerAlert', 'listCustomerAlerts', 'listSystemNotifications', 'getOffsetNotification'],
    ...['listOffsetNotifications'],
  ],
  'alerts:write': [
    ...['createAlert', 'archiveAlert', 'resetCustomerAlert', 'editNotification', 'createOffsetNotification'],
    ...['archiveOffsetNotification'],
  ],
  'holds:read': ['listHolds'],
  'holds:write': ['reserveHolds', 'settleHolds', 'releaseHolds', 'extendHolds', 'checkUsage'],
  'ingest:write': [
    ...['ingest', 'ingestSpans', 'ingestSpansOfEndpoint', 'ingestCloudEvents', 'ingestOpenMeterEvents'],
  ],
  'webhooks:read': ['listWebhooks', 'getWebhook', 'listWebhookDeliveries'],
  'webhooks:write': ['createWebhook', 'archiveWebhook', 'rotateWebhookSecret', 'testWebhook'],
  'tokens:read': ['listTokens'],
  'tokens:write': ['createToken', 'revokeToken', 'rotateToken'],
  'people:read': ['listRoles', 'listPeople'],
  'people:write': [
    ...[
      'createRole',
      'archiveRole',
      'invitePerson',
      'setRoleOfPerson',
      'disablePerson',
      'resetPerson',
      'erasePerson',
    ],
  ],
  'settings:read': ['listAuditLogs', 'listFailedJobs', 'listServices'],
  'settings:write': [
    ...['setUpBillingProvider', 'createStripeAccount', 'archiveStripeAccount', 'addCustomFieldKey'],
    ...['removeCustomFieldKey', 'retryJob', 'moveSandboxClock'],
  ],
};

const BY_OPERATION: ReadonlyMap<string, Permission> = new Map(
  Object.entries(TABLE).flatMap(([permission, operations]) =>
    operations.map((operation) => [operation, permission as Permission] as const),
  ),
);

const UNDECIDED = { read: 'settings:read', write: 'settings:write', ingest: 'ingest:write' } as const;

/** Operations with a row of the table; for the tests. */
export const DECIDED_OPERATIONS: ReadonlySet<string> = new Set([...BY_OPERATION.keys(), ...OF_ANY_CALLER]);

/** The permission that an operation needs; null for a public one, and for one that every token may call. */
export function permissionOf({
  operationId,
  scope,
}: Pick<RouteFacts, 'operationId' | 'scope'>): Permission | null {
  if (scope === 'public' || OF_ANY_CALLER.includes(operationId)) return null;
  return BY_OPERATION.get(operationId) ?? UNDECIDED[scope];
}
