/** Spend by properties of events as CSV: one row per line and group (docs/reference/exports.md). */
import { type CsvColumn, csvTable } from '../../http/csv.ts';
import type { SpendWire } from './spend-schemas.ts';

type LineWire = SpendWire['line_items'][number];

interface SpendRow {
  readonly invoice: SpendWire;
  readonly line: LineWire;
  readonly group: LineWire['groups'][number];
}

const COLUMNS: readonly CsvColumn<SpendRow>[] = [
  { name: 'invoice_id', description: 'Id of the invoice.', value: ({ invoice }) => invoice.id },
  { name: 'contract_id', description: 'Id of the contract.', value: ({ invoice }) => invoice.contract_id },
  {
    name: 'invoice_status',
    description: '`DRAFT`, `FINALIZED` or `VOID`.',
    value: ({ invoice }) => invoice.status,
  },
  {
    name: 'window_start',
    description: 'Start of the day or of the invoice.',
    value: ({ invoice }) => invoice.breakdown_start_timestamp,
  },
  {
    name: 'window_end',
    description: 'Its end, exclusive.',
    value: ({ invoice }) => invoice.breakdown_end_timestamp,
  },
  { name: 'line_id', description: 'Id of the line.', value: ({ line }) => line.id },
  { name: 'line_name', description: 'Name of the line.', value: ({ line }) => line.name },
  { name: 'product_id', description: 'Empty for conversions.', value: ({ line }) => line.product_id },
  {
    name: 'spend_group',
    description:
      'JSON of the values by property, null for events without it; empty for spend without events.',
    value: ({ group }) => group.group,
  },
  { name: 'quantity', description: 'Exact.', value: ({ group }) => group.quantity },
  { name: 'total', description: 'Exact, in `unit`.', value: ({ group }) => group.total },
  {
    name: 'unit',
    description: 'The currency of the invoice, or a custom pricing unit.',
    value: ({ line }) => line.credit_type.name,
  },
  {
    name: 'line_type',
    description:
      '`type` of the line in the API: `usage`, `subscription`, `scheduled`, `commit_purchase` or `cpu_conversion`.',
    value: ({ line }) => line.type,
  },
];

export const spendCsv = csvTable(COLUMNS, (invoice: SpendWire): SpendRow[] =>
  invoice.line_items.flatMap((line) => line.groups.map((group) => ({ invoice, line, group }))),
);
