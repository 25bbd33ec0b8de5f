/** Values by key, up to a total size, beyond which the least recently used are evicted. */

export interface CacheOptions<Value> {
  /** In the unit of `sizeOf`. */
  readonly sizeMax: number;
  /** 1 unless given, so that `sizeMax` is a number of values. Must return the same size for a value each time. */
  readonly sizeOf?: (value: Value) => number;
}

export interface Cache<Key, Value> {
  /** Undefined: it was never set, or has been evicted. */
  get(key: Key): Value | undefined;
  /** A value larger than the whole cache is evicted at once. */
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  /** Least recently used first. Does not count as use. */
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
  // A Map keeps insertion order.
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
