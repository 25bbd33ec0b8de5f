/** Credit notes on the wire, as JSON and as CSV. */
import { z } from 'zod';
import type { PlannedNote } from '../../../billing/invoices/credit-notes/plan-note.ts';
import type { ShownNote } from '../../../billing/invoices/credit-notes/read-notes.ts';
import { BILLING_PROVIDERS } from '../../../core/billing-providers.ts';
import { CREDIT_NOTE_REASONS, type CreditNoteLine, SETTLEMENTS } from '../../../core/credit-note.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { currencyOf } from '../../../core/currencies.ts';
import { ZERO } from '../../../core/decimal.ts';
import { EXTERNAL_NOTE_STATUSES, type ExternalCreditNote } from '../../../core/external-credit-note.ts';
import { formatInstant } from '../../../core/time.ts';
import { type CsvColumn, csvTable } from '../../http/csv.ts';
import { creditType, exactValue, timestamp, uuid } from '../../wire/fields.ts';

const line = z
  .object({
    line_item_id: uuid.meta({ description: 'The line of the invoice.' }),
    product_id: uuid.optional(),
    name: z.string(),
    starting_at: timestamp,
    ending_before: timestamp,
    amount: exactValue.meta({ type: 'number', description: 'Net of tax.' }),
    quantity: exactValue.optional(),
    paid_by: z.enum(['money', 'balance']).meta({
      description:
        '`money`: part of the total of the invoice. `balance`: a commit or credit has paid for it.',
    }),
    commit_id: uuid.optional().meta({ description: 'The commit or credit that the line drew on.' }),
    balance_amount: exactValue
      .optional()
      .meta({ type: 'number', description: 'The amount that goes back to the commit or credit.' }),
  })
  .meta({ id: 'CreditNoteLine' });

const amounts = {
  credit_type: creditType,
  subtotal: exactValue.meta({ type: 'number', description: 'The money, net of tax.' }),
  tax: exactValue,
  total: exactValue,
  balance_amount: exactValue.meta({
    type: 'number',
    description: 'The part of the lines that balances paid.',
  }),
  offset_amount: exactValue.meta({ type: 'number', description: 'The part that was not paid yet.' }),
  refund_amount: exactValue,
  credit_balance_amount: exactValue.meta({ type: 'number', description: 'The amount of the credit.' }),
  lines: z.array(line),
};

const externalNote = z
  .object({
    billing_provider_type: z.enum(BILLING_PROVIDERS),
    external_status: z.enum(EXTERNAL_NOTE_STATUSES).meta({
      description:
        '`QUEUED`: not there yet. `VOID`: voided there. `SKIPPED`: nothing of it belongs there. ' +
        '`INVALID_REQUEST_ERROR`: refused; `billing_provider_error` says why.',
    }),
    credit_note_id: z.string().optional().meta({ description: 'Its id at the provider.' }),
    credit_note_number: z.string().optional(),
    issued_at_timestamp: timestamp.optional(),
    pdf_url: z.string().optional(),
    total: exactValue.optional(),
    tax: exactValue.optional(),
    pre_payment_amount: exactValue
      .optional()
      .meta({ type: 'number', description: 'Deducted from the amount due of the open invoice.' }),
    refund_amount: exactValue.optional(),
    customer_balance_amount: exactValue
      .optional()
      .meta({ type: 'number', description: 'Added to the balance of the customer there.' }),
    out_of_band_amount: exactValue
      .optional()
      .meta({ type: 'number', description: 'Given back outside of the provider, such as by a credit here.' }),
    billing_provider_error: z.string().optional(),
  })
  .meta({ id: 'ExternalCreditNote' });

export const creditNoteSchema = z
  .object({
    id: uuid,
    number: z.string(),
    status: z.enum(['ISSUED', 'VOID']),
    invoice_id: uuid,
    invoice_number: z.string().optional(),
    invoice_issued_at: timestamp,
    customer_id: uuid,
    contract_id: uuid,
    reason: z.enum(CREDIT_NOTE_REASONS),
    memo: z.string().optional(),
    settlement: z.enum(SETTLEMENTS).optional(),
    issued_at: timestamp,
    voided_at: timestamp.optional(),
    credit_id: uuid.optional().meta({ description: 'The credit that `credit_balance` has created.' }),
    uniqueness_key: z.string().optional(),
    created_by: z.string(),
    external_credit_note: externalNote.optional().meta({
      description: 'The note at the provider of its invoice. Absent if it is not delivered.',
    }),
    ...amounts,
  })
  .meta({ id: 'CreditNote' });

export const creditNotePreviewSchema = z
  .object({
    invoice_id: uuid,
    customer_id: uuid,
    contract_id: uuid,
    ...amounts,
    balances: z
      .array(z.object({ commit_id: uuid, segment_id: uuid, amount: exactValue }))
      .meta({ description: 'The changes of commits and credits; negative: access of a credited purchase.' }),
  })
  .meta({ id: 'CreditNotePreview' });

type CreditTypes = ReadonlyMap<string, CreditType>;

function lineToWire({ interval, payer, productId, quantity, givenBack, lineItemId, ...one }: CreditNoteLine) {
  return {
    line_item_id: lineItemId,
    product_id: productId ?? undefined,
    name: one.name,
    starting_at: formatInstant(interval.start),
    ending_before: formatInstant(interval.end),
    amount: one.amount,
    quantity: quantity ?? undefined,
    paid_by: one.paidBy,
    commit_id: payer?.commitId,
    balance_amount: givenBack.eq(ZERO) ? undefined : givenBack,
  };
}

function amountsToWire(
  { subTotal, tax, balanceAmount, settled }: PlannedNote['amounts'],
  lines: readonly CreditNoteLine[],
  unit: CreditType,
) {
  return {
    ...{
      credit_type: unit,
      subtotal: subTotal,
      tax,
      total: subTotal.plus(tax),
      balance_amount: balanceAmount,
    },
    ...{ offset_amount: settled.offset, refund_amount: settled.refund },
    credit_balance_amount: settled.creditBalance,
    lines: lines.map(lineToWire),
  };
}

function externalToWire(external: ExternalCreditNote): z.input<typeof externalNote> {
  const { billingProvider, status, externalId, number, issuedAt, pdfUrl, error } = external;
  return {
    ...{ billing_provider_type: billingProvider, external_status: status },
    ...{ credit_note_id: externalId ?? undefined, credit_note_number: number ?? undefined },
    issued_at_timestamp: issuedAt === null ? undefined : formatInstant(issuedAt),
    ...{ pdf_url: pdfUrl ?? undefined, total: external.total ?? undefined, tax: external.tax ?? undefined },
    pre_payment_amount: external.prePayment ?? undefined,
    refund_amount: external.refund ?? undefined,
    customer_balance_amount: external.customerBalance ?? undefined,
    out_of_band_amount: external.outOfBand ?? undefined,
    billing_provider_error: error ?? undefined,
  };
}

export function creditNoteToWire(
  { note, invoiceNumber, invoiceIssuedAt, external }: ShownNote,
  units: CreditTypes,
): z.input<typeof creditNoteSchema> {
  return {
    ...{ id: note.id, number: note.number, status: note.status, invoice_id: note.invoiceId },
    invoice_number: invoiceNumber ?? undefined,
    invoice_issued_at: formatInstant(invoiceIssuedAt),
    ...{ customer_id: note.customerId, contract_id: note.contractId, reason: note.reason },
    ...{ memo: note.memo ?? undefined, settlement: note.settlement ?? undefined },
    issued_at: formatInstant(note.issuedAt),
    voided_at: note.voidedAt === null ? undefined : formatInstant(note.voidedAt),
    ...{ credit_id: note.creditId ?? undefined, uniqueness_key: note.uniquenessKey ?? undefined },
    created_by: note.createdBy,
    external_credit_note: external === null ? undefined : externalToWire(external),
    ...amountsToWire(note, note.lines, unitOf(note.creditTypeId, units)),
  };
}

export function creditNotePreviewToWire(
  { invoice, lines, amounts: own, entries }: PlannedNote,
  units: CreditTypes,
): z.input<typeof creditNotePreviewSchema> {
  return {
    ...{ invoice_id: invoice.id, customer_id: invoice.customerId, contract_id: invoice.contractId },
    ...amountsToWire(own, lines, unitOf(invoice.creditTypeId, units)),
    balances: entries.map(({ commitId, segmentId, amount }) => ({
      ...{ commit_id: commitId, segment_id: segmentId, amount },
    })),
  };
}

function unitOf(id: string, units: CreditTypes): CreditType {
  const unit = units.get(id);
  if (unit === undefined) throw new Error(`pricing unit ${id} of a credit note exists`);
  return unit;
}

type NoteWire = z.input<typeof creditNoteSchema>;
interface NoteRow {
  readonly note: NoteWire;
  readonly line: NoteWire['lines'][number];
  /** From 1. */
  readonly lineNumber: number;
}

const COLUMNS: readonly CsvColumn<NoteRow>[] = [
  { name: 'credit_note_id', description: 'Id of the credit note.', value: ({ note }) => note.id },
  { name: 'credit_note_number', description: 'Its number.', value: ({ note }) => note.number },
  { name: 'status', description: '`ISSUED` or `VOID`.', value: ({ note }) => note.status },
  { name: 'issued_at', description: 'When it was issued.', value: ({ note }) => note.issued_at },
  { name: 'voided_at', description: 'When it was voided.', value: ({ note }) => note.voided_at },
  { name: 'invoice_id', description: 'Id of the invoice.', value: ({ note }) => note.invoice_id },
  { name: 'invoice_number', description: 'Number of the invoice.', value: ({ note }) => note.invoice_number },
  {
    name: 'invoice_issued_at',
    description: 'Issue date of the invoice.',
    value: ({ note }) => note.invoice_issued_at,
  },
  { name: 'customer_id', description: 'Id of the customer.', value: ({ note }) => note.customer_id },
  { name: 'contract_id', description: 'Id of the contract.', value: ({ note }) => note.contract_id },
  { name: 'reason', description: 'As in JSON.', value: ({ note }) => note.reason },
  {
    name: 'settlement',
    description: 'Empty if no money was to be paid.',
    value: ({ note }) => note.settlement,
  },
  {
    name: 'currency',
    description: 'ISO 4217 code.',
    value: ({ note }) => currencyOf(note.credit_type.id)?.code,
  },
  {
    name: 'unit',
    description: 'The unit of amounts: `USD (cents)`, `EUR`, …',
    value: ({ note }) => note.credit_type.name,
  },
  { name: 'line_number', description: 'From 1, per note.', value: ({ lineNumber }) => lineNumber },
  { name: 'line_item_id', description: 'The line of the invoice.', value: (row) => row.line.line_item_id },
  { name: 'product_id', description: 'Empty for conversions.', value: (row) => row.line.product_id },
  { name: 'line_name', description: 'Name of the line.', value: (row) => row.line.name },
  { name: 'quantity', description: 'Empty if an amount was credited.', value: (row) => row.line.quantity },
  { name: 'amount', description: 'Net of tax.', value: (row) => row.line.amount },
  { name: 'paid_by', description: '`money` or `balance`.', value: (row) => row.line.paid_by },
  {
    name: 'commit_id',
    description: 'The balance that the line drew on.',
    value: (row) => row.line.commit_id,
  },
  { name: 'balance_amount', description: 'What goes back to it.', value: (row) => row.line.balance_amount },
  {
    name: 'note_subtotal',
    description: 'The money of the note, net of tax.',
    value: ({ note }) => note.subtotal,
  },
  { name: 'note_tax', description: 'The tax of the note.', value: ({ note }) => note.tax },
  { name: 'note_total', description: 'The money of the note.', value: ({ note }) => note.total },
];

/** One row for each line. */
export const creditNotesCsv = csvTable(COLUMNS, (note: NoteWire) =>
  note.lines.map((own, index): NoteRow => ({ note, line: own, lineNumber: index + 1 })),
);
