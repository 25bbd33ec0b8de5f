/** Streams that have begun before the answer does, so that a refusal can still be answered as one. */

/** The same pieces, after the first has been made. Throws what making the first one throws. */
export async function startedStream<Piece>(
  pieces: AsyncGenerator<Piece, void, undefined>,
): Promise<AsyncGenerator<Piece, void, undefined>> {
  const first = await pieces.next();
  return withFirst(first, pieces);
}

async function* withFirst<Piece>(
  first: IteratorResult<Piece, void>,
  rest: AsyncGenerator<Piece, void, undefined>,
): AsyncGenerator<Piece, void, undefined> {
  if (first.done) return;
  try {
    yield first.value;
    yield* rest;
  } finally {
    // Also where the reader stops after the first one.
    await rest.return();
  }
}
