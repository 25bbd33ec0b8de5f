/** Streams that have begun before the answer does, so that a refusal can still be answered as one. */

/** Pieces that are written one by one. `return` ends the writing, also before the first is requested. */
export type Pieces<Piece> = Required<Pick<AsyncIterableIterator<Piece, void, undefined>, 'next' | 'return'>> &
  AsyncIterable<Piece, void, undefined>;

/**
 * The same pieces, after the first is ready. `onEnd` is called once, when they end, fail or are abandoned. Throws the
 * errors of the first piece.
 */
export async function startedStream<Piece>(
  pieces: Pieces<Piece>,
  onEnd: () => void = () => undefined,
): Promise<Pieces<Piece>> {
  let first: IteratorResult<Piece, void> | null = await pieces.next();
  if (first.done) onEnd();
  const started: Pieces<Piece> = {
    async next() {
      const made = first;
      first = null;
      try {
        const piece = made ?? (await pieces.next());
        if (piece.done) onEnd();
        return piece;
      } catch (error) {
        onEnd();
        throw error;
      }
    },
    async return() {
      try {
        return await pieces.return();
      } finally {
        onEnd();
      }
    },
    [Symbol.asyncIterator]: () => started,
  };
  return started;
}
