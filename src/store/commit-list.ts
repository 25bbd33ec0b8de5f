/** Pages of a customer's commits and credits. */
import { and, asc, eq, exists, gt, inArray, isNull, lt, lte, type SQL, sql } from 'drizzle-orm';
import type { Page, PageRequest } from '../core/paging.ts';
import type { Commit, CommitType } from '../core/terms/commits.ts';
import type { Instant } from '../core/time.ts';
import { withSchedules } from './commits.ts';
import type { Database, Transaction } from './database.ts';
import { behind, keysetPage } from './keyset.ts';
import { accessSegments, commits } from './schema/commits.ts';
import { contracts } from './schema/contracts.ts';

export interface BalanceListFilter {
  readonly customerId: string;
  readonly types: readonly CommitType[];
  readonly id: string | null;
  /** Whether those of the customer's contracts are listed too. */
  readonly includeOfContracts: boolean;
  readonly includeArchived: boolean;
  /** Each only if some access covers it, lies after its start, or begins before it. */
  readonly coveringDate: Instant | null;
  readonly startingAt: Instant | null;
  readonly effectiveBefore: Instant | null;
}

/** A page of a customer's commits and credits, by creation. Access ends with the contract at the latest. */
export async function listCommits(
  db: Database | Transaction,
  filter: BalanceListFilter,
  page: PageRequest,
): Promise<Page<Commit>> {
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
        behind(commits, page.after),
      ),
    )
    .orderBy(asc(commits.createdAt), asc(commits.id))
    .limit(page.limit + 1);
  return keysetPage(await withSchedules(db, rows), page.limit);
}
