/**
 * Values scoped to one request and everything that it awaits: the only `AsyncLocalStorage`.
 *
 * A key is created where its value is used. Its value is visible only to the work passed to `run`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface ScopeKey<Value> {
  /** Runs `work` with the value. Concurrent work outside does not see the value. */
  run<Result>(value: Value, work: () => Result): Result;
  /** The value of the innermost `run` around the caller; undefined: there is none. */
  get(): Value | undefined;
}

const NOTHING: ReadonlyMap<symbol, unknown> = new Map();
const scopes = new AsyncLocalStorage<ReadonlyMap<symbol, unknown>>();

/** `name` is for debuggers only; two keys with one name are distinct. */
export function createScopeKey<Value>(name: string): ScopeKey<Value> {
  const key = Symbol(name);
  return {
    run(value, work) {
      const scope = new Map(scopes.getStore());
      scope.set(key, value);
      return scopes.run(scope, work);
    },
    get: () => scopes.getStore()?.get(key) as Value | undefined,
  };
}

/** Runs `work` that belongs to no single request, such as that of a batch: it sees no values. */
export function withoutRequest<Result>(work: () => Result): Result {
  return scopes.run(NOTHING, work);
}
