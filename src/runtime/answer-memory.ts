/**
 * Counts the memory of a request's answer when it becomes known: after reading from a store, and after writing parts of
 * the answer. Does not own the limit (`api/http/counted-answers.ts`).
 */
import { createScopeKey } from './request-scope.ts';

/** `add` may throw if there is no memory for the counted bytes; the answer is then abandoned. */
export interface MemoryCounter {
  add(bytes: number): void;
}

const current = createScopeKey<MemoryCounter>('memory of the answer');

/** Memory counted by `work`, also in operations that it awaits, goes to `counter`. */
export function countedBy<Result>(counter: MemoryCounter, work: () => Promise<Result>): Promise<Result> {
  return current.run(counter, work);
}

/** An estimate in bytes. Jobs and requests that change something are not counted. */
export function countMemory(bytes: number): void {
  current.get()?.add(bytes);
}
