/**
 * Values that took long to compute, kept while their input is still the same.
 *
 * Owns: which values are kept, and how many. Does not own: what a version is; the caller reads it from the store
 * that the value comes from, so a change by another process gives another version.
 */

export interface KeptValues<Value> {
  /** Whether a value is kept for some version. */
  has(key: string): boolean;
  /** The value kept for this version; null: make it. */
  get(key: string, version: string): Value | null;
  /** The value kept for whatever version; null: none. */
  latest(key: string): Value | null;
  /** Replaces what is kept for the key. A value that weighs more than all of them may is not kept. */
  put(key: string, version: string, value: Value): void;
}

interface Kept<Value> {
  readonly version: string;
  readonly value: Value;
  readonly weight: number;
}

/** Keeps values of `weightMax` together. The least recently used is removed first. */
export function keptValues<Value>({
  weightMax,
  weightOf,
}: {
  readonly weightMax: number;
  readonly weightOf: (value: Value) => number;
}): KeptValues<Value> {
  /** From the one that was used longest ago to the latest. */
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
