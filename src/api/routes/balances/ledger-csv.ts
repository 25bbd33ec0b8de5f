/** Ledgers of commits and credits as CSV: one row per entry (docs/reference/exports.md). */
import { z } from 'zod';
import { Decimal } from '../../../core/decimal.ts';
import { type CsvColumn, csvTable } from '../../http/csv.ts';

const exact = z.custom<Decimal>((value) => value instanceof Decimal);

const entryShape = z.object({
  type: z.string(),
  timestamp: z.string(),
  amount: exact,
  segment_id: z.string().optional(),
  invoice_id: z.string().optional(),
  contract_id: z.string().optional(),
  new_contract_id: z.string().optional(),
  reason: z.string().optional(),
});

/** The members of a commit or credit in the JSON answer that the file has; they have no types. */
const balanceShape = z.object({
  id: z.string(),
  type: z.string(),
  name: z.string().optional(),
  product: z.object({ id: z.string() }),
  contract: z.object({ id: z.string() }).optional(),
  access_schedule: z.object({ credit_type: z.object({ name: z.string() }) }),
  balance: exact.optional(),
  ledger: z.array(entryShape).default([]),
});

type BalanceWire = z.output<typeof balanceShape>;
type EntryWire = z.output<typeof entryShape>;

/** A commit or credit without entries has one row without an entry, so that none is missing. */
interface Row {
  readonly balance: BalanceWire;
  readonly entry: EntryWire | null;
}

const COLUMNS: readonly CsvColumn<Row>[] = [
  { name: 'commit_id', description: 'Id of the commit or credit.', value: ({ balance }) => balance.id },
  {
    name: 'commit_type',
    description: '`PREPAID`, `POSTPAID` or `CREDIT`.',
    value: ({ balance }) => balance.type,
  },
  { name: 'commit_name', description: 'Empty without a name.', value: ({ balance }) => balance.name },
  { name: 'product_id', description: 'Its FIXED product.', value: ({ balance }) => balance.product.id },
  {
    name: 'commit_contract_id',
    description: 'Empty for a commit or credit of the customer.',
    value: ({ balance }) => balance.contract?.id,
  },
  {
    name: 'unit',
    description: 'The currency or custom unit of all amounts of the row.',
    value: ({ balance }) => balance.access_schedule.credit_type.name,
  },
  {
    name: 'balance',
    description:
      'The available balance, with `include_balance`; repeated on every row of the commit or credit.',
    value: ({ balance }) => balance.balance,
  },
  {
    name: 'entry_type',
    description: 'As `type` of the entry in JSON; empty without `include_ledgers` or without entries.',
    value: ({ entry }) => entry?.type,
  },
  { name: 'entry_timestamp', description: 'When it counts.', value: ({ entry }) => entry?.timestamp },
  { name: 'entry_amount', description: 'Exact, in `unit`.', value: ({ entry }) => entry?.amount },
  {
    name: 'segment_id',
    description: 'The segment of the access schedule.',
    value: ({ entry }) => entry?.segment_id,
  },
  {
    name: 'entry_invoice_id',
    description: 'The invoice that deducts, returns or bills the amount.',
    value: ({ entry }) => entry?.invoice_id,
  },
  {
    name: 'entry_contract_id',
    description: 'The contract of that invoice.',
    value: ({ entry }) => entry?.contract_id,
  },
  {
    name: 'new_contract_id',
    description: 'The target contract of a rollover.',
    value: ({ entry }) => entry?.new_contract_id,
  },
  { name: 'entry_reason', description: 'The reason of a manual entry.', value: ({ entry }) => entry?.reason },
];

export const ledgerCsv = csvTable(COLUMNS, (item: unknown): Row[] => {
  const balance = balanceShape.parse(item);
  return balance.ledger.length === 0
    ? [{ balance, entry: null }]
    : balance.ledger.map((entry) => ({ balance, entry }));
});
