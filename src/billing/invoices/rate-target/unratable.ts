/** Failures of the pure part of rating, which are distinguished from failures to read usage. */

/** The terms of a target cannot be rated, which is a bug. Unlike a failure to read usage, it is its own alone. */
export class UnratableError extends Error {
  override readonly name = 'UnratableError';
}

/** Runs a pure calculation. Throws an `UnratableError` if it fails. */
export function asRating<Result>(calculate: () => Result): Result {
  try {
    return calculate();
  } catch (error) {
    throw new UnratableError('the terms of an invoice cannot be rated', { cause: error });
  }
}

/** The parts of a calculation, each computed when it is requested. */
export function* eachRated<Part>(parts: Iterable<Part>): Generator<Part, void, undefined> {
  const iterator = parts[Symbol.iterator]();
  for (;;) {
    const next = asRating(() => iterator.next());
    if (next.done === true) return;
    yield next.value;
  }
}
