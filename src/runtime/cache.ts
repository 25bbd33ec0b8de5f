/** Values by key, up to a total size, beyond which the least recently used are evicted. */
import { createFigures } from './figures.ts';

export interface CacheOptions<Value> {
  /** In the list of mechanisms. */
  readonly name: string;
  /** In the unit of `sizeOf`. */
  readonly sizeMax: number;
  /** 1 unless given, so that `sizeMax` is a number of values. Must return the same size for a value each time. */
  readonly sizeOf?: (value: Value) => number;
  /** Called for each value that is evicted because of the size. */
  readonly onEvict?: (value: Value) => void;
}

export interface Cache<Key, Value> {
  /** Undefined: it was never set, or has been evicted. */
  get(key: Key): Value | undefined;
  /** A value larger than the whole cache is evicted at once. */
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  /** Least recently used first. Does not count as use. */
  entries(): readonly (readonly [Key, Value])[];
  figures(): Readonly<Record<'size' | 'hits' | 'misses', number>>;
  /** Forgets all values. */
  close(): void;
}

export function createCache<Key, Value>({
  name,
  sizeMax,
  sizeOf = () => 1,
  onEvict = () => undefined,
}: CacheOptions<Value>): Cache<Key, Value> {
  // A Map keeps insertion order.
  const values = new Map<Key, Value>();
  const figures = createFigures('cache', name, ['size', 'hits', 'misses']);
  let size = 0;
  const grow = (by: number) => {
    size += by;
    figures.add('size', by);
  };

  function remove(key: Key): void {
    const value = values.get(key);
    if (value === undefined) return;
    values.delete(key);
    grow(-sizeOf(value));
  }

  return {
    get(key) {
      const value = values.get(key);
      if (value === undefined) {
        figures.add('misses');
        return undefined;
      }
      figures.add('hits');
      values.delete(key);
      values.set(key, value);
      return value;
    },
    set(key, value) {
      remove(key);
      values.set(key, value);
      grow(sizeOf(value));
      for (const [oldest, evicted] of values) {
        if (size <= sizeMax) break;
        remove(oldest);
        onEvict(evicted);
      }
    },
    delete: remove,
    entries: () => [...values],
    figures: figures.read,
    close() {
      values.clear();
      grow(-size);
    },
  };
}
