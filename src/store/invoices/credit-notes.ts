/** Credit notes, their lines and their numbers. The rules are in billing/invoices/credit-notes. */
import { and, asc, desc, eq, gt, gte, lt, max, or, type SQL, sql } from 'drizzle-orm';
import type { CreditNote, CreditNoteHead, CreditNoteLine, CreditNoteStatus } from '../../core/credit-note.ts';
import type { Decimal } from '../../core/decimal.ts';
import type { ExternalNoteStatus } from '../../core/external-credit-note.ts';
import { groupBy } from '../../core/group-by.ts';
import type { NumberPosition } from '../../core/invoice-number.ts';
import type { PageRequest } from '../../core/paging.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { LOCKS } from '../base/lock-numbers.ts';
import { creditNoteLines, creditNotes } from './credit-notes.tables.ts';

/** Serializes the creation of credit notes until the transaction ends, so that numbers have no gap. */
export async function lockCreditNoteNumbers(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.creditNoteNumbers})`);
}

/** The last used position in the year; 0 without one. */
export async function lastCreditNotePosition(tx: Database | Transaction, year: number): Promise<number> {
  const [row] = await tx
    .select({ last: max(creditNotes.position) })
    .from(creditNotes)
    .where(eq(creditNotes.year, year));
  return row?.last ?? 0;
}

export interface NewCreditNote extends CreditNote {
  readonly place: NumberPosition;
  readonly deliverAfter: Instant;
}

export async function insertCreditNote(tx: Transaction, note: NewCreditNote): Promise<void> {
  const { lines, place, settled, ...head } = note;
  await tx.insert(creditNotes).values({ ...head, ...place, ...settled });
  await insertRows(
    tx,
    creditNoteLines,
    lines.map(({ interval, payer, ...line }, position) => ({
      ...line,
      ...{ creditNoteId: note.id, position },
      ...{ startingAt: interval.start, endingBefore: interval.end },
      payerCommitId: payer?.commitId ?? null,
      payerSegmentId: payer?.segmentId ?? null,
      payerType: payer?.commitType ?? null,
    })),
  );
}

export async function creditNoteWithKey(
  db: Database | Transaction,
  uniquenessKey: string,
): Promise<string | null> {
  const [row] = await db
    .select({ id: creditNotes.id })
    .from(creditNotes)
    .where(eq(creditNotes.uniquenessKey, uniquenessKey));
  return row?.id ?? null;
}

export async function creditNoteWithNumber(tx: Transaction, number: string): Promise<string | null> {
  const [row] = await tx
    .select({ id: creditNotes.id })
    .from(creditNotes)
    .where(eq(creditNotes.number, number));
  return row?.id ?? null;
}

export async function findCreditNote(db: Database | Transaction, id: string): Promise<CreditNote | null> {
  const rows = await db.select().from(creditNotes).where(eq(creditNotes.id, id));
  return (await withNoteLines(db, rows.map(fromRow)))[0] ?? null;
}

/** Voids it. False: it was voided before. */
export async function setCreditNoteVoid(tx: Transaction, id: string, voidedAt: Instant): Promise<boolean> {
  const rows = await tx
    .update(creditNotes)
    .set({ status: 'VOID', voidedAt })
    .where(and(eq(creditNotes.id, id), eq(creditNotes.status, 'ISSUED')))
    .returning({ id: creditNotes.id });
  return rows.length > 0;
}

/** The notes of an invoice that are not voided, in the order of their numbers. */
export async function standingNotes(db: Database | Transaction, invoiceId: string): Promise<CreditNote[]> {
  const rows = await db
    .select()
    .from(creditNotes)
    .where(and(eq(creditNotes.invoiceId, invoiceId), eq(creditNotes.status, 'ISSUED')))
    .orderBy(asc(creditNotes.year), asc(creditNotes.position));
  return withNoteLines(db, rows.map(fromRow));
}

/** The first of these invoices that has a note that is not voided, with its number; null if none has. */
export async function firstCredited(
  db: Database | Transaction,
  invoiceIds: readonly string[],
): Promise<{ readonly invoiceId: string; readonly number: string } | null> {
  if (invoiceIds.length === 0) return null;
  const { invoiceId, number, status } = creditNotes;
  const [row] = await db
    .select({ invoiceId, number })
    .from(creditNotes)
    .where(and(isOneOf(invoiceId, invoiceIds), eq(status, 'ISSUED')))
    .orderBy(asc(invoiceId), asc(number))
    .limit(1);
  return row ?? null;
}

/** By invoice, the money without tax that its notes take back; invoices without standing notes are absent. */
export async function loadCredited(
  db: Database | Transaction,
  invoiceIds: readonly string[],
): Promise<Map<string, Decimal>> {
  if (invoiceIds.length === 0) return new Map();
  const { invoiceId, subTotal, status } = creditNotes;
  const rows = await db
    .select({ invoiceId, credited: sql`sum(${subTotal})`.mapWith(subTotal) })
    .from(creditNotes)
    .where(and(isOneOf(invoiceId, invoiceIds), eq(status, 'ISSUED')))
    .groupBy(invoiceId);
  return new Map(rows.map((row) => [row.invoiceId, row.credited]));
}

export interface CreditNoteFilter {
  readonly invoiceId?: string | undefined;
  readonly customerId?: string | undefined;
  readonly status?: CreditNoteStatus | undefined;
  /** The state at the provider of the invoice. */
  readonly externalStatus?: ExternalNoteStatus | undefined;
  /** Issued in this time. */
  readonly issued?: Interval | undefined;
}

export interface CreditNotePageRequest extends PageRequest {
  readonly order: 'ascending' | 'descending';
}

/** By issue date and id, at most `limit` after `after`. */
export async function listCreditNotes(
  db: Database | Transaction,
  filter: CreditNoteFilter,
  { after, limit, order }: CreditNotePageRequest,
): Promise<CreditNote[]> {
  const direction = order === 'ascending' ? asc : desc;
  const further = order === 'ascending' ? gt : lt;
  const { issuedAt, id } = creditNotes;
  const beyond =
    after === null
      ? undefined
      : or(further(issuedAt, after.at), and(eq(issuedAt, after.at), further(id, after.id)));
  const rows = await db
    .select()
    .from(creditNotes)
    .where(and(...conditions(filter), beyond))
    .orderBy(direction(issuedAt), direction(id))
    .limit(limit);
  return withNoteLines(db, rows.map(fromRow));
}

function conditions({
  invoiceId,
  customerId,
  status,
  externalStatus,
  issued,
}: CreditNoteFilter): (SQL | undefined)[] {
  return [
    invoiceId === undefined ? undefined : eq(creditNotes.invoiceId, invoiceId),
    customerId === undefined ? undefined : eq(creditNotes.customerId, customerId),
    status === undefined ? undefined : eq(creditNotes.status, status),
    externalStatus === undefined ? undefined : isThere(externalStatus),
    issued === undefined
      ? undefined
      : and(gte(creditNotes.issuedAt, issued.start), lt(creditNotes.issuedAt, issued.end)),
  ];
}

function isThere(status: ExternalNoteStatus): SQL {
  return sql`${creditNotes.id} in (select w.credit_note_id from credit_note_deliveries w where w.status = ${status})`;
}

/** In the order of their ids, at most `limit` after `after`; `customerIds` null: of all customers. */
export async function creditNotesById(
  db: Database | Transaction,
  {
    customerIds,
    after,
    limit,
  }: {
    readonly customerIds: readonly string[] | null;
    readonly after: string | null;
    readonly limit: number;
  },
): Promise<CreditNote[]> {
  const rows = await db
    .select()
    .from(creditNotes)
    .where(
      and(
        customerIds === null ? undefined : isOneOf(creditNotes.customerId, customerIds),
        after === null ? undefined : gt(creditNotes.id, after),
      ),
    )
    .orderBy(asc(creditNotes.id))
    .limit(limit);
  return withNoteLines(db, rows.map(fromRow));
}

/** Without its texts, which a client wrote. */
export async function eraseCreditNoteTexts(tx: Transaction, customerId: string): Promise<void> {
  await tx.update(creditNotes).set({ memo: null }).where(eq(creditNotes.customerId, customerId));
}

type NoteRow = typeof creditNotes.$inferSelect;

function fromRow(row: NoteRow): CreditNoteHead {
  const { year: _, position: __, deliverAfter: ___, offset, refund, creditBalance, ...head } = row;
  return { ...head, settled: { offset, refund, creditBalance } };
}

async function withNoteLines(
  db: Database | Transaction,
  heads: readonly CreditNoteHead[],
): Promise<CreditNote[]> {
  if (heads.length === 0) return [];
  const rows = await db
    .select()
    .from(creditNoteLines)
    .where(
      isOneOf(
        creditNoteLines.creditNoteId,
        heads.map(({ id }) => id),
      ),
    )
    .orderBy(asc(creditNoteLines.creditNoteId), asc(creditNoteLines.position));
  const byNote = groupBy(rows, ({ creditNoteId }) => creditNoteId);
  return heads.map((head) => ({ ...head, lines: (byNote.get(head.id) ?? []).map(lineFromRow) }));
}

function lineFromRow(row: typeof creditNoteLines.$inferSelect): CreditNoteLine {
  const { lineItemId, productId, name, amount, quantity, paidBy, givenBack } = row;
  const { payerCommitId: commitId, payerSegmentId: segmentId, payerType: commitType } = row;
  const payer =
    commitId === null || segmentId === null || commitType === null
      ? null
      : { commitId, segmentId, commitType };
  const interval = { start: row.startingAt, end: row.endingBefore };
  return { lineItemId, productId, name, amount, quantity, paidBy, givenBack, payer, interval };
}
