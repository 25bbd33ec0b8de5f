/** Looks up which transaction ids are known, without ingesting events. */
import type { Clock } from '../../../core/clock.ts';
import { HASH_WORDS, hashTransactionId } from '../transaction-hash.ts';
import type { KnownIds } from './known-ids.ts';

export async function knownAmong(
  knownIds: Pick<KnownIds, 'unsure' | 'lookUp' | 'isKnown'>,
  clock: Clock,
  transactionIds: readonly string[],
): Promise<string[]> {
  const words = new Uint32Array(transactionIds.length * HASH_WORDS);
  for (const [place, id] of transactionIds.entries()) hashTransactionId(id, words, place * HASH_WORDS);
  const nowSeconds = Math.floor(clock.now() / 1000);
  const timestamps = new Float64Array(transactionIds.length).fill(nowSeconds * 1000);
  const unsure = knownIds.unsure(words, transactionIds.length, { nowSeconds, timestamps }, null);
  const lookedUp = unsure === null ? null : await knownIds.lookUp(unsure);
  return transactionIds.filter((_, place) =>
    knownIds.isKnown(words, place * HASH_WORDS, nowSeconds, lookedUp),
  );
}
