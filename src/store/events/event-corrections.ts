/** Sets of corrections of stored events, and their entries. The rules are in billing/events/corrections. */
import { and, asc, count, eq, gt, inArray, isNotNull, ne, or, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { CorrectionEntry, CorrectionSet, CorrectionStatus } from '../../core/event-correction.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import { builtOnce } from '../base/built-once.ts';
import type { Database, Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { isOneOfTexts } from '../base/is-one-of.ts';
import { behind, keysetPage } from '../base/keyset.ts';
import { LOCKS } from '../base/lock-numbers.ts';
import { asIdentification } from '../base/request-unit.ts';
import { eventCorrectionEntries, eventCorrections } from './event-corrections.tables.ts';

/** Serializes changes of what readers of events count, until the transaction ends. */
export async function lockCorrections(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.eventCorrections})`);
}

/** A set that was applied, as readers of events know it. */
interface AppliedSet {
  readonly attempt: string;
  readonly appliedTick: number;
  readonly revertedTick: number | null;
}

const applied = builtOnce((db) =>
  db
    .select({
      attempt: sql<string>`${eventCorrections.attempt}`,
      appliedTick: sql`${eventCorrections.appliedTick}`.mapWith(Number),
      revertedTick: eventCorrections.revertedTick,
    })
    .from(eventCorrections)
    .where(isNotNull(eventCorrections.appliedTick))
    .orderBy(asc(eventCorrections.appliedTick))
    .prepare(''),
);

/** Every set that was ever applied, in the order of application. */
export async function loadAppliedCorrections(db: Database | Transaction): Promise<AppliedSet[]> {
  return await applied(db, {});
}

/** The same for readers of events, whose caller may hold a transaction: on separate connections. */
export async function readAppliedCorrections(db: Database): Promise<AppliedSet[]> {
  return await asIdentification(() => loadAppliedCorrections(db));
}

export async function insertCorrection(
  db: Database | Transaction,
  set: Pick<CorrectionSet, 'id' | 'name' | 'reason' | 'createdAt' | 'createdBy'>,
): Promise<void> {
  await db.insert(eventCorrections).values(set);
}

export async function findCorrection(db: Database | Transaction, id: string): Promise<CorrectionSet | null> {
  const rows = await db.select().from(eventCorrections).where(eq(eventCorrections.id, id));
  return (await withCounts(db, rows))[0] ?? null;
}

/** The set, locked until the transaction ends. */
export async function lockCorrection(tx: Transaction, id: string): Promise<CorrectionSet | null> {
  const rows = await tx.select().from(eventCorrections).where(eq(eventCorrections.id, id)).for('update');
  return (await withCounts(tx, rows))[0] ?? null;
}

export async function listCorrections(
  db: Database | Transaction,
  status: CorrectionStatus | null,
  page: PageRequest,
): Promise<Page<CorrectionSet>> {
  const rows = await db
    .select()
    .from(eventCorrections)
    .where(
      and(
        status === null ? undefined : eq(eventCorrections.status, status),
        behind(eventCorrections, page.after),
      ),
    )
    .orderBy(asc(eventCorrections.createdAt), asc(eventCorrections.id))
    .limit(page.limit + 1);
  return keysetPage(await withCounts(db, rows), page.limit);
}

/** By the attempts of these sets. */
export async function correctionsOfAttempts(
  db: Database | Transaction,
  attempts: readonly string[],
): Promise<Map<string, { readonly id: string }>> {
  if (attempts.length === 0) return new Map();
  const { id, attempt } = eventCorrections;
  const rows = await db
    .select({ id, attempt })
    .from(eventCorrections)
    .where(inArray(attempt, [...attempts]));
  return new Map(rows.map((row) => [row.attempt ?? '', { id: row.id }]));
}

type Row = typeof eventCorrections.$inferSelect;

/** The counts of open sets are those of their entries. */
async function withCounts(db: Database | Transaction, rows: readonly Row[]): Promise<CorrectionSet[]> {
  const open = rows.filter(({ status }) => status === 'open').map(({ id }) => id);
  const { correctionId, action, foundRef } = eventCorrectionEntries;
  const counted =
    open.length === 0
      ? []
      : await db
          .select({ correctionId, action, isFound: sql<boolean>`${foundRef} is not null`, rows: count() })
          .from(eventCorrectionEntries)
          .where(inArray(correctionId, open))
          .groupBy(correctionId, action, sql`3`);
  return rows.map((row) => {
    const own = counted.filter((each) => each.correctionId === row.id);
    const of = (isWanted: (each: (typeof own)[number]) => boolean) =>
      own.filter(isWanted).reduce((sum, each) => sum + each.rows, 0);
    if (row.status !== 'open') return fromRow(row);
    return {
      ...fromRow(row),
      voided: of((each) => each.isFound && each.action === 'void'),
      amended: of((each) => each.isFound && each.action === 'amend'),
      notFound: of((each) => !each.isFound),
    };
  });
}

function fromRow(row: Row): CorrectionSet {
  const { appliedAt, appliedBy, revertedAt, revertedBy, droppedAt, droppedBy } = row;
  return {
    id: row.id,
    name: row.name,
    reason: row.reason,
    status: row.status,
    createdAt: row.createdAt,
    createdBy: row.createdBy,
    applied: stepOf(appliedAt, appliedBy),
    reverted: stepOf(revertedAt, revertedBy),
    dropped: stepOf(droppedAt, droppedBy),
    attempt: row.attempt,
    changes: row.changes,
    voided: row.voided,
    amended: row.amended,
    notFound: row.notFound,
  };
}

function stepOf(at: Instant | null, by: string | null): CorrectionSet['applied'] {
  return at === null ? null : { at, by: by ?? '' };
}

/** Adds entries; one with a known id replaces the former one. */
export async function putEntries(
  tx: Transaction,
  correctionId: string,
  entries: readonly CorrectionEntry[],
): Promise<void> {
  const { id, changes } = eventCorrections;
  await tx
    .update(eventCorrections)
    .set({ changes: sql`${changes} + 1` })
    .where(eq(id, correctionId));
  await insertRows(
    tx,
    eventCorrectionEntries,
    entries.map((entry) => ({ ...entry, correctionId })),
    sql`on conflict (correction_id, transaction_id) do update set
      action = excluded.action, customer_ref = excluded.customer_ref, event_type = excluded.event_type,
      "timestamp" = excluded."timestamp", properties_json = excluded.properties_json, found_ref = excluded.found_ref`,
  );
}

export async function countEntries(tx: Transaction, id: string): Promise<number> {
  const { correctionId } = eventCorrectionEntries;
  const [row] = await tx.select({ rows: count() }).from(eventCorrectionEntries).where(eq(correctionId, id));
  return row?.rows ?? 0;
}

/** At most `limit` entries of the set after this id, in the order of their ids. */
export async function loadEntries(
  tx: Database | Transaction,
  id: string,
  after: string,
  limit: number,
): Promise<CorrectionEntry[]> {
  const { correctionId, transactionId } = eventCorrectionEntries;
  const rows = await tx
    .select()
    .from(eventCorrectionEntries)
    .where(and(eq(correctionId, id), gt(sql`${transactionId} collate "C"`, after)))
    .orderBy(sql`${transactionId} collate "C"`)
    .limit(limit);
  return rows.map(({ correctionId: _, ...entry }) => entry);
}

export interface Application {
  readonly attempt: string;
  readonly at: Instant;
  readonly by: string;
  readonly tick: number;
  readonly voided: number;
  readonly amended: number;
  readonly notFound: number;
}

/** From the commit on every reader counts it. The new members of events are then in ClickHouse alone. */
export async function setApplied(
  tx: Transaction,
  id: string,
  { at, by, tick, ...made }: Application,
): Promise<void> {
  await tx
    .update(eventCorrections)
    .set({ ...made, status: 'applied', appliedAt: at, appliedBy: by, appliedTick: tick })
    .where(eq(eventCorrections.id, id));
  await forgetContents(tx, id);
}

/** From the commit on no reader counts it. */
export async function setReverted(
  tx: Transaction,
  id: string,
  { at, by, tick }: Pick<Application, 'at' | 'by' | 'tick'>,
): Promise<void> {
  await tx
    .update(eventCorrections)
    .set({ status: 'reverted', revertedAt: at, revertedBy: by, revertedTick: tick })
    .where(eq(eventCorrections.id, id));
}

/** Drops an open set with these counts. */
export async function setDropped(
  tx: Transaction,
  { id, voided, amended, notFound }: CorrectionSet,
  { at, by }: Pick<Application, 'at' | 'by'>,
): Promise<void> {
  await tx
    .update(eventCorrections)
    .set({ status: 'dropped', droppedAt: at, droppedBy: by, voided, amended, notFound })
    .where(eq(eventCorrections.id, id));
  await forgetContents(tx, id);
}

async function forgetContents(tx: Transaction, id: string): Promise<void> {
  await tx
    .update(eventCorrectionEntries)
    .set({ customerRef: null, eventType: null, timestamp: null, propertiesJson: null, foundRef: null })
    .where(eq(eventCorrectionEntries.correctionId, id));
}

/** An applied set, applied later than this one, that has one of its ids; null if there is none. */
export async function firstStandingOn(tx: Transaction, id: string): Promise<string | null> {
  const [own, ownEntries] = [alias(eventCorrections, 'own'), alias(eventCorrectionEntries, 'own_entries')];
  const [row] = await tx
    .select({ id: eventCorrections.id })
    .from(ownEntries)
    .innerJoin(own, eq(own.id, ownEntries.correctionId))
    .innerJoin(
      eventCorrectionEntries,
      and(
        eq(eventCorrectionEntries.transactionId, ownEntries.transactionId),
        ne(eventCorrectionEntries.correctionId, id),
      ),
    )
    .innerJoin(
      eventCorrections,
      and(
        eq(eventCorrections.id, eventCorrectionEntries.correctionId),
        eq(eventCorrections.status, 'applied'),
        gt(eventCorrections.appliedTick, own.appliedTick),
      ),
    )
    .where(eq(ownEntries.correctionId, id))
    .orderBy(asc(eventCorrections.appliedTick))
    .limit(1);
  return row?.id ?? null;
}

/** Removes what open sets would make of the events of an erased customer, or would move to it, and its references. */
export async function eraseOpenEntries(tx: Transaction, refs: readonly string[]): Promise<void> {
  const { correctionId, action, customerRef, foundRef } = eventCorrectionEntries;
  const open = tx
    .select({ id: eventCorrections.id })
    .from(eventCorrections)
    .where(eq(eventCorrections.status, 'open'));
  await tx
    .delete(eventCorrectionEntries)
    .where(
      and(
        inArray(correctionId, open),
        eq(action, 'amend'),
        or(isOneOfTexts(customerRef, refs), isOneOfTexts(foundRef, refs)),
      ),
    );
  // Whether an event was found stays known.
  await tx.update(eventCorrectionEntries).set({ foundRef: '' }).where(isOneOfTexts(foundRef, refs));
}
