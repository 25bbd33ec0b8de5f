/** Commits and credits with their access segments and invoice items. */
import { and, asc, eq, exists, gt, inArray, isNull, lt, notInArray, or } from 'drizzle-orm';
import { keyUsed } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import { isUuid } from '../../core/ids.ts';
import type { Commit } from '../../core/terms/commits.ts';
import { paymentGate } from '../../core/terms/payment-gate.ts';
import type { AccessSegment, InvoiceItem } from '../../core/terms/schedules.ts';
import type { Interval } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import {
  allOrNone,
  applicabilityToColumns,
  hierarchyToColumns,
  withScope,
} from '../contracts/applicability.ts';
import { accessSegments, commits } from './commits.tables.ts';
import { insertInvoiceItems, loadInvoiceItems, replaceInvoiceItems } from './invoice-schedules.ts';

/**
 * Stores commits and credits in their order. Refuses (`conflict`) a uniqueness key that a commit or a
 * credit has used before, archived ones included.
 */
export async function insertCommits(tx: Transaction, added: readonly Commit[]): Promise<void> {
  for (const chunk of rowsPerInsert(added)) {
    const rows = await tx
      .insert(commits)
      .values(chunk.map(toRow))
      .onConflictDoNothing({ target: commits.uniquenessKey })
      .returning({ id: commits.id });
    if (rows.length < chunk.length) throw keyUsed(await commitWithKeyOf(tx, chunk));
  }
  const segments = added.flatMap((commit) =>
    commit.accessSchedule.segments.map((segment) => ({ ...segment, commitId: commit.id })),
  );
  for (const chunk of rowsPerInsert(segments)) await tx.insert(accessSegments).values(chunk);
  await insertInvoiceItems(
    tx,
    'commitId',
    new Map(added.map((commit) => [commit.id, commit.invoiceSchedule?.items ?? []])),
  );
}

/** The commit or credit that has used one of the keys before. */
async function commitWithKeyOf(tx: Transaction, added: readonly Commit[]): Promise<string | null> {
  const keys = added.flatMap(({ uniquenessKey }) => uniquenessKey ?? []);
  const rows = await tx.select({ id: commits.id }).from(commits).where(inArray(commits.uniquenessKey, keys));
  const own = new Set(added.map(({ id }) => id));
  return rows.find(({ id }) => !own.has(id))?.id ?? null;
}

/** Locks a commit or credit until the transaction ends; null if the id is unknown or not a UUID. */
export async function lockCommit(tx: Transaction, id: string): Promise<Commit | null> {
  if (!isUuid(id)) return null;
  await tx.select({ id: commits.id }).from(commits).where(eq(commits.id, id)).for('no key update');
  return (await loadCommits(tx, { ids: [id], includeArchived: true }))[0] ?? null;
}

/** Writes a commit that exists, with its schedules: segments and items are added, changed and removed by id. */
export async function updateCommit(tx: Transaction, commit: Commit): Promise<void> {
  await tx.update(commits).set(toRow(commit)).where(eq(commits.id, commit.id));
  const { segments } = commit.accessSchedule;
  const kept = segments.map((segment) => segment.id);
  await tx
    .delete(accessSegments)
    .where(and(eq(accessSegments.commitId, commit.id), notInArray(accessSegments.id, kept)));
  for (const segment of segments) {
    const { amount, startingAt, endingBefore } = segment;
    await tx
      .insert(accessSegments)
      .values({ ...segment, commitId: commit.id })
      .onConflictDoUpdate({ target: accessSegments.id, set: { amount, startingAt, endingBefore } });
  }
  await replaceInvoiceItems(tx, 'commitId', commit.id, commit.invoiceSchedule?.items ?? []);
}

export interface CommitFilter {
  readonly ids?: readonly string[];
  readonly contractIds?: readonly string[];
  /** Commits of these contracts, or of their customers and invoiced on them. */
  readonly invoicedOn?: readonly string[];
  /** Commits of the customers themselves and of their contracts. */
  readonly customerIds?: readonly string[];
  /** Commits that rolled over from these. */
  readonly rolledOverFrom?: readonly string[];
  readonly includeArchived: boolean;
}

/** The commits and credits that pass all given conditions, in the order of addition. */
export async function loadCommits(db: Database | Transaction, filter: CommitFilter): Promise<Commit[]> {
  const { ids, contractIds, invoicedOn, customerIds, rolledOverFrom, includeArchived } = filter;
  const lists = [ids, contractIds, invoicedOn, customerIds, rolledOverFrom];
  if (lists.some((list) => list?.length === 0)) return [];
  const rows = await db
    .select()
    .from(commits)
    .where(
      and(
        ids === undefined ? undefined : isOneOf(commits.id, ids),
        contractIds === undefined ? undefined : isOneOf(commits.contractId, contractIds),
        invoicedOn === undefined
          ? undefined
          : or(isOneOf(commits.contractId, invoicedOn), inArray(commits.invoiceContractId, [...invoicedOn])),
        customerIds === undefined ? undefined : isOneOf(commits.customerId, customerIds),
        rolledOverFrom === undefined ? undefined : isOneOf(commits.rolledOverFromCommitId, rolledOverFrom),
        includeArchived ? undefined : isNull(commits.archivedAt),
      ),
    )
    .orderBy(asc(commits.sequence));
  return withSchedules(db, rows);
}

/** The commits and credits of the customers and of their contracts that have access at some time in the interval. */
export async function loadUsableCommits(
  db: Database | Transaction,
  customerIds: readonly string[],
  { start, end }: Interval,
): Promise<Commit[]> {
  if (customerIds.length === 0) return [];
  const hasAccess = db
    .select({ id: accessSegments.id })
    .from(accessSegments)
    .where(
      and(
        eq(accessSegments.commitId, commits.id),
        lt(accessSegments.startingAt, end),
        gt(accessSegments.endingBefore, start),
      ),
    );
  const rows = await db
    .select()
    .from(commits)
    .where(
      and(
        isOneOf(commits.customerId, customerIds),
        or(isNull(commits.archivedAt), gt(commits.archivedAt, start)),
        exists(hasAccess),
      ),
    )
    .orderBy(asc(commits.sequence));
  return withSchedules(db, rows);
}

/** The commits of the rows in their order. */
export async function withSchedules(
  db: Database | Transaction,
  rows: readonly (typeof commits.$inferSelect)[],
): Promise<Commit[]> {
  const found = rows.map((row) => row.id);
  const segments = await loadSegments(db, found);
  const items = await loadInvoiceItems(db, 'commitId', found);
  return rows.map((row) => fromRow(row, segments.get(row.id) ?? [], items.get(row.id) ?? []));
}

/** The subset of these ids that are commits or credits which an override of the contract may name. */
export async function commitIdsForContract(
  db: Database | Transaction,
  contract: { readonly id: string; readonly customerId: string },
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .select({ id: commits.id })
    .from(commits)
    .where(
      and(
        isOneOf(commits.id, ids),
        eq(commits.customerId, contract.customerId),
        or(isNull(commits.contractId), eq(commits.contractId, contract.id)),
      ),
    );
  return new Set(rows.map((row) => row.id));
}

async function loadSegments(
  db: Database | Transaction,
  commitIds: readonly string[],
): Promise<Map<string, AccessSegment[]>> {
  if (commitIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(accessSegments)
    .where(isOneOf(accessSegments.commitId, commitIds))
    .orderBy(asc(accessSegments.sequence));
  const segments = new Map<string, AccessSegment[]>();
  for (const [commitId, group] of groupBy(rows, (row) => row.commitId)) {
    segments.set(
      commitId,
      group.map(({ id, amount, startingAt, endingBefore }) => ({ id, amount, startingAt, endingBefore })),
    );
  }
  return segments;
}

function toRow(commit: Commit): typeof commits.$inferInsert {
  const { accessSchedule, invoiceSchedule, applicability, hierarchyAccess, ...others } = commit;
  const { rolledOverFrom, ...rest } = others;
  return {
    ...rest,
    ...applicabilityToColumns(applicability),
    ...hierarchyToColumns(hierarchyAccess),
    applicableContractIds: [...commit.applicableContractIds],
    accessCreditTypeId: accessSchedule.creditTypeId,
    invoiceCreditTypeId: invoiceSchedule?.creditTypeId ?? null,
    doNotInvoice: invoiceSchedule?.doNotInvoice ?? false,
    rolledOverFromCommitId: rolledOverFrom?.commitId ?? null,
    rolledOverFromContractId: rolledOverFrom?.contractId ?? null,
  };
}

function fromRow(
  row: typeof commits.$inferSelect,
  segments: readonly AccessSegment[],
  items: readonly InvoiceItem[],
): Commit {
  const { sequence: _, accessCreditTypeId, invoiceCreditTypeId, doNotInvoice, ...others } = row;
  const { rolledOverFromCommitId: commitId, rolledOverFromContractId: contractId, ...rest } = others;
  return {
    ...withScope(rest),
    accessSchedule: { creditTypeId: accessCreditTypeId, segments },
    invoiceSchedule:
      invoiceCreditTypeId === null ? null : { creditTypeId: invoiceCreditTypeId, doNotInvoice, items },
    paymentGate: row.paymentGate === null ? null : paymentGate.parse(row.paymentGate),
    rolledOverFrom: allOrNone({ commitId, contractId }),
  };
}
