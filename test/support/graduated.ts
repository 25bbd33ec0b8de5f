/** A case with graduated prices alone: the same without any mode of tiers. */
export function graduated<Case>(given: Case): Case {
  return withoutModes(given) as Case;
}

function withoutModes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutModes);
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      name === 'tiersMode' ? [] : [[name, withoutModes(member)]],
    ),
  );
}
