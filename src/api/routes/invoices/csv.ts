/** Invoices and breakdowns as CSV: one row per line item (docs/reference/exports.md). */
import type { z } from 'zod';
import { currencyOf, inMajorUnits } from '../../../core/currencies.ts';
import { Decimal } from '../../../core/decimal.ts';
import { assert } from '../../../core/errors.ts';
import { JsonList, stringifyJson } from '../../base/json.ts';
import { type CsvColumn, csvTable } from '../../http/csv.ts';
import type { breakdownSchema, invoiceSchema } from './output.ts';

type InvoiceWire = z.input<typeof invoiceSchema>;
type BreakdownWire = z.input<typeof breakdownSchema>;
type LineWire = BreakdownWire['line_items'][number];

/** A line of an invoice; an invoice without lines has one row without a line, so that none is missing. */
interface InvoiceRow<Invoice> {
  readonly invoice: Invoice;
  readonly line: LineWire | null;
  /** From 1, in the order of the answer. */
  readonly lineNumber: number | null;
}

function rowsOf<Invoice extends Pick<InvoiceWire, 'line_items'>>(invoice: Invoice): InvoiceRow<Invoice>[] {
  const { line_items: listed } = invoice;
  const lines = listed instanceof JsonList ? listed.written() : listed;
  const rows = lines.map((line, index) => ({ invoice, line, lineNumber: index + 1 }));
  return rows.length === 0 ? [{ invoice, line: null, lineNumber: null }] : rows;
}

type HeadWire = Omit<BreakdownWire, 'breakdown_start_timestamp' | 'breakdown_end_timestamp' | 'line_items'>;

const HEAD: readonly CsvColumn<InvoiceRow<HeadWire>>[] = [
  { name: 'invoice_id', description: 'Id of the invoice.', value: ({ invoice }) => invoice.id },
  {
    name: 'invoice_number',
    description: 'Empty for drafts, and for seconds after the invoice is issued.',
    value: ({ invoice }) => invoice.invoice_number,
  },
  { name: 'customer_id', description: 'Id of the customer.', value: ({ invoice }) => invoice.customer_id },
  {
    name: 'customer_name',
    description: 'The current name of the customer.',
    value: ({ invoice }) => invoice.customer_name,
  },
  {
    name: 'customer_external_id',
    description: 'The current first ingest alias of the customer, or its id if there is none.',
    value: ({ invoice }) => invoice.customer_external_id,
  },
  {
    name: 'currency_code',
    description: 'ISO 4217 code of the currency, in whose major unit the columns `…_amount` are.',
    value: ({ invoice }) => currencyOf(invoice.credit_type.id)?.code,
  },
  {
    name: 'unit_price_amount',
    description: 'Exact, in the major unit such as dollars; empty for lines in a custom unit.',
    value: ({ line }) => majorUnits(line?.unit_price, line?.credit_type),
  },
  {
    name: 'line_amount',
    description: 'Exact, in the major unit such as dollars; empty for lines in a custom unit.',
    value: ({ line }) => majorUnits(line?.total, line?.credit_type),
  },
  { name: 'contract_id', description: 'Id of the contract.', value: ({ invoice }) => invoice.contract_id },
  {
    name: 'invoice_type',
    description: '`USAGE`, `SCHEDULED` or `USAGE_CONSOLIDATED`.',
    value: ({ invoice }) => invoice.type,
  },
  {
    name: 'invoice_status',
    description: '`DRAFT`, `FINALIZED` or `VOID`.',
    value: ({ invoice }) => invoice.status,
  },
  {
    name: 'period_start',
    description: 'Start of the billed period; empty for scheduled invoices.',
    value: ({ invoice }) => invoice.start_timestamp,
  },
  {
    name: 'period_end',
    description: 'End of the billed period, exclusive.',
    value: ({ invoice }) => invoice.end_timestamp,
  },
  {
    name: 'issued_at',
    description: 'When it was issued; for a draft, when it is expected to be.',
    value: ({ invoice }) => invoice.issued_at,
  },
  {
    name: 'due_at',
    description: 'Due date; empty without payment terms.',
    value: ({ invoice }) => invoice.due_at,
  },
  {
    name: 'currency',
    description: 'The unit of the total: `USD (cents)`, `EUR`, …',
    value: ({ invoice }) => invoice.credit_type.name,
  },
];

const LINE: readonly CsvColumn<InvoiceRow<HeadWire>>[] = [
  {
    name: 'line_number',
    description: 'From 1, per invoice; empty in the one row of an invoice without lines.',
    value: ({ lineNumber }) => lineNumber,
  },
  {
    name: 'line_id',
    description: 'Id of the line, the same on the invoice and in its windows.',
    value: ({ line }) => line?.id,
  },
  {
    name: 'line_type',
    description: 'As `type` of the line in JSON.',
    value: ({ line }) => line?.type,
  },
  { name: 'line_name', description: 'Name of the line.', value: ({ line }) => line?.name },
  { name: 'product_id', description: 'Empty for conversions.', value: ({ line }) => line?.product_id },
  { name: 'product_type', description: 'Empty for conversions.', value: ({ line }) => line?.product_type },
  { name: 'line_start', description: 'Start of the line’s time.', value: ({ line }) => line?.starting_at },
  {
    name: 'line_end',
    description: 'End of the line’s time, exclusive.',
    value: ({ line }) => line?.ending_before,
  },
  {
    name: 'pricing_group_values',
    description: 'JSON, such as `{"model":"large"}`; empty without values.',
    value: ({ line }) => line?.pricing_group_values,
  },
  {
    name: 'presentation_group_values',
    description: 'JSON; empty without values.',
    value: ({ line }) => line?.presentation_group_values,
  },
  {
    name: 'tier_level',
    description: 'From 1; empty for lines without tiers.',
    value: ({ line }) => line?.tier?.level,
  },
  {
    name: 'tier_starting_at',
    description: 'Lower bound of the tier, exclusive.',
    value: ({ line }) => line?.tier?.starting_at,
  },
  {
    name: 'tier_size',
    description: 'Units the tier holds; empty for the last tier.',
    value: ({ line }) => line?.tier?.size,
  },
  {
    name: 'commit_id',
    description: 'The commit or credit that pays for the line, or that the line purchases.',
    value: ({ line }) => line?.commit_id,
  },
  {
    name: 'commit_segment_id',
    description: 'The segment of the access schedule, for lines that it pays.',
    value: ({ line }) => line?.commit_segment_id,
  },
  {
    name: 'commit_type',
    description: '`PrepaidCommit` or `PostpaidCommit`, for lines that it pays.',
    value: ({ line }) => line?.commit_type,
  },
  { name: 'quantity', description: 'Exact; empty for applied lines.', value: ({ line }) => line?.quantity },
  { name: 'unit_price', description: 'Exact, in `line_unit`.', value: ({ line }) => line?.unit_price },
  {
    name: 'list_price',
    description: 'JSON of the rate on the rate card, with `include_list_prices`; else empty.',
    value: ({ line }) => (line?.list_price === undefined ? null : stringifyJson(line.list_price)),
  },
  { name: 'line_total', description: 'Exact, in `line_unit`.', value: ({ line }) => line?.total },
  {
    name: 'line_unit',
    description: 'The currency of the invoice, or a custom pricing unit.',
    value: ({ line }) => line?.credit_type.name,
  },
  {
    name: 'in_total',
    description:
      '`true` if the line is part of the total; lines in a custom unit are not, their conversion is. Nor is what ' +
      'a postpaid commit takes back.',
    value: ({ invoice, line }) =>
      line === null ? null : line.credit_type.id === invoice.credit_type.id && !isPostpaidApplied(line),
  },
];

/** Columns of consolidated invoices, which windows of breakdowns lack. */
const ORIGIN: readonly CsvColumn<InvoiceRow<InvoiceWire>>[] = [
  {
    name: 'origin_customer_id',
    description: 'On a `USAGE_CONSOLIDATED` invoice: the customer of the usage.',
    value: ({ line }) => line?.origin?.customer_id,
  },
  {
    name: 'origin_invoice_id',
    description: 'The invoice of that customer from which the line was copied.',
    value: ({ line }) => line?.origin?.invoice_id,
  },
];

/** The copy at the billing provider, the same on each row of the invoice. */
const EXTERNAL: readonly CsvColumn<InvoiceRow<InvoiceWire>>[] = [
  {
    name: 'billing_provider',
    description: 'The billing provider of the invoice; empty if it is not delivered.',
    value: ({ invoice }) => invoice.external_invoice?.billing_provider_type,
  },
  {
    name: 'external_invoice_id',
    description: 'Its id at the billing provider.',
    value: ({ invoice }) => invoice.external_invoice?.invoice_id,
  },
  {
    name: 'external_status',
    description: 'As `external_status` in JSON.',
    value: ({ invoice }) => invoice.external_invoice?.external_status,
  },
  {
    name: 'external_issued_at',
    description: 'When it was finalized at the billing provider.',
    value: ({ invoice }) => invoice.external_invoice?.issued_at_timestamp,
  },
  {
    name: 'external_paid_at',
    description: 'When it was paid.',
    value: ({ invoice }) => invoice.external_invoice?.paid_at,
  },
  {
    name: 'external_payment_id',
    description: 'The payment there.',
    value: ({ invoice }) => invoice.external_invoice?.external_payment_id,
  },
  {
    name: 'external_pdf_url',
    description: 'Its PDF there.',
    value: ({ invoice }) => invoice.external_invoice?.pdf_url,
  },
  {
    name: 'invoiced_sub_total',
    description: 'The invoiced amount at the provider without tax, in the unit of the total.',
    value: ({ invoice }) => invoice.external_invoice?.invoiced_sub_total,
  },
  {
    name: 'invoiced_total',
    description: 'The invoiced amount with tax.',
    value: ({ invoice }) => invoice.external_invoice?.invoiced_total,
  },
  {
    name: 'invoiced_tax',
    description: 'Its tax.',
    value: ({ invoice }) => invoice.external_invoice?.tax?.total_tax_amount,
  },
  {
    name: 'invoiced_taxable',
    description: 'The taxed amount.',
    value: ({ invoice }) => invoice.external_invoice?.tax?.total_taxable_amount,
  },
  {
    name: 'tax_transaction_id',
    description: 'The id of the tax transaction.',
    value: ({ invoice }) => invoice.external_invoice?.tax?.transaction_id,
  },
  {
    name: 'billing_provider_error',
    description: 'The reason if the billing provider rejected the invoice.',
    value: ({ invoice }) => invoice.external_invoice?.billing_provider_error,
  },
  {
    name: 'refund_due',
    description:
      '`true` if the invoice is voided here, was paid at the provider, and no refund was reported.',
    value: ({ invoice }) => (invoice.external_invoice?.refund_due === true ? 'true' : undefined),
  },
];

/** An exact amount of a currency in its major unit; null in a custom unit, and where there is no amount. */
function majorUnits(amount: unknown, unit: { readonly id: string } | undefined): Decimal | null {
  const currency = unit === undefined ? null : currencyOf(unit.id);
  return currency === null || !(amount instanceof Decimal) ? null : inMajorUnits(amount, currency);
}

function isPostpaidApplied({ type, commit_type }: LineWire): boolean {
  return type === 'applied_commit_or_credit' && commit_type === 'PostpaidCommit';
}

const INVOICE_TOTALS: readonly CsvColumn<InvoiceRow<InvoiceWire>>[] = [
  {
    name: 'total_amount',
    description:
      'Exact total of the invoice in the major unit such as dollars, the same on each of its rows.',
    value: ({ invoice }) => majorUnits(invoice.total, invoice.credit_type),
  },
  {
    name: 'due_amount',
    description:
      'The amount to pay, in the major unit, rounded to the minor unit; repeated on every row of the invoice.',
    value: ({ invoice }) => majorUnits(invoice.payable_amount, invoice.credit_type),
  },
  {
    name: 'invoice_total',
    description: 'Exact total of the invoice, the same on each of its rows.',
    value: ({ invoice }) => invoice.total,
  },
  {
    name: 'payable_amount',
    description: 'The total rounded to the minor unit of the currency, the same on each of its rows.',
    value: ({ invoice }) => invoice.payable_amount,
  },
];

const WINDOW: readonly CsvColumn<InvoiceRow<BreakdownWire>>[] = [
  {
    name: 'window_amount',
    description: 'Exact total of the window in the major unit such as dollars, the same on each of its rows.',
    value: ({ invoice }) => majorUnits(invoice.total, invoice.credit_type),
  },
  {
    name: 'window_start',
    description: 'Start of the hour or day.',
    value: ({ invoice }) => invoice.breakdown_start_timestamp,
  },
  {
    name: 'window_end',
    description: 'End of the hour or day, exclusive.',
    value: ({ invoice }) => invoice.breakdown_end_timestamp,
  },
  {
    name: 'window_total',
    description: 'Exact total of the window, the same on each of its rows.',
    value: ({ invoice }) => invoice.total,
  },
];

/** The columns by name, in the order that is documented as stable: a new one goes to the end. */
function inOrder<Row>(columns: readonly CsvColumn<Row>[], names: readonly string[]): CsvColumn<Row>[] {
  assert(columns.length === names.length, 'every column has its place');
  return names.map((name) => {
    const column = columns.find((each) => each.name === name);
    assert(column !== undefined, `there is a column ${name}`);
    return column;
  });
}

/** The columns that finance reads first: whose invoice, when, and how much. */
const WHOSE = `invoice_number invoice_status invoice_type customer_name customer_external_id`.split(' ');
const WHEN = `issued_at due_at period_start period_end currency_code`.split(' ');
const LINE_FIRST = `line_number line_name quantity unit_price_amount line_amount line_start line_end
  pricing_group_values presentation_group_values`.split(/\s+/);
/** Then the same as the API has it, and ids. */
const LINE_RAW =
  `unit_price line_total line_unit in_total line_type tier_level tier_starting_at tier_size list_price
  product_id product_type commit_id commit_segment_id commit_type line_id`.split(/\s+/);
const IDS = `invoice_id customer_id contract_id`.split(' ');
const ORDER = [
  ...[...WHOSE, ...WHEN, 'total_amount', 'due_amount', ...LINE_FIRST],
  ...['currency', 'invoice_total', 'payable_amount', ...LINE_RAW, ...IDS],
  ...[...ORIGIN, ...EXTERNAL].map(({ name }) => name),
];

const BREAKDOWN_ORDER = [
  ...[...WHOSE, ...WHEN, 'window_start', 'window_end', 'window_amount', ...LINE_FIRST],
  ...['currency', 'window_total', ...LINE_RAW, ...IDS],
];

export const invoicesCsv = csvTable(
  inOrder([...HEAD, ...INVOICE_TOTALS, ...LINE, ...ORIGIN, ...EXTERNAL], ORDER),
  rowsOf<InvoiceWire>,
);

export const breakdownsCsv = csvTable(
  inOrder<InvoiceRow<BreakdownWire>>([...HEAD, ...WINDOW, ...LINE], BREAKDOWN_ORDER),
  rowsOf<BreakdownWire>,
);
