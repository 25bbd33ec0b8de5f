/**
 * Fields of requests about money that the official client knows and this service does not act on, by operation. They
 * are accepted, so that clients keep working, and named in `warnings` of the answer. A field of a list is that of its
 * items. All other unknown fields are refused (`unknown-fields.ts`).
 */

const NETSUITE = 'netsuite_sales_order_id';
const SALESFORCE = 'salesforce_opportunity_id';

const orderIds = (groups: readonly string[]) =>
  groups.flatMap((group) => [`${group}.${NETSUITE}`, `${group}.${SALESFORCE}`]);

const ACCESS_TYPE = 'access_schedule.access_type';

const PRODUCT = ['is_refundable', 'netsuite_internal_item_id', 'netsuite_overage_item_id'];
/** Prices of the type CUSTOM, which alone has it, are refused. */
const CUSTOM_RATE = 'custom_rate';
const OVERWRITE_CUSTOM_RATE = `overrides.overwrite_rate.${CUSTOM_RATE}`;

const CONTRACT = [NETSUITE, SALESFORCE, 'total_contract_value'];
const TERMS = ['commits', 'credits', 'discounts', 'professional_services', 'scheduled_charges'];
const RECURRING = ['recurring_commits', 'recurring_credits'];
const COMMIT = ['commits.amount', `commits.${ACCESS_TYPE}`, `credits.${ACCESS_TYPE}`];
const SPECIFIC_TO_COMMITS = ['access_schedule', 'duration', 'rate_type', 'rollover_fraction', 'type'];
const thresholdCommit = (verb: string) =>
  SPECIFIC_TO_COMMITS.map((name) => `${verb}prepaid_balance_threshold_configuration.commit.${name}`);

/** Fields for resellers and other systems of the customer; none of them changes the bill. */
const OTHER_SYSTEMS = ['reseller_royalties', 'revenue_system_configuration'];

const EDIT = [
  ...orderIds([...TERMS, ...RECURRING].map((group) => `add_${group}`)),
  ...orderIds(['update_commits', 'update_credits', 'update_scheduled_charges']),
  ...COMMIT.map((path) => `add_${path}`),
  `add_${OVERWRITE_CUSTOM_RATE}`,
  'add_subscriptions.payment_gate_config',
  'add_reseller_royalties',
  'update_reseller_royalties',
  'add_revenue_system_configuration_update',
  ...['add_', 'update_'].flatMap(thresholdCommit),
];

export const IGNORED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  createCustomer: ['customer_revenue_system_configurations'],
  createProduct: PRODUCT,
  updateProduct: PRODUCT,
  addRate: ['effective_at', CUSTOM_RATE],
  addRates: ['rates.effective_at', 'effective_at', `rates.${CUSTOM_RATE}`],
  createPackage: [
    'tags',
    'product_tags',
    `commits.${ACCESS_TYPE}`,
    `credits.${ACCESS_TYPE}`,
    OVERWRITE_CUSTOM_RATE,
    ...thresholdCommit(''),
  ],
  createContract: [
    ...CONTRACT,
    ...orderIds([...TERMS, ...RECURRING]),
    ...COMMIT,
    ...OTHER_SYSTEMS,
    OVERWRITE_CUSTOM_RATE,
    'subscriptions.payment_gate_config',
    ...thresholdCommit(''),
  ],
  amendContract: [...CONTRACT, ...orderIds(TERMS), ...COMMIT, OVERWRITE_CUSTOM_RATE, 'reseller_royalties'],
  editContract: EDIT,
  previewInvoices: EDIT.map((path) => `edit.${path}`),
  createCustomerCommit: [NETSUITE, SALESFORCE, ACCESS_TYPE],
  createCustomerCredit: [NETSUITE, SALESFORCE, ACCESS_TYPE],
  createAlert: ['credit_grant_type_filters'],
  scheduleProServicesInvoice: [
    'netsuite_invoice_header_start',
    'netsuite_invoice_header_end',
    'line_items.netsuite_invoice_billing_start',
    'line_items.netsuite_invoice_billing_end',
  ],
};
