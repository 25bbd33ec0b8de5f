/** The forms of contracts, their terms, packages and rate cards. */
import { entriesOf, type FormField, textOf, USD, type Values } from '../../forms/field.ts';
import { CHARGED, edit, KEPT, SPEND_LIMIT_FIELD } from './edit-form.ts';
import { type FormSpec, form } from './forms.ts';
import { isOneOf, OVERRIDE } from './overrides.ts';

const today = (day: string) => day;
const firstOfMonth = (day: string) => `${day.slice(0, 7)}-01`;
const inAYear = (day: string) => {
  const at = new Date(`${day}T00:00:00Z`);
  at.setUTCFullYear(at.getUTCFullYear() + 1);
  return new Date(at.getTime() - 86_400_000).toISOString().slice(0, 10);
};

const PRICE_LIST: readonly FormField[] = [
  { at: 'rate_card_id', label: 'Rate card', isHidden: true },
  {
    at: 'rates',
    label: 'First prices',
    kind: 'list',
    entry: 'price',
    pasted: ['product_id', 'price'],
    fields: [
      {
        at: 'product_id',
        label: 'Product',
        kind: 'product',
        types: ['USAGE', 'SUBSCRIPTION'],
      },
      { at: 'price', label: 'Price', kind: 'money', unitAt: 'credit_type_id' },
      { at: 'starting_at', label: 'In force from', start: firstOfMonth },
      { at: 'billing_frequency', label: 'Billed', hint: 'For subscriptions only.' },
      { at: 'pricing_group_values', label: 'Only for', hint: 'Property and value: model, wren-mini.' },
      { at: 'rate_type', label: 'Type', isHidden: true, start: 'FLAT' },
      { at: 'entitled', label: 'Entitled', isHidden: true, start: true },
    ],
  },
];

export const RATE_CARD: FormSpec<'POST /v1/contract-pricing/rate-cards/create'> = form(
  'POST /v1/contract-pricing/rate-cards/create',
  'Create rate card',
  [
    { at: 'name', label: 'Name', hint: 'Internal: customers never see it.' },
    { at: 'fiat_credit_type_id', label: 'Currency', kind: 'unit', start: USD.id },
    { at: 'description', label: 'Description' },
  ],
  {
    operation: 'POST /v1/contract-pricing/rate-cards/addRates',
    fields: PRICE_LIST,
    known: ({ data }) => ({ rate_card_id: data.id }),
    isWanted: (values) => entriesOf(values, 'rates').length > 0,
  },
);

const hasPackage = (values: Values) => textOf(values, 'package_id') !== '';
const hasNoPackage = (values: Values) => !hasPackage(values);

/** The amount of a credit or a commit, and its time. */
function access(before: string, amount: string): FormField[] {
  const item = `${before}access_schedule.schedule_items[0]`;
  return [
    { at: `${item}.amount`, label: amount, kind: 'money', unitAt: `${before}access_schedule.credit_type_id` },
    { at: `${item}.starting_at`, label: 'From', start: today },
    { at: `${item}.ending_before`, label: 'Last day', kind: 'lastDay', start: inAYear },
  ];
}

/** An amount that is billed at once, and its day. */
function billed(before: string, amount: string, day: string): FormField[] {
  const item = `${before}schedule_items[0]`;
  return [
    { at: `${item}.amount`, label: amount, kind: 'money', unitAt: `${before}credit_type_id` },
    { at: `${item}.timestamp`, label: day, start: today },
  ];
}

const hasPrice = (values: Values) => textOf(values, 'invoice_schedule.schedule_items[0].amount') !== '';

const COMMIT: readonly FormField[] = [
  { at: 'product_id', ...CHARGED },
  { at: 'type', label: 'Paid', start: 'PREPAID' },
  ...access('', 'Amount'),
  ...billed('invoice_schedule.', 'Price', 'Invoiced on').map((field, index) =>
    index === 0 ? { ...field, hint: 'Empty: it is free.' } : { ...field, isShown: hasPrice },
  ),
];

const isSeated = isOneOf('quantity_management_mode', 'SEAT_BASED');
const hasNoSeats = (values: Values) => !isSeated(values);

const LISTS: readonly FormField[] = [
  {
    at: 'subscriptions',
    label: 'Subscriptions',
    entry: 'subscription',
    fields: [
      { at: 'subscription_rate.product_id', label: 'Product', kind: 'product', types: ['SUBSCRIPTION'] },
      { at: 'subscription_rate.billing_frequency', label: 'Billed', start: 'MONTHLY' },
      { at: 'initial_quantity', label: 'Quantity', start: '1', isShown: hasNoSeats },
      {
        at: 'quantity_management_mode',
        label: 'Counted by',
        hint: 'Seat based: each seat has an id, and may have its own balance. Empty: a quantity.',
      },
      {
        at: 'seat_config.seat_group_key',
        label: 'Property of the seat',
        hint: 'The property of events that has the id of the seat: user_id.',
        isShown: isSeated,
      },
      {
        at: 'seat_config.initial_seat_ids',
        label: 'Seats',
        hint: 'Their ids, one a line.',
        isShown: isSeated,
      },
      { at: 'collection_schedule', label: 'Collected', start: 'ADVANCE' },
      { at: 'proration.is_prorated', label: 'Prorated', start: true },
    ],
  },
  {
    at: 'credits',
    label: 'Credits',
    entry: 'credit',
    fields: [{ at: 'product_id', ...CHARGED }, ...access('', 'Amount')],
  },
  { at: 'commits', label: 'Commits', entry: 'commit', fields: COMMIT },
  {
    at: 'scheduled_charges',
    label: 'Charges',
    entry: 'charge',
    fields: [{ at: 'product_id', ...CHARGED }, ...billed('schedule.', 'Amount', 'Invoiced on')],
  },
  {
    at: 'discounts',
    label: 'Discounts',
    entry: 'discount',
    fields: [{ at: 'product_id', ...CHARGED }, ...billed('schedule.', 'Reduction', 'Invoiced on')],
  },
  { at: 'overrides', label: 'Overrides', entry: 'override', fields: OVERRIDE },
];

const PARENT = 'hierarchy_configuration.parent';
const hasParent = (values: Values) => textOf(values, `${PARENT}.customer_id`) !== '';

const HIERARCHY: readonly FormField[] = [
  {
    at: `${PARENT}.customer_id`,
    label: 'Parent customer',
    kind: 'customer',
    hint: 'Whose contract pays for this one, or shares its balances. Empty: none.',
  },
  {
    at: `${PARENT}.contract_id`,
    label: 'Parent contract',
    kind: 'contract',
    of: `${PARENT}.customer_id`,
    isShown: hasParent,
  },
  { at: 'hierarchy_configuration.payer', label: 'Paid by', isShown: hasParent },
  {
    at: 'hierarchy_configuration.usage_statement_behavior',
    label: 'Statements of usage',
    isShown: hasParent,
  },
];

export const CONTRACT = form('POST /v1/contracts/create', 'Create contract', [
  { at: 'customer_id', label: 'Customer', kind: 'customer' },
  { at: 'starting_at', label: 'First day', start: firstOfMonth },
  {
    at: 'package_id',
    label: 'Package',
    kind: 'package',
    hint: 'It has all terms. Empty: the terms are below.',
  },
  { at: 'name', label: 'Name', isShown: hasNoPackage },
  {
    at: 'rate_card_id',
    label: 'Rate card',
    kind: 'rateCard',
    hint: 'The prices of its usage.',
    isShown: hasNoPackage,
  },
  {
    at: 'ending_before',
    label: 'Last day',
    kind: 'lastDay',
    hint: 'Empty: it has no end.',
    isShown: hasNoPackage,
  },
  { at: 'usage_statement_schedule.frequency', label: 'Invoiced', start: 'MONTHLY', isShown: hasNoPackage },
  { at: 'net_payment_terms_days', label: 'Days to pay', isShown: hasNoPackage },
  {
    at: 'billing_provider_configuration.billing_provider',
    label: 'Collected by',
    hint: 'The billing provider of the customer. Empty: invoices are not delivered.',
    isShown: hasNoPackage,
  },
  {
    at: 'billing_provider_configuration.delivery_method',
    label: 'Delivery',
    start: 'direct_to_billing_provider',
    isShown: (values) =>
      hasNoPackage(values) && textOf(values, 'billing_provider_configuration.billing_provider') !== '',
  },
  { ...SPEND_LIMIT_FIELD, isShown: hasNoPackage },
  ...HIERARCHY.map((field) => ({
    ...field,
    isShown: (values: Values) => hasNoPackage(values) && (field.isShown?.(values) ?? true),
  })),
  ...LISTS.map((list) => ({ ...list, kind: 'list' as const, isShown: hasNoPackage })),
]);

const ON_CUSTOMER: readonly FormField[] = [
  { at: 'customer_id', label: 'Customer', isHidden: true },
  { at: 'contract_id', label: 'Contract', kind: 'contract' },
];

export const CHARGE = edit('Add charge', [
  ...ON_CUSTOMER,
  { at: 'add_scheduled_charges[0].product_id', ...CHARGED },
  { at: 'add_scheduled_charges[0].schedule.credit_type_id', label: 'Currency', kind: 'unit', start: USD.id },
  ...billed('add_scheduled_charges[0].schedule.', 'Amount', 'Invoiced on'),
]);

export const COMMITMENT = edit('Add commit', [
  ...ON_CUSTOMER,
  { at: 'add_commits', label: 'Commit', kind: 'list', entry: 'commit', fields: COMMIT },
]);

export const CREDIT = form('POST /v1/contracts/customerCredits/create', 'Add credit', [
  { at: 'customer_id', label: 'Customer', isHidden: true },
  { at: 'product_id', ...CHARGED },
  { at: 'access_schedule.credit_type_id', label: 'Unit', kind: 'unit', start: USD.id },
  ...access('', 'Amount'),
  { at: 'priority', label: 'Priority', start: '100', hint: 'Lower ones are used first.' },
]);

export const PACKAGE = form('POST /v1/packages/create', 'Create package', [
  { at: 'name', label: 'Name' },
  { at: 'rate_card_id', label: 'Rate card', kind: 'rateCard' },
  { at: 'contract_name', label: 'Name of its contracts', hint: 'Empty: the name of the package.' },
  { at: 'duration.value', label: 'Runs for', hint: 'Empty: its contracts have no end.' },
  {
    at: 'duration.unit',
    label: 'Unit',
    isShown: (values) => textOf(values, 'duration.value') !== '',
    start: 'MONTHS',
  },
  { at: 'usage_statement_schedule.frequency', label: 'Invoiced', start: 'MONTHLY' },
  { at: 'net_payment_terms_days', label: 'Days to pay' },
]);

export const CHANGED_CONTRACT = {
  ...edit('Change contract', [
    { at: 'customer_id', label: 'Customer', isHidden: true },
    { at: 'contract_id', label: 'Contract', isHidden: true },
    { at: 'update_contract_name', label: 'New name', hint: KEPT },
    { at: 'update_contract_end_date', label: 'New last day', kind: 'lastDay', hint: KEPT },
    { at: 'update_net_payment_terms_days', label: 'New days to pay', hint: KEPT },
    ...LISTS.map((list) => ({ ...list, at: `add_${list.at}`, kind: 'list' as const })),
  ]),
  action: 'Save',
};

export const CHANGED_CUSTOMER = {
  ...form(
    'POST /v1/customers/{customer_id}/setName',
    'Change customer',
    [{ at: 'name', label: 'Name', hint: 'As on invoices from now on.' }],
    {
      operation: 'POST /v1/customers/{customer_id}/setIngestAliases',
      fields: [
        {
          at: 'ingest_aliases',
          label: 'Ingest aliases',
          hint: 'The ids that usage events carry for this customer, one a line.',
        },
      ],
      known: () => ({}),
      isWanted: () => true,
    },
  ),
  action: 'Save',
};

export const CHANGED_PRODUCT = {
  ...form('POST /v1/contract-pricing/products/update', 'Change product', [
    { at: 'product_id', label: 'Product', isHidden: true },
    { at: 'starting_at', label: 'From', start: firstOfMonth, hint: 'Drafts follow; issued invoices stay.' },
    { at: 'name', label: 'New name', hint: KEPT },
    { at: 'billable_metric_id', label: 'New metric', kind: 'metric', hint: KEPT },
    { at: 'tags', label: 'New tags', hint: `One a line. ${KEPT}` },
  ]),
  action: 'Save',
};
