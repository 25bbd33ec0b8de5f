/** Values that are derived from one object, or belong to it, and are there for as long as the object is. */

/**
 * Calls `create` with an object when its value is first asked for; later calls return the same value, whatever else
 * they are given. A promise that rejects stays rejected, so `create` should not fail.
 */
export function perObject<Key extends object, Value extends object, Rest extends readonly unknown[]>(
  create: (of: Key, ...rest: Rest) => Value,
): (of: Key, ...rest: Rest) => Value {
  const values = new WeakMap<Key, Value>();
  return (of, ...rest) => {
    const known = values.get(of);
    if (known !== undefined) return known;
    const value = create(of, ...rest);
    values.set(of, value);
    return value;
  };
}
