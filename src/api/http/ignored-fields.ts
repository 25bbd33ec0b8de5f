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
const CONTRACT = [NETSUITE, SALESFORCE, 'total_contract_value'];
const TERMS = ['commits', 'credits', 'discounts', 'professional_services', 'scheduled_charges'];
const RECURRING = ['recurring_commits', 'recurring_credits'];
const COMMIT = ['commits.amount', `commits.${ACCESS_TYPE}`, `credits.${ACCESS_TYPE}`];
const THRESHOLD_COMMIT = ['add', 'update'].flatMap((verb) =>
  ['duration', 'rate_type', 'rollover_fraction'].map(
    (name) => `${verb}_prepaid_balance_threshold_configuration.commit.${name}`,
  ),
);

export const IGNORED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  createProduct: PRODUCT,
  updateProduct: PRODUCT,
  createContract: [...CONTRACT, ...orderIds([...TERMS, ...RECURRING]), ...COMMIT],
  amendContract: [...CONTRACT, ...orderIds(TERMS), ...COMMIT],
  editContract: [
    ...orderIds([...TERMS, ...RECURRING].map((group) => `add_${group}`)),
    ...orderIds(['update_commits', 'update_credits', 'update_scheduled_charges']),
    ...COMMIT.map((path) => `add_${path}`),
    'add_subscriptions.payment_gate_config',
    ...THRESHOLD_COMMIT,
  ],
  createCustomerCommit: [NETSUITE, SALESFORCE, ACCESS_TYPE],
  createCustomerCredit: [NETSUITE, SALESFORCE, ACCESS_TYPE],
  scheduleProServicesInvoice: [
    'netsuite_invoice_header_start',
    'netsuite_invoice_header_end',
    'line_items.netsuite_invoice_billing_start',
    'line_items.netsuite_invoice_billing_end',
  ],
};
