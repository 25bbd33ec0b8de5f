/** Rows of credit notes for queries across customers. */
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import { creditNotesById } from '../../store/invoices/credit-notes.ts';
import type { ReportPart } from '../../store/sql/report-rows.ts';
import { exact, type RowsPart, time, type ViewSnapshot } from './cells.ts';

/** The notes in the order of their ids, or their lines. */
export async function creditNoteRows(
  { db }: ViewSnapshot,
  view: 'credit_notes' | 'credit_note_lines',
  part: ReportPart,
): Promise<RowsPart> {
  const notes = await creditNotesById(db, part);
  const next = notes.length < part.limit ? null : (notes.at(-1)?.id ?? null);
  if (view === 'credit_note_lines') {
    const rows = notes.flatMap(({ id, customerId, lines }) =>
      lines.map((line, index) => [
        ...[id, customerId, String(index + 1), line.lineItemId, line.productId, line.name],
        ...[time(line.interval.start), time(line.interval.end), exact(line.amount)],
        ...[line.quantity === null ? null : exact(line.quantity), line.paidBy],
        ...[line.payer?.commitId ?? null, exact(line.givenBack)],
      ]),
    );
    return { rows, next };
  }
  const units = await loadCreditTypes(db, [...new Set(notes.map(({ creditTypeId }) => creditTypeId))]);
  const rows = notes.map((note) => [
    ...[note.id, note.customerId, note.contractId, note.invoiceId, note.number, note.status, note.reason],
    ...[note.settlement, time(note.issuedAt), time(note.voidedAt)],
    ...[note.creditTypeId, units.get(note.creditTypeId)?.name ?? null],
    ...[note.subTotal, note.tax, note.subTotal.plus(note.tax), note.balanceAmount].map(exact),
    ...[note.settled.offset, note.settled.refund, note.settled.creditBalance].map(exact),
    note.creditId,
  ]);
  return { rows, next };
}
