/** Finds stored events by the first word of the hash of their transaction id, which a projection has in order. */
import { HASH_WORDS, hashTransactionId } from './transaction-hash.ts';

/** The projection is searched whatever the size of the table and the number of ids. */
export const SEARCHED_BY_HASH = {
  min_table_rows_to_use_projection_index: 0,
  max_projection_rows_to_use_projection_index: 1_000_000_000,
};

/** The value of the column `id_hash_a`. */
export function firstHashWord(id: string): number {
  const words = new Uint32Array(HASH_WORDS);
  hashTransactionId(id, words);
  return words[0] ?? 0;
}
