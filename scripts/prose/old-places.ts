/**
 * Places that are older than the glossary are counted for each folder in old-places.json. A count may fall, and never
 * rises: what is new is written in the words of the glossary.
 */
import type { Place } from './find-in-tree.ts';

export type Counts = Record<string, number>;

/** `src/billing`, `test/unit`, `console/src`; pages by their folder or name. */
export function folderOf(path: string): string {
  const parts = path.split('/');
  return parts.length < 3 ? (parts.length === 1 ? path : (parts[0] ?? path)) : parts.slice(0, 2).join('/');
}

export function countsOf(places: readonly Place[]): Counts {
  const counts: Counts = {};
  for (const { path } of places) counts[folderOf(path)] = (counts[folderOf(path)] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1)));
}

export interface Rise {
  folder: string;
  count: number;
  allowed: number;
}

export function risesOf(counts: Counts, allowed: Counts): Rise[] {
  return Object.entries(counts)
    .map(([folder, count]) => ({ folder, count, allowed: allowed[folder] ?? 0 }))
    .filter((rise) => rise.count > rise.allowed);
}

/** The lower of both for each folder, so that writing the file never allows more. Folders without places are left out. */
export function loweredCounts(counts: Counts, allowed: Counts): Counts {
  const lowered = Object.entries(counts).map(
    ([folder, count]) => [folder, Math.min(count, allowed[folder] ?? 0)] as const,
  );
  return Object.fromEntries(lowered.filter(([, count]) => count > 0));
}
