/** Stored ids, given one after the other, in the columns in which they are loaded. */
import { type StoredIds, WORDS_PER_STORED_ID } from '../../src/metering/ingest/ids-by-shard.ts';

export function storedIds(slots: ArrayLike<number>): StoredIds {
  return Array.from({ length: WORDS_PER_STORED_ID }, (_, column) =>
    Uint32Array.from(Array.from(slots).filter((_word, at) => at % WORDS_PER_STORED_ID === column)),
  );
}
