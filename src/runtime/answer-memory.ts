/**
 * Counts the memory that the answer of a request takes, where it becomes known: after reading from a store, and
 * after writing parts of the answer. Does not own the limit (`api/http/counted-answers.ts`).
 */
import { createScopeKey } from './request-scope.ts';

/** `add` may throw: then there is no room for what was counted, and the making of the answer ends. */
export interface MemoryCounter {
  add(bytes: number): void;
}

const current = createScopeKey<MemoryCounter>('memory of the answer');

/** Memory that `work` counts, also in operations that it awaits, is counted by `counter`. */
export function countedBy<Result>(counter: MemoryCounter, work: () => Promise<Result>): Promise<Result> {
  return current.run(counter, work);
}

/** An estimate in bytes. Nothing is counted for jobs, and for requests that change something. */
export function countMemory(bytes: number): void {
  current.get()?.add(bytes);
}
