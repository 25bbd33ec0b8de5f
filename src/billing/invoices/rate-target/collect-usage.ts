/** The first step of rating: the usage is read and priced, line key by line key. */
import { afterOtherWork, CHUNK_ITEMS } from '../../../core/in-chunks.ts';
import type { ClaimedSegment } from '../../../rating/balances/coverage.ts';
import type { ChargedKey } from '../../../rating/invoices/charged-keys.ts';
import { type CollectedLines, createLineCollector } from '../../../rating/invoices/line-collector.ts';
import { createUsageNotes, type UsageNotes } from '../usage/usage-notes.ts';
import { meteredUsage, type SlicedAnswer } from '../usage/usage-slices.ts';
import type { RatingPlan } from './plan-rating.ts';
import { asRating, eachRated } from './unratable.ts';

export interface CollectedUsage {
  /** Before balances pay. */
  readonly collected: CollectedLines;
  /** The parts of usage that balances may pay. */
  readonly claims: readonly ClaimedSegment[];
  /** The keys whose lines are computed after drawdown. None of slices, which are read and rated again. */
  readonly claiming: readonly ChargedKey[];
  /** The events that could not be counted. */
  readonly notes: UsageNotes;
}

export async function collectUsage({
  target,
  context,
  rater,
  isSliced,
  linesMax,
  readUsage,
}: RatingPlan): Promise<CollectedUsage> {
  const notes = createUsageNotes(context, target.period);
  const collector = createLineCollector(linesMax);
  const claims: ClaimedSegment[] = [];
  const claiming: ChargedKey[] = [];
  for await (const { groupKeys, answers } of readUsage()) {
    notes.add(answers);
    // Many series have just been unpacked.
    if (seriesCountOf(answers) > CHUNK_ITEMS) await afterOtherWork();
    for (const keys of eachRated(asRating(() => rater.rate(meteredUsage(answers), groupKeys)))) {
      collector.add([keys]);
      for (const claim of keys.claims) claims.push(claim);
      // Slices are read and rated again: their charges are too many to keep.
      if (!isSliced) for (const key of keys.claiming) claiming.push(key);
      await afterOtherWork();
    }
  }
  return { collected: asRating(() => collector.result()), claims, claiming, notes };
}

function seriesCountOf(answers: readonly SlicedAnswer[]): number {
  let count = 0;
  for (const { answer } of answers) count += answer.series.length;
  return count;
}
