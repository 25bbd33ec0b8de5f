/** Differences of previewed invoices as CSV: one row per invoice (docs/reference/exports.md). */
import type { z } from 'zod';
import { type CsvColumn, csvTable } from '../../http/csv.ts';
import type { customerDifferenceSchema } from './preview-schemas.ts';

type CustomerWire = z.input<typeof customerDifferenceSchema>;

/** A customer without invoices has one row without an invoice. */
interface Row {
  readonly customerId: string;
  readonly invoice: CustomerWire['invoices'][number] | null;
}

const COLUMNS: readonly CsvColumn<Row>[] = [
  { name: 'customer_id', description: 'Id of the customer.', value: ({ customerId }) => customerId },
  {
    name: 'contract_id',
    description: 'Id of the contract; empty for a customer without invoices in the range.',
    value: ({ invoice }) => invoice?.contract_id,
  },
  {
    name: 'period_start',
    description: 'Start of the billed period, or the date of a scheduled invoice.',
    value: ({ invoice }) => invoice?.start_timestamp,
  },
  {
    name: 'period_end',
    description: 'End of the billed period, exclusive.',
    value: ({ invoice }) => invoice?.end_timestamp,
  },
  {
    name: 'currency',
    description: 'The unit of the totals: `USD (cents)`, `EUR`, …',
    value: ({ invoice }) => invoice?.credit_type.name,
  },
  {
    name: 'current_invoice_id',
    description: 'The draft or the issued invoice; empty if there is none.',
    value: ({ invoice }) => invoice?.current_invoice_id,
  },
  {
    name: 'current_status',
    description: '`DRAFT` or `FINALIZED`.',
    value: ({ invoice }) => invoice?.current_status,
  },
  { name: 'current_total', description: 'Exact.', value: ({ invoice }) => invoice?.current_total },
  {
    name: 'preview_total',
    description: 'Exact; empty if there would be no invoice.',
    value: ({ invoice }) => invoice?.preview_total,
  },
  {
    name: 'preview_warning_count',
    description: 'Entries of `warnings` that the invoice would have.',
    value: ({ invoice }) => invoice?.preview_warning_count,
  },
  {
    name: 'difference',
    description: 'The increase of the billed amount; negative for a decrease.',
    value: ({ invoice }) => invoice?.difference,
  },
];

export const previewDifferencesCsv = csvTable(COLUMNS, ({ customer_id, invoices }: CustomerWire): Row[] =>
  invoices.length === 0
    ? [{ customerId: customer_id, invoice: null }]
    : invoices.map((invoice) => ({ customerId: customer_id, invoice })),
);
