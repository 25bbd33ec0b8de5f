/** Suggests the known name for a misspelt one. */
import { nearestName } from '../../../core/nearest-name.ts';

/** Short names have different near misses: POW is not near now, but name is near nam. */
const LETTERS_PER_SLIP = 4;

/** ` : did you mean x?`, or nothing if no name is near. `names` are shown as they are given. */
export function suggestion(unknown: string, names: readonly string[]): string {
  const best = nearestName(unknown, names, (name) =>
    Math.floor(Math.max(unknown.length, name.length) / LETTERS_PER_SLIP),
  );
  return best === null ? '' : `: did you mean ${best}?`;
}
