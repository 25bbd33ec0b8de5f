/** Balances for clients that read them in PostgreSQL, and the progress of publishing them (docs/reference/sql.md). */
import {
  and,
  type Column,
  eq,
  gt,
  gte,
  isNotNull,
  isNull,
  lte,
  ne,
  notExists,
  or,
  type SQL,
  sql,
} from 'drizzle-orm';
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { allOrNone } from '../contracts/applicability.ts';
import { accessSegments, commits } from './commits.tables.ts';
import { balancePublication, publishedBalances } from './published-balances.tables.ts';

export interface PublishedBalance extends Pick<Commit, 'customerId' | 'contractId' | 'type'> {
  readonly commitId: string;
  readonly creditTypeId: string;
  readonly balance: Decimal;
}

/** The place of a commit in the order of passes: by customer, so that the commits of one contract are read together. */
export interface CommitPlace {
  readonly customerId: string;
  readonly commitId: string;
}

/** A walk over all commits and credits. */
export interface PublishingPass {
  /** When the pass began, by the service's clock. */
  readonly asOf: Instant;
  /** The last published commit; null: none yet. */
  readonly after: CommitPlace | null;
}

export interface Publication {
  /** Null: no pass is running. */
  readonly pass: PublishingPass | null;
  /** Whether the last pass began long enough ago for the next one. */
  readonly isDue: boolean;
}

/**
 * The progress of publishing, locked until the transaction ends. Null if balances are not published, or if another
 * transaction holds the lock.
 */
export async function lockPublication(tx: Transaction, passEveryMs: number): Promise<Publication | null> {
  const { passAsOf, passBegunAt, afterCustomerId, afterCommitId } = balancePublication;
  const [row] = await tx
    .select({
      passAsOf,
      customerId: afterCustomerId,
      commitId: afterCommitId,
      isDue: sql<boolean>`coalesce(${passBegunAt} <= now() - ${passEveryMs}::int * interval '1 millisecond', true)`,
    })
    .from(balancePublication)
    .for('update', { skipLocked: true });
  if (row === undefined) return null;
  const { passAsOf: asOf, isDue, ...after } = row;
  return { pass: asOf === null ? null : { asOf, after: allOrNone(after) }, isDue };
}

/** Begins a pass, at `asOf` of the service's clock. */
export async function beginPass(tx: Transaction, asOf: Instant): Promise<PublishingPass> {
  await tx.update(balancePublication).set({ passAsOf: asOf, passBegunAt: sql`now()` });
  return { asOf, after: null };
}

/** Records that the pass has published everything up to `after`. */
export async function savePass(tx: Transaction, after: CommitPlace): Promise<void> {
  await tx
    .update(balancePublication)
    .set({ afterCustomerId: after.customerId, afterCommitId: after.commitId });
}

/** Records that the pass has published everything. */
export async function endPass(tx: Transaction, { asOf }: PublishingPass): Promise<void> {
  await tx
    .update(balancePublication)
    .set({ asOf, passAsOf: null, afterCustomerId: null, afterCommitId: null });
}

/** Commits after `after`, up to and including `until`; null: without that bound. */
export interface PublishedRange {
  readonly after: CommitPlace | null;
  readonly until: CommitPlace | null;
}

/** The active commit or credit `count` places after `after`; null: there are fewer. */
export async function placeBehind(
  tx: Transaction,
  after: CommitPlace | null,
  count: number,
): Promise<CommitPlace | null> {
  const { id, customerId, archivedAt } = commits;
  const [place] = await tx
    .select({ customerId, commitId: id })
    .from(commits)
    .where(and(isNull(archivedAt), within({ customerId, commitId: id }, { after, until: null })))
    .orderBy(customerId, id)
    .offset(count - 1)
    .limit(1);
  return place ?? null;
}

/**
 * The first commits and credits of the range whose balance has to be computed: those that are not archived. Without
 * access at `now` nothing is left, so commits that are published as 0 by then are left out.
 */
export async function commitsToPublish(
  tx: Transaction,
  range: PublishedRange,
  { now, limit }: { readonly now: Instant; readonly limit: number },
): Promise<CommitPlace[]> {
  const { id, customerId, archivedAt } = commits;
  const published = publishedBalances;
  const { startingAt, endingBefore } = accessSegments;
  // A join with a limit, so that PostgreSQL looks it up for each commit and never reads the segments of all others.
  const access = tx
    .select({ id: accessSegments.id })
    .from(accessSegments)
    .where(and(eq(accessSegments.commitId, id), lte(startingAt, now), gt(endingBefore, now)))
    .limit(1)
    .as('access');
  const isSame = and(eq(published.customerId, customerId), eq(published.commitId, id));
  return tx
    .select({ customerId, commitId: id })
    .from(commits)
    .leftJoin(published, and(isSame, within(published, range)))
    .leftJoinLateral(access, sql`true`)
    .where(
      and(
        isNull(archivedAt),
        within({ customerId, commitId: id }, range),
        or(isNull(published.balance), ne(published.balance, ZERO), isNotNull(access.id)),
      ),
    )
    .orderBy(customerId, id)
    .limit(limit);
}

/**
 * Publishes these balances of the range, and removes those of archived commits from it. Unchanged balances are not
 * written.
 */
export async function replacePublished(
  tx: Transaction,
  range: PublishedRange,
  balances: readonly PublishedBalance[],
): Promise<void> {
  const { customerId, commitId, balance } = publishedBalances;
  const kept = tx
    .select({ id: commits.id })
    .from(commits)
    .where(
      and(
        eq(commits.id, commitId),
        isNull(commits.archivedAt),
        within({ customerId: commits.customerId, commitId: commits.id }, range),
      ),
    );
  await tx.delete(publishedBalances).where(and(within({ customerId, commitId }, range), notExists(kept)));
  const ids = balances.map((one) => one.commitId);
  const rows = await tx
    .select({ commitId, balance })
    .from(publishedBalances)
    .where(and(within({ customerId, commitId }, range), isOneOf(commitId, ids)));
  const published = new Map(rows.map((row) => [row.commitId, row.balance]));
  const changed = balances.filter((one) => published.get(one.commitId)?.eq(one.balance) !== true);
  const update = sql`on conflict (customer_id, commit_id) do update set balance = excluded.balance`;
  await insertRows(tx, publishedBalances, changed, update);
}

/** The condition on the customer alone is implied, but lets PostgreSQL estimate the number of rows. */
function within(
  { customerId, commitId }: { readonly customerId: Column; readonly commitId: Column },
  { after, until }: PublishedRange,
): SQL | undefined {
  const place = sql`(${customerId}, ${commitId})`;
  const bound = (one: CommitPlace) => sql`(${one.customerId}::uuid, ${one.commitId}::uuid)`;
  const behind = after && and(gte(customerId, after.customerId), sql`${place} > ${bound(after)}`);
  const upTo = until && and(lte(customerId, until.customerId), sql`${place} <= ${bound(until)}`);
  return and(behind ?? undefined, upTo ?? undefined);
}
