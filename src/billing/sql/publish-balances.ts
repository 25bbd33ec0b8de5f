/**
 * Publishes balances in PostgreSQL, for clients that connect to the stores themselves (docs/reference/sql.md, "How
 * balances get there").
 *
 * A pass walks over all commits and credits that are not archived, a step at a time. Each step is a transaction: it
 * locks the row with the progress of the pass, computes the next balances on one snapshot, and writes those that have
 * changed. So one process at a time runs a step, any process may run the next one, and a killed one leaves nothing half
 * done. Nothing is published before the row exists (deploy/analysts-postgres.sql).
 */
import { type Instant, MINUTE_MS } from '../../core/time.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import {
  beginPass,
  type CommitPlace,
  commitsToPublish,
  endPass,
  lockPublication,
  placeBehind,
  replacePublished,
  savePass,
} from '../../store/balances/published-balances.ts';
import { isOvertaken, type Transaction } from '../../store/base/database.ts';
import type { RowContext } from '../billing-context.ts';
import { issuedBalances } from './issued-balances.ts';

/** How much is published at a time, and how often. */
interface PublishingPace {
  /** Time between the starts of two passes. */
  readonly passEveryMs: number;
  /** Commits whose balances are computed. */
  readonly commitsPerStep: number;
  /** Commits that are read, including those that need not be computed. */
  readonly readPerStep: number;
}

const PACE: PublishingPace = { passEveryMs: 5 * MINUTE_MS, commitsPerStep: 500, readPerStep: 2_500 };

/** `idle`: there is nothing to do, or another process is doing it. */
export type PublishedStep = 'idle' | 'under way' | 'complete';

/** Takes the next step of the pass under way, or the first one of the next pass if it is time for it. */
export async function publishBalances(
  { db, clock }: RowContext,
  pace: Partial<PublishingPace> = {},
): Promise<PublishedStep> {
  // Before the snapshot is taken, which therefore has all earlier commits.
  const now = clock.now();
  try {
    return await db.transaction((tx) => takeStep(tx, now, { ...PACE, ...pace }), {
      isolationLevel: 'repeatable read',
    });
  } catch (error) {
    if (isOvertaken(error)) return 'idle';
    throw error;
  }
}

async function takeStep(tx: Transaction, now: Instant, pace: PublishingPace): Promise<PublishedStep> {
  const publication = await lockPublication(tx, pace.passEveryMs);
  if (publication === null || (publication.pass === null && !publication.isDue)) return 'idle';
  const pass = publication.pass ?? (await beginPass(tx, now));
  const until = await publishBehind(tx, pass.after, now, pace);
  if (until === null) {
    await endPass(tx, pass);
    return 'complete';
  }
  await savePass(tx, until);
  return 'under way';
}

/** Publishes the balances after `after`. Returns the last published one; null: there are no more. */
async function publishBehind(
  tx: Transaction,
  after: CommitPlace | null,
  now: Instant,
  { commitsPerStep, readPerStep }: PublishingPace,
): Promise<CommitPlace | null> {
  const end = await placeBehind(tx, after, readPerStep);
  const next = await commitsToPublish(tx, { after, until: end }, { now, limit: commitsPerStep });
  const ids = next.map(({ commitId }) => commitId);
  const balances = await issuedBalances(tx, await loadCommits(tx, { ids, includeArchived: false }), now);
  const until = next.length < commitsPerStep ? end : (next.at(-1) ?? null);
  await replacePublished(tx, { after, until }, balances);
  return until;
}
