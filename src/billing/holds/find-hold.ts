/** Finds the hold that a request names, for many requests together. */
import type { Hold } from '../../core/hold.ts';
import { createBatcher } from '../../runtime/batcher.ts';
import type { Database } from '../../store/base/database.ts';
import { findHolds, READ_TOGETHER_MAX } from '../../store/holds/holds.ts';
import type { HoldName, HoldParts } from './hold-parts.ts';
import { isLive } from './reserve.ts';

/** By id, or by transaction: the active or settled hold, else the last one. Null: not found. */
export function createHoldReads(db: Database): (name: HoldName) => Promise<Hold | null> {
  const work = async (names: readonly HoldName[]) => {
    const byId = await findHolds(db, { ids: unique(names.map(({ holdId }) => holdId)) });
    const transactionIds = unique(names.map((name) => (name.holdId === null ? name.transactionId : null)));
    const byTransaction = await findHolds(db, { transactionIds });
    const ofIds = new Map(byId.map((hold) => [hold.id, hold]));
    const ofTransactions = new Map(byTransaction.map((hold) => [hold.transactionId, hold]));
    return names.map(
      ({ holdId, transactionId }) =>
        (holdId === null ? ofTransactions.get(transactionId ?? '') : ofIds.get(holdId)) ?? null,
    );
  };
  return createBatcher({ name: 'holds by name', work, sizeMax: READ_TOGETHER_MAX }).ask;
}

function unique(names: readonly (string | null)[]): string[] {
  return [...new Set(names.flatMap((name) => name ?? []))];
}

/** The requested hold: for a transaction id the active or settled one, else the last one. */
export async function findHold({ readHold, clock }: HoldParts, name: HoldName): Promise<Hold | null> {
  const named = await readHold(name);
  if (name.holdId === null || named === null || isLive(named, clock.now())) return named;
  // An ended hold may have been replaced by another one, which the event settles.
  const live = await readHold({ holdId: null, transactionId: named.transactionId });
  return named.status === 'released' ? named : (live ?? named);
}

export function notThere({ holdId, transactionId }: HoldName): string {
  return holdId === null
    ? `there is no active hold of transaction ${transactionId}`
    : `there is no active hold ${holdId}`;
}
