/** Groups of connected ids, against walks from each of them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { connectedGroups } from '../../src/core/connected-groups.ts';

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g');

function reached(from: string, connected: readonly (readonly string[])[]): string[] {
  const found = new Set([from]);
  // A set is walked through with what is added meanwhile.
  for (const one of found) {
    for (const ids of connected) if (ids.includes(one)) for (const other of ids) found.add(other);
  }
  return [...found].sort();
}

test('each id is in the group of everything that it reaches, once', () => {
  const connected = fc.array(fc.array(id, { maxLength: 3 }), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(id, { maxLength: 4 }), connected, (ids, links) => {
      const groups = connectedGroups(ids, links);
      // One id alone connects nothing.
      const known = new Set([...ids, ...links.filter(({ length }) => length > 1).flat()]);
      expect([...groups.keys()].sort()).toEqual([...known].sort());
      for (const [one, group] of groups) {
        expect(group).toEqual(reached(one, links));
        for (const other of group) expect(groups.get(other)).toBe(group);
      }
    }),
    { numRuns: 2_000 },
  );
});
