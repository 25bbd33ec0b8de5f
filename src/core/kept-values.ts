/**
 * A cache of values that took long to compute, valid while their input is unchanged.
 *
 * Owns: which values are cached, and how many. Does not own: the version; the caller reads it from the store of the
 * value, so a change by another process gives another version.
 */

export interface KeptValues<Value> {
  /** Whether a value is cached for any version. */
  has(key: string): boolean;
  /** The value cached for this version; null: compute it. */
  get(key: string, version: string): Value | null;
  /** The value cached for any version; null: none. */
  latest(key: string): Value | null;
  /** Replaces the cached value of the key. A value that exceeds `weightMax` alone is not cached. */
  put(key: string, version: string, value: Value): void;
}

interface Kept<Value> {
  readonly version: string;
  readonly value: Value;
  readonly weight: number;
}

/** Caches values of a total weight of `weightMax`. The least recently used is evicted first. */
export function keptValues<Value>({
  weightMax,
  weightOf,
}: {
  readonly weightMax: number;
  readonly weightOf: (value: Value) => number;
}): KeptValues<Value> {
  /** From the least to the most recently used. */
  const byKey = new Map<string, Kept<Value>>();
  let weight = 0;
  const remove = (key: string) => {
    weight -= byKey.get(key)?.weight ?? 0;
    byKey.delete(key);
  };
  return {
    has: (key) => byKey.has(key),
    get(key, version) {
      const kept = byKey.get(key);
      if (kept === undefined || kept.version !== version) return null;
      byKey.delete(key);
      byKey.set(key, kept);
      return kept.value;
    },
    latest: (key) => byKey.get(key)?.value ?? null,
    put(key, version, value) {
      const own = weightOf(value);
      remove(key);
      if (own > weightMax) return;
      byKey.set(key, { version, value, weight: own });
      weight += own;
      for (const oldest of byKey.keys()) {
        if (weight <= weightMax) return;
        remove(oldest);
      }
    },
  };
}
