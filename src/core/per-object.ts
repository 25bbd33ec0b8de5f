/** Values that are derived from one object, or belong to it, and live as long as the object. */

/**
 * Calls `create` with an object on first use; later calls return the same value, whatever else they are given. A
 * promise that rejects stays rejected, so `create` should not fail.
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
