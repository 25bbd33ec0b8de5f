/** Pages of a customer's commits and credits, by creation or by priority. */
import { and, asc, eq, exists, gt, inArray, isNull, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import { cutPage, type KeysetPosition, type Page, type PageRequest } from '../../core/paging.ts';
import type { Commit, CommitType } from '../../core/terms/commits.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { behind } from '../base/keyset.ts';
import { contracts } from '../contracts/contracts.tables.ts';
import { accessSegments, commits } from './commits.tables.ts';
import { withSchedules } from './commits.ts';

export interface BalanceListFilter {
  readonly customerId: string;
  readonly types: readonly CommitType[];
  readonly id: string | null;
  /** Whether commits and credits of the customer's contracts are listed too. */
  readonly includeOfContracts: boolean;
  readonly includeArchived: boolean;
  /** Each commit only if some access covers it, lies after its start, or begins before it. */
  readonly coveringDate: Instant | null;
  readonly startingAt: Instant | null;
  readonly effectiveBefore: Instant | null;
  /** Whether the list is ordered by priority, and only then by creation. */
  readonly sortsByPriority: boolean;
}

/** A place in the list; `priority` only if the list is ordered by it. */
export interface CommitPosition extends KeysetPosition {
  readonly priority?: string | undefined;
}

/** The place of a commit in a list with this order. */
export function commitPosition(
  { createdAt, id, priority }: Pick<Commit, 'createdAt' | 'id' | 'priority'>,
  { sortsByPriority }: Pick<BalanceListFilter, 'sortsByPriority'>,
): CommitPosition {
  return { at: createdAt, id, ...(sortsByPriority ? { priority: priority.toFixed() } : {}) };
}

function behindPosition(after: CommitPosition | null): SQL | undefined {
  if (after?.priority === undefined) return behind(commits, after);
  const priority = sql.param(after.priority);
  const behindEqual = and(sql`${commits.priority} = ${priority}::numeric`, behind(commits, after));
  return or(sql`${commits.priority} > ${priority}::numeric`, behindEqual);
}

/** A page of a customer's commits and credits. Access ends no later than the contract. */
export async function listCommits(
  db: Database | Transaction,
  filter: BalanceListFilter,
  page: PageRequest<CommitPosition>,
): Promise<Page<Commit, CommitPosition>> {
  const { coveringDate, startingAt, effectiveBefore } = filter;
  const start = accessSegments.startingAt;
  const end = sql`least(${accessSegments.endingBefore}, ${contracts.endingBefore})`.mapWith(
    accessSegments.endingBefore,
  );
  const access = (...conditions: SQL[]) =>
    exists(
      db
        .select({ id: accessSegments.id })
        .from(accessSegments)
        .leftJoin(contracts, eq(contracts.id, commits.contractId))
        .where(and(eq(accessSegments.commitId, commits.id), gt(end, start), ...conditions)),
    );
  const at = (instant: Instant) => sql.param(instant, accessSegments.startingAt);
  const rows = await db
    .select()
    .from(commits)
    .where(
      and(
        eq(commits.customerId, filter.customerId),
        inArray(commits.type, [...filter.types]),
        filter.id === null ? undefined : eq(commits.id, filter.id),
        filter.includeOfContracts ? undefined : isNull(commits.contractId),
        filter.includeArchived ? undefined : isNull(commits.archivedAt),
        coveringDate === null ? undefined : access(lte(start, coveringDate), gt(end, at(coveringDate))),
        startingAt === null ? undefined : access(gt(end, at(startingAt))),
        effectiveBefore === null ? undefined : access(lt(start, effectiveBefore)),
        behindPosition(page.after),
      ),
    )
    .orderBy(
      ...(filter.sortsByPriority ? [asc(commits.priority)] : []),
      asc(commits.createdAt),
      asc(commits.id),
    )
    .limit(page.limit + 1);
  return cutPage(await withSchedules(db, rows), page.limit, (commit) => commitPosition(commit, filter));
}
