/** Connected components of a graph. Pure. */

/** For each id, all ids connected to it, itself included, ascending. All members of a group share one list. */
export function connectedGroups(
  ids: Iterable<string>,
  connected: Iterable<readonly string[]>,
): Map<string, readonly string[]> {
  const groupOf = new Map<string, Set<string>>();
  const groupWith = (id: string): Set<string> => {
    const known = groupOf.get(id) ?? new Set([id]);
    groupOf.set(id, known);
    return known;
  };
  for (const id of ids) groupWith(id);
  for (const [first, ...others] of connected) {
    if (first === undefined) continue;
    for (const other of others) join(groupOf, groupWith(first), groupWith(other));
  }
  const lists = new Map<Set<string>, readonly string[]>();
  return new Map(
    [...groupOf].map(([id, group]) => {
      const list = lists.get(group) ?? [...group].sort();
      lists.set(group, list);
      return [id, list];
    }),
  );
}

/** Merges the smaller group into the larger one. */
function join(groupOf: Map<string, Set<string>>, a: Set<string>, b: Set<string>): void {
  if (a === b) return;
  const [into, from] = a.size < b.size ? [b, a] : [a, b];
  for (const id of from) {
    into.add(id);
    groupOf.set(id, into);
  }
}
