/** Reads credit notes. */
import type { CreditNote } from '../../../core/credit-note.ts';
import type { Decimal } from '../../../core/decimal.ts';
import { notFound } from '../../../core/errors.ts';
import type { ExternalCreditNote } from '../../../core/external-credit-note.ts';
import type { Invoice } from '../../../core/invoice.ts';
import { cutPage, type Page } from '../../../core/paging.ts';
import { inSnapshot } from '../../../store/base/database.ts';
import { loadExternalNotes } from '../../../store/invoices/credit-note-deliveries.ts';
import {
  type CreditNoteFilter,
  type CreditNotePageRequest,
  findCreditNote,
  listCreditNotes,
  loadCredited,
} from '../../../store/invoices/credit-notes.ts';
import { loadInvoiceNumbers } from '../../../store/invoices/invoice-numbers.ts';
import { loadInvoiceDates } from '../../../store/invoices/invoices.ts';
import type { RowContext } from '../../billing-context.ts';

/** A note with the number and the date of its invoice. */
export interface ShownNote {
  readonly note: CreditNote;
  /** Null: the invoice has none yet. */
  readonly invoiceNumber: string | null;
  readonly invoiceIssuedAt: number;
  /** Its state at the provider of the invoice; null: it is not delivered. */
  readonly external: ExternalCreditNote | null;
}

type Reads = Pick<RowContext, 'db'>;

/** Refuses an unknown note (`not_found`). */
export async function readCreditNote({ db }: Reads, id: string): Promise<ShownNote> {
  return inSnapshot(db, async (tx) => {
    const note = await findCreditNote(tx, id);
    if (note === null) throw notFound('credit note', id);
    const [shown] = await withInvoices(tx, [note]);
    if (shown === undefined) throw notFound('credit note', id);
    return shown;
  });
}

/** A page of them by issue date and id. */
export async function listShownNotes(
  { db }: Reads,
  filter: CreditNoteFilter,
  page: CreditNotePageRequest,
): Promise<Page<ShownNote>> {
  return inSnapshot(db, async (tx) => {
    const found = await listCreditNotes(tx, filter, { ...page, limit: page.limit + 1 });
    const { rows, next } = cutPage(found, page.limit, ({ issuedAt, id }) => ({ at: issuedAt, id }));
    return { rows: await withInvoices(tx, rows), next };
  });
}

async function withInvoices(
  tx: Parameters<typeof loadInvoiceNumbers>[0],
  notes: readonly CreditNote[],
): Promise<ShownNote[]> {
  const ids = [...new Set(notes.map(({ invoiceId }) => invoiceId))];
  const numbers = await loadInvoiceNumbers(tx, ids);
  const dates = await loadInvoiceDates(tx, ids);
  const externals = await loadExternalNotes(
    tx,
    notes.map(({ id }) => id),
  );
  return notes.map((note) => ({
    note,
    invoiceNumber: numbers.get(note.invoiceId) ?? null,
    invoiceIssuedAt: dates.get(note.invoiceId) ?? note.issuedAt,
    external: externals.get(note.id) ?? null,
  }));
}

/** The money that notes take back of invoices; drafts and invoices without standing notes are absent. */
export async function creditedOfInvoices(
  { db }: Reads,
  invoices: readonly Pick<Invoice, 'id' | 'status'>[],
): Promise<Map<string, Decimal>> {
  const issued = invoices.filter(({ status }) => status !== 'DRAFT');
  return loadCredited(db, [...new Set(issued.map(({ id }) => id))]);
}
