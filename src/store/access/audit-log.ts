/** The audit log: rows are added, and never changed. */
import { and, asc, desc, eq, gte, lt, type SQL, sql } from 'drizzle-orm';
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import { rowInsertion } from '../base/built-once.ts';
import { microsecondsFromPostgres } from '../base/columns.ts';
import type { Database, Transaction } from '../base/database.ts';
import { auditLog } from './audit-log.tables.ts';

export interface AuditEntry {
  readonly id: string;
  /** By the clock of the service. */
  readonly at: Instant;
  readonly actorId: string;
  readonly actorName: string;
  readonly actorEmail: string | null;
  readonly actorRole: string | null;
  readonly requestId: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string | null;
  readonly status: 'success' | 'failure';
  readonly description: string;
}

/** A position in the order of the log. */
export interface AuditPosition {
  /** Epoch microseconds as text. */
  readonly recordedAt: string;
  readonly id: string;
}

export interface AuditFilter {
  /** The range of `at`, half-open; null: no bound. */
  readonly from: Instant | null;
  readonly to: Instant | null;
  readonly resource: { readonly type: string; readonly id: string } | null;
  readonly actorId: string | null;
}

/** Adds a row. Call it last in a transaction, so that the order of the log is close to the order of commits. */
export async function insertAuditEntry(db: Database | Transaction, entry: AuditEntry): Promise<void> {
  await addEntry(db, entry);
}

const addEntry = rowInsertion(auditLog, [
  ...([
    'id',
    'at',
    'actorId',
    'actorName',
    'actorEmail',
    'actorRole',
    'requestId',
    'ip',
    'userAgent',
    'action',
  ] as const),
  ...(['resourceType', 'resourceId', 'status', 'description'] as const),
]);

/**
 * A page of the log in the order of recording, without the most recent rows.
 *
 * A row gets its place shortly before it is committed, so a later place may be visible before it, and a reader that
 * continues after its last row would miss it. So rows are shown only once every running transaction began after them:
 * then no row can be added before them.
 */
export async function listAuditEntries(
  db: Database,
  filter: AuditFilter,
  order: 'asc' | 'desc',
  { after, limit }: PageRequest<AuditPosition>,
): Promise<Page<AuditEntry, AuditPosition>> {
  const settledBefore = await settledUntil(db);
  const conditions: (SQL | undefined)[] = [
    sql`${auditLog.recordedAt} < ${settledBefore}::timestamptz`,
    after === null ? undefined : behindPosition(after, order),
    filter.from === null ? undefined : gte(auditLog.at, filter.from),
    filter.to === null ? undefined : lt(auditLog.at, filter.to),
  ];
  if (filter.resource !== null) {
    conditions.push(eq(auditLog.resourceType, filter.resource.type));
    conditions.push(eq(auditLog.resourceId, filter.resource.id));
  }
  if (filter.actorId !== null) conditions.push(eq(auditLog.actorId, filter.actorId));
  const direction = order === 'asc' ? asc : desc;
  const rows = await db
    .select()
    .from(auditLog)
    .where(and(...conditions))
    .orderBy(direction(auditLog.recordedAt), direction(auditLog.id))
    .limit(limit + 1);
  const { rows: shown } = cutPage(rows, limit, ({ recordedAt, id }) => ({ recordedAt, id }));
  const last = rows.slice(0, limit).at(-1);
  return { rows: shown, next: last === undefined ? null : { recordedAt: last.recordedAt, id: last.id } };
}

function behindPosition({ recordedAt, id }: AuditPosition, order: 'asc' | 'desc'): SQL {
  const place = sql`(to_timestamp(0) + ${recordedAt}::bigint * interval '1 microsecond', ${id}::uuid)`;
  const own = sql`(${auditLog.recordedAt}, ${auditLog.id})`;
  return order === 'asc' ? sql`${own} > ${place}` : sql`${own} < ${place}`;
}

/**
 * The start of the oldest running transaction of this service, at most a second ago. Read before the rows: a
 * transaction that commits in between is then either visible or after it.
 */
async function settledUntil(db: Database): Promise<string> {
  const [row] = await db.execute<{ until: string }>(sql`
    select least(clock_timestamp() - interval '1 second', min(xact_start))::text as until
    from pg_stat_activity
    where datname = current_database() and application_name = 'tallyhouse'
      and xact_start is not null and pid <> pg_backend_pid()`);
  if (row === undefined) throw new Error('an aggregate without groups is one row');
  return row.until;
}

/** The position of a page that has nothing before it. */
export function endOfLog(order: 'asc' | 'desc'): AuditPosition {
  const id = '00000000-0000-0000-0000-000000000000';
  const far = microsecondsFromPostgres('2999-01-01 00:00:00+00');
  return order === 'asc' ? { recordedAt: '0', id } : { recordedAt: far, id };
}
