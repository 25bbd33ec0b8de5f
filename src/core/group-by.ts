/** Items by key, each group in the order of the items. (`Map.groupBy` exists from Node 21 on.) */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) addToGroup(groups, keyOf(item), item);
  return groups;
}

/** Adds one item, as the last of its group. */
export function addToGroup<Item, Key>(groups: Map<Key, Item[]>, key: Key, item: Item): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [item]);
  else group.push(item);
}
