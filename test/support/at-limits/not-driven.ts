/**
 * The operations that are not driven at their limits (`operations.ts`), each with the reason. A new operation is in one
 * of both lists (`test/unit/api/operations-at-limits.test.ts`).
 */
export interface NotDriven {
  readonly reason: string;
  /** The test or benchmark that drives them in another way. */
  readonly drivenBy?: string;
  readonly operations: readonly string[];
}

const CANNOT_BE_HEAVY: readonly NotDriven[] = [
  {
    reason: 'Reads or writes a fixed number of rows, whatever is stored, of a size that a request gave them.',
    operations: [
      'reportRefund',
      ...['createEventCorrection', 'dropEventCorrection', 'getEventCorrection'],
      ...['createCreditNote', 'previewCreditNote', 'voidCreditNote', 'listCreditNotes', 'getCreditNote'],
      ...['addCustomFieldKey', 'archiveBillableMetric'],
      ...[
        'archivePackage',
        'archiveProduct',
        'archiveStripeAccount',
        'archiveWebhook',
        'createBillableMetric',
      ],
      ...['createPricingUnit', 'createProduct', 'createStripeAccount', 'createToken', 'createWebhook'],
      ...[
        'deleteBillingConfig',
        'deleteSavedQuery',
        'getBillableMetric',
        'getBillingConfig',
        'getConsoleSession',
      ],
      ...[
        'getCustomer',
        'getDashboardView',
        'getEmbeddableDashboardUrl',
        'getOffsetNotification',
        'getPackage',
      ],
      ...[
        'getProduct',
        'getSandboxClock',
        'getWebhook',
        'renameBillableMetric',

        'retryJob',
      ],
      ...['createRole', 'archiveRole', 'listRoles', 'invitePerson', 'setRoleOfPerson', 'disablePerson'],
      ...['resetPerson', 'erasePerson', 'listPeople', 'listSessions', 'endSession'],
      ...['beginPasskeySignIn', 'beginPasskey', 'registerPasskey'],
      ...['revokeToken', 'rotateToken', 'rotateWebhookSecret', 'saveQuery', 'setBillableStatus'],
      ...[
        'setCustomerName',
        'setUpBillingProvider',
        'signIn',
        'signOut',
        'testWebhook',
        'updateCustomerConfig',
      ],
      ...['updateExternalInvoice', 'updateProduct'],
    ],
  },
  {
    reason: 'A page of at most 100 rows, or a list of at most 50, of a size that a request gave them.',
    operations: [
      'listEventCorrections',
      ...['listAuditLogs', 'listBillableMetrics', 'listConfiguredBillingProviders', 'listContractsOnPackage'],
      ...['listCustomFieldKeys', 'listCustomers', 'listDashboardMetrics', 'listFailedJobs', 'listHolds'],
      ...[
        'listOffsetNotifications',
        'listPackages',
        'listPendingRepricing',
        'listPricingUnits',
        'listProducts',
      ],
      ...[
        'listRateCards',
        'listSavedQueries',
        'listServices',
        'listStripeAccounts',
        'listSystemNotifications',
      ],
      ...['listTokens', 'listWebhookDeliveries', 'listWebhooks'],
      ...['getCustomerBillingProviderConfigurations'],
    ],
  },
  {
    reason: 'Finds and writes the events of a set, at most 100,000 of them, a thousand at a time.',
    operations: ['applyEventCorrection', 'revertEventCorrection'],
  },
  {
    reason: 'Always the same text, or figures that the process keeps.',
    operations: [
      ...['getSqlReference', 'getSystemStatus', 'health', 'metrics', 'openApiDocument', 'readiness'],
      ...['reference', 'referenceText'],
    ],
  },
  {
    reason: 'Nothing can be created of which they would tell: their lists are empty.',
    operations: ['listCreditEntries', 'listCreditGrants', 'listCustomerPlans', 'listPlans'],
  },
  {
    reason: 'Its work is that of its body, which has at most 2 MB.',
    operations: [
      ...[
        'archiveCustomerBillingProviderConfigurations',

        'deleteCustomFieldValues',
      ],
      ...['checkUsage', 'extendHolds', 'ingest', 'ingestCloudEvents', 'ingestOpenMeterEvents'],
      ...['redeliverWebhookMessages', 'releaseHolds', 'reserveHolds', 'searchEvents', 'setBillingConfig'],
      'addToEventCorrection',
      ...[
        'setCustomFieldValues',
        'setCustomerBillingProviderConfigurations',
        'settleHolds',
        'ingestSpans',
        'ingestSpansOfEndpoint',
        'takeStripeEvent',
      ],
    ],
  },
  {
    reason: 'Does for one object what a driven operation does for as many as there may be.',
    operations: [
      ...['addRate', 'createCustomerCommit', 'createCustomerCredit', 'editCommit', 'editCredit'],
      ...['addManualBalanceLedgerEntry', 'archiveCommit', 'archiveCredit', 'disableCommitTrueup'],
      ...['updateCommitEndDate', 'updateCreditEndDate', 'releaseCommit', 'getRateCard', 'archiveRateCard'],
      'addChargeToInvoice',
    ],
  },
  {
    reason: 'Calls the same code as a driven operation, with the same limits.',
    operations: [
      ...['getDashboardInvoice', 'getDashboardInvoicePdf', 'listCustomerCredits', 'getEventBilling'],
      ...['listDashboardBalances', 'listDashboardInvoices', 'listDashboardUsage', 'setIngestAliases'],
      ...['getCustomerNamedSchedule', 'getRateCardNamedSchedule'],
      ...['updateCustomerNamedSchedule', 'updateRateCardNamedSchedule'],
    ],
  },
];

const DRIVEN_ELSEWHERE: readonly NotDriven[] = [
  {
    reason: 'A subscription with 10,000 changes of its seats.',
    drivenBy: 'bench/seats.ts',
    operations: ['getSubscriptionQuantityHistory', 'getSubscriptionSeatsHistory'],
  },
  {
    reason: 'Contracts with 10,000 overrides.',
    drivenBy: 'bench/overrides.ts',
    operations: [
      ...['amendContract', 'archiveContract', 'editContract', 'getContractEditHistory'],
      ...['getContractRateSchedule', 'updateContractEndDate', 'createPackage'],
    ],
  },
  {
    reason: 'Managed rate cards of 10,000 models.',
    drivenBy: 'bench/token-cards.ts',
    operations: ['createRateCard', 'updateRateCard'],
  },
  {
    reason: 'Invoices of 10,000 customers, which a move of the clock issues.',
    drivenBy: 'bench/finalize.ts',
    operations: ['moveSandboxClock'],
  },
  {
    reason: 'Deliveries of 10,000 invoices.',
    drivenBy: 'bench/delivery.ts',
    operations: ['collectInvoice', 'deliverInvoices', 'reconcileProviders'],
  },
];

export const NOT_DRIVEN: readonly NotDriven[] = [...CANNOT_BE_HEAVY, ...DRIVEN_ELSEWHERE];
