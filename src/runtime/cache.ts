/** Values by key, up to a size in all: beyond it those are evicted that were not used for the longest time. */

export interface CacheOptions<Value> {
  /** In the unit of `sizeOf`. */
  readonly sizeMax: number;
  /** 1 unless given, so that `sizeMax` is a number of values. The same for a value whenever it is asked. */
  readonly sizeOf?: (value: Value) => number;
}

export interface Cache<Key, Value> {
  /** Undefined: it was never set, or is evicted. */
  get(key: Key): Value | undefined;
  /** A value larger than the whole cache is evicted at once. */
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  /** Those that were used longest ago first. Does not count as use. */
  entries(): readonly (readonly [Key, Value])[];
  figures(): CacheFigures;
}

interface CacheFigures {
  readonly size: number;
  readonly hits: number;
  readonly misses: number;
}

export function createCache<Key, Value>({
  sizeMax,
  sizeOf = () => 1,
}: CacheOptions<Value>): Cache<Key, Value> {
  // A Map lists its keys in the order in which they were set.
  const values = new Map<Key, Value>();
  let size = 0;
  let hits = 0;
  let misses = 0;

  function remove(key: Key): void {
    const value = values.get(key);
    if (value === undefined) return;
    values.delete(key);
    size -= sizeOf(value);
  }

  return {
    get(key) {
      const value = values.get(key);
      if (value === undefined) {
        misses += 1;
        return undefined;
      }
      hits += 1;
      values.delete(key);
      values.set(key, value);
      return value;
    },
    set(key, value) {
      remove(key);
      values.set(key, value);
      size += sizeOf(value);
      for (const oldest of values.keys()) {
        if (size <= sizeMax) break;
        remove(oldest);
      }
    },
    delete: remove,
    entries: () => [...values],
    figures: () => ({ size, hits, misses }),
  };
}
