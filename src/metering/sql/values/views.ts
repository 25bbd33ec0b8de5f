/** The views that queries across customers read, column by column (docs/reference/sql.md). */

/** The type of a column. A `number` is an exact decimal of up to 30 places. */
type ViewColumnType = 'text' | 'number' | 'timestamp' | 'boolean';

export interface ViewColumn {
  readonly name: string;
  readonly type: ViewColumnType;
  readonly description: string;
}

const text = (name: string, description: string): ViewColumn => ({ name, type: 'text', description });
const number = (name: string, description: string): ViewColumn => ({ name, type: 'number', description });
const timestamp = (name: string, description: string): ViewColumn => ({
  name,
  type: 'timestamp',
  description,
});

const boolean = (name: string, description: string): ViewColumn => ({ name, type: 'boolean', description });

const CUSTOMER_ID = text('customer_id', 'the customer');
const INVOICE_COLUMNS = [
  text('invoice_id', 'the invoice'),
  CUSTOMER_ID,
  text('contract_id', 'the contract'),
  text('status', '`FINALIZED` or `VOID`; drafts are in `drafts`'),
  text('invoice_status', 'the same, as earlier versions called it'),
] as const;

const VIEWS = {
  events: [
    CUSTOMER_ID,
    text('transaction_id', 'the identity of the event; each has one row'),
    text('event_type', 'as sent'),
    timestamp('timestamp', 'when the usage happened'),
    timestamp('ingested_at', 'when it was acknowledged'),
  ],
  event_repeats: [
    CUSTOMER_ID,
    text('transaction_id', 'the identity of an event that was sent again'),
    text('event_type', 'as sent again'),
    timestamp('timestamp', 'as sent again'),
    timestamp('received_at', 'when it came again'),
  ],
  customers: [
    CUSTOMER_ID,
    text('name', 'its name'),
    timestamp('created_at', 'when it was created'),
    timestamp('archived_at', 'when it was archived; NULL: it is not'),
    text('country', 'the country of its billing address, two letters; NULL without one'),
  ],
  contracts: [
    text('contract_id', 'the contract'),
    CUSTOMER_ID,
    text('name', 'its name, or NULL'),
    text('rate_card_id', 'its rate card, or NULL'),
    timestamp('starting_at', 'its start'),
    timestamp('ending_before', 'its end, exclusive; NULL: open'),
    timestamp('archived_at', 'when it was archived; NULL: it is not'),
  ],
  invoices: [
    ...INVOICE_COLUMNS,
    text('type', '`USAGE` or `SCHEDULED`'),
    timestamp('start_timestamp', 'start of the billing period; NULL for `SCHEDULED`'),
    timestamp('end_timestamp', 'its end, exclusive; NULL for `SCHEDULED`'),
    timestamp('issued_at', 'when it was finalized'),
    timestamp('period_month', 'first instant of the month that it belongs to, as `month` of lists'),
    timestamp('due_at', 'when it is due; NULL without payment terms'),
    timestamp('paid_at', 'when it was paid; NULL until then'),
    text('invoice_number', 'NULL until it is assigned'),
    text('credit_type_id', 'the currency or pricing unit of the total'),
    text('credit_type', 'its name, such as `USD (cents)`'),
    number('total', 'exact: US cents, whole units of all others'),
    text('billing_provider', 'where it is delivered to; NULL: nowhere'),
    text('external_invoice_id', 'its id there; NULL until it is known'),
    text('external_status', '`external_status` of the API'),
    timestamp('external_issued_at', 'when it was finalized there'),
    timestamp('external_paid_at', 'when it was paid'),
    text('external_payment_id', 'the payment there'),
    text('external_pdf_url', 'its PDF there'),
    number('invoiced_sub_total', 'what was invoiced there without tax, in the unit of `total`'),
    number('invoiced_total', 'the same with tax'),
    number('invoiced_tax', 'its tax'),
    number('invoiced_taxable', 'the amount that was taxed'),
    text('tax_transaction_id', 'the transaction of the tax'),
    text('billing_provider_error', 'what the provider has said against it'),
  ],
  invoice_lines: [
    text('line_id', '`id` of the line in the API'),
    ...INVOICE_COLUMNS,
    timestamp('issued_at', 'when the invoice was finalized'),
    number('position', 'place on the invoice, from 0'),
    text('type', '`type` of the line in the API'),
    text('name', 'name of the line'),
    text('product_id', 'NULL for conversions'),
    number('quantity', 'NULL for lines that a balance takes back'),
    number('unit_price', 'likewise'),
    number('total', 'exact, in the unit of `credit_type_id`: US cents, whole units of all others'),
    text('credit_type_id', 'the currency or pricing unit of the line'),
    timestamp('starting_at', 'start of what the line is for'),
    timestamp('ending_before', 'its end, exclusive'),
    text(
      'commit_id',
      'the commit or credit that pays for the line, that it uses, or that it bills; else NULL',
    ),
    text('pricing_group_values', 'JSON object, such as `{"model":"large"}`: read it with `->>`'),
    text('presentation_group_values', 'JSON object'),
    boolean('counts_in_total', 'whether the total of the invoice is a sum over this line'),
  ],
  invoice_hours: [
    text('line_id', 'the line, which is the same in `invoice_lines`'),
    text('invoice_id', 'the invoice'),
    CUSTOMER_ID,
    timestamp('hour', 'start of the hour in UTC'),
    number('quantity', 'quantity of the hour'),
    number('total', 'amount of the hour, exact'),
  ],
  drafts: [
    text('invoice_id', 'the invoice, whose id it keeps'),
    CUSTOMER_ID,
    text('contract_id', 'the contract'),
    text('status', '`DRAFT`'),
    text('type', '`USAGE` or `SCHEDULED`'),
    timestamp('start_timestamp', 'start of the billing period; NULL for `SCHEDULED`'),
    timestamp('end_timestamp', 'its end, exclusive; NULL for `SCHEDULED`'),
    timestamp('issued_at', 'when it is expected to be finalized'),
    timestamp('period_month', 'first instant of the month that it belongs to'),
    timestamp('due_at', 'when it is expected to be due; NULL without payment terms'),
    timestamp('paid_at', 'NULL'),
    text('credit_type_id', 'the currency or pricing unit of the total'),
    text('credit_type', 'its name, such as `USD (cents)`'),
    number('total', 'at present, exact: US cents, whole units of all others'),
    number('warning_count', 'how many warnings it has'),
    number('previous_total', 'of the finalized invoice before it; NULL without one'),
  ],
  balances: [
    text('commit_id', 'the commit or credit'),
    CUSTOMER_ID,
    text('contract_id', 'its contract; NULL where it belongs to the customer'),
    text('type', '`PREPAID`, `POSTPAID` or `CREDIT`'),
    text('credit_type_id', 'what the balance is counted in'),
    number('balance', 'what is left at the time of the request, without what drafts are going to use'),
  ],
  commits: [
    text('commit_id', 'the commit or credit'),
    CUSTOMER_ID,
    text('contract_id', 'its contract; NULL where it belongs to the customer'),
    text('type', '`PREPAID`, `POSTPAID` or `CREDIT`'),
    text('name', 'its name, or NULL'),
    text('product_id', 'its product'),
    text('credit_type_id', 'what it is counted in'),
    number('granted', 'the sum of its access schedule'),
    timestamp('starts', 'start of its first access; NULL without access'),
    timestamp('ends', 'end of its last access, exclusive; NULL without access'),
    number('balance', 'as in `balances`'),
  ],
  ledger: [
    text('commit_id', 'the commit or credit'),
    CUSTOMER_ID,
    number('position', 'place in the ledger of the commit or credit, from 0'),
    timestamp('timestamp', 'when the entry counts'),
    text('type', '`type` of the entry in the API, such as `PREPAID_COMMIT_AUTOMATED_INVOICE_DEDUCTION`'),
    number('amount', 'signed, in the unit of `credit_type_id`'),
    text('credit_type_id', 'what it is counted in'),
    text('segment_id', 'the segment of the access schedule, or NULL'),
    text('invoice_id', 'the invoice, or NULL'),
    text('contract_id', 'the contract of the invoice, or NULL'),
    text('reason', 'of an entry by hand, or NULL'),
  ],
  credit_notes: [
    text('credit_note_id', 'the credit note'),
    CUSTOMER_ID,
    text('contract_id', 'the contract of the invoice'),
    text('invoice_id', 'the invoice'),
    text('number', 'its number'),
    text('status', '`ISSUED` or `VOID`'),
    text('reason', 'as in the API'),
    text('settlement', '`refund`, `credit_balance`, `offset_unpaid`, or NULL'),
    timestamp('issued_at', 'when it was issued'),
    timestamp('voided_at', 'when it was voided; NULL: it is not'),
    text('credit_type_id', 'the currency'),
    text('currency', 'its name, such as `USD (cents)`'),
    number('subtotal', 'the money, net of tax'),
    number('tax', 'the tax on it'),
    number('total', 'both'),
    number('balance_amount', 'the part of its lines that balances paid'),
    number('offset_amount', 'the part of the total that was not paid yet'),
    number('refund_amount', 'the part that is refunded'),
    number('credit_balance_amount', 'the part that became a credit of the customer'),
    text('credit_id', 'that credit, or NULL'),
  ],
  credit_note_lines: [
    text('credit_note_id', 'the credit note'),
    CUSTOMER_ID,
    number('line_number', 'from 1, in the order of the invoice'),
    text('line_item_id', 'the line of the invoice'),
    text('product_id', 'its product; NULL for conversions'),
    text('name', 'its name'),
    timestamp('starting_at', 'start of the line'),
    timestamp('ending_before', 'end of the line, exclusive'),
    number('amount', 'what is taken back of it, net of tax'),
    number('quantity', 'if a quantity was given, else NULL'),
    text('paid_by', '`money` or `balance`'),
    text('commit_id', 'the commit or credit that the line drew on, or NULL'),
    number('balance_amount', 'what goes back to it'),
  ],
  products: [
    text('product_id', 'the product'),
    text('name', 'its name now'),
    text('type', '`USAGE`, `SUBSCRIPTION`, `COMPOSITE`, `FIXED` or `PROFESSIONAL_SERVICE`'),
    text('billable_metric_id', 'its metric now, or NULL'),
    text('tags', 'its tags now, a JSON list'),
    timestamp('created_at', 'when it was created'),
    timestamp('archived_at', 'when it was archived; NULL: it is not'),
  ],
  rate_cards: [
    text('rate_card_id', 'the rate card'),
    text('name', 'its name'),
    text('description', 'or NULL'),
    text('fiat_credit_type_id', 'its currency'),
    timestamp('created_at', 'when it was created'),
    timestamp('archived_at', 'when it was archived; NULL: it is not'),
  ],
  rates: [
    text('rate_id', 'the rate; it has a row for each time in which it is in force'),
    text('rate_card_id', 'its card'),
    text('product_id', 'its product'),
    text('rate_type', '`FLAT`, `TIERED`, `PERCENTAGE`, `TIERED_PERCENTAGE` or `SUBSCRIPTION`'),
    number('price', 'in the unit of `credit_type_id`, a fraction for percentages; NULL with tiers'),
    text('tiers', 'JSON list of `size` and `price` as texts; the last one has no size. NULL without tiers'),
    text('pricing_group_values', 'JSON object, such as `{"model":"large"}`: read it with `->>`'),
    text('billing_frequency', 'of subscriptions; else NULL'),
    boolean('entitled', 'whether the product is included unless a contract says otherwise'),
    text('credit_type_id', 'the currency or pricing unit of the price'),
    timestamp('starting_at', 'from when it is in force'),
    timestamp('ending_before', 'until when, exclusive; NULL: open'),
  ],
  custom_fields: [
    text('entity', 'the kind of the object, such as `customer` or `product`'),
    text('entity_id', 'the object'),
    text('key', 'the key'),
    text('value', 'its value'),
  ],
  provider_prices: [
    text('provider', 'the provider of the model'),
    text('model', '`author/model`'),
    text('kind', 'the kind of tokens, such as `input` or `output`'),
    number('price', 'US cents a token, exact'),
    timestamp('starting_at', 'from when the price is valid'),
  ],
  tables: [text('name', 'the view'), text('description', 'the rows that it has')],
  columns: [
    text('table_name', 'the view'),
    number('position', 'place of the column, from 0'),
    text('name', 'the column'),
    text('type', '`text`, `number`, `timestamp` or `boolean`'),
    text('description', 'its meaning'),
  ],
  holds: [
    text('hold_id', 'the hold'),
    CUSTOMER_ID,
    text('transaction_id', 'the one that its event has or will have'),
    text('status', '`active`, `settled`, `released` or `expired`'),
    text('event_type', 'of the event that was asked for; NULL: an amount is held'),
    timestamp('timestamp', 'when its event happens'),
    number('amount', 'what is held, exact: US cents, whole units of all others'),
    text('credit_type_id', 'what it is counted in'),
    number('settled_amount', 'what its event costs; NULL where there is none, or where that is not known'),
    timestamp('created_at', 'when it was granted'),
    timestamp('expires_at', 'when it ends unless it is settled, released or extended'),
    timestamp('ended_at', 'when it was settled, released, or noticed to be over; else NULL'),
  ],
} as const satisfies Readonly<Record<string, readonly ViewColumn[]>>;

export type ViewName = keyof typeof VIEWS;

export const VIEW_NAMES = Object.keys(VIEWS) as readonly ViewName[];

const DESCRIPTIONS: Readonly<Record<ViewName, string>> = {
  events: 'events of known customers, each once; properties.<name> reads a property',
  event_repeats: 'events that were sent again',
  customers: 'customers, archived ones too',
  contracts: 'contracts, archived ones too',
  invoices: 'issued invoices, voided ones too',
  invoice_lines: 'lines of issued invoices',
  invoice_hours: 'hours of the lines of issued usage invoices',
  drafts: 'drafts, computed for the query',
  balances: 'what is left of commits and credits',
  commits: 'commits and credits with what was granted and what is left',
  ledger: 'entries of the ledgers of commits and credits',
  credit_notes: 'credit notes, voided ones too',
  credit_note_lines: 'lines of credit notes',
  products: 'products as they are now, archived ones too',
  rate_cards: 'rate cards, archived ones too',
  rates: 'prices of rate cards, and when they are in force',
  custom_fields: 'values of custom fields of all objects',
  provider_prices: 'prices of tokens at the providers of models',
  tables: 'the views',
  columns: 'the columns of the views',
  holds: 'holds, active ones and recent ones',
};

/** The rows that a view has, in a phrase. */
export function viewDescription(view: ViewName): string {
  return DESCRIPTIONS[view];
}

export function viewColumns(view: ViewName): readonly ViewColumn[] {
  return VIEWS[view];
}

/** Throws for a name that the grammar does not accept. */
export function viewNamed(name: string): ViewName {
  const view = VIEW_NAMES.find((each) => each === name);
  if (view === undefined) throw new Error(`there is no view ${name}`);
  return view;
}
