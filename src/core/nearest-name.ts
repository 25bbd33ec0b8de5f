/** Suggests the known name for a misspelt one. */

/** Longer names are not compared: the cost grows with the square of their length. */
const COMPARED_LENGTH_MAX = 100;

/**
 * The candidate with the fewest edits within `slipsMaxOf` it: characters that are omitted, added, wrong, or two that
 * are swapped. The first one among equals. Null if there is none. Case is ignored.
 */
export function nearestName(
  name: string,
  known: readonly string[],
  slipsMaxOf: (candidate: string) => number,
): string | null {
  if (name.length > COMPARED_LENGTH_MAX) return null;
  const wanted = name.toLowerCase();
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const most = slipsMaxOf(candidate);
    if (Math.abs(candidate.length - name.length) > most) continue;
    const slips = slipsBetween(wanted, candidate.toLowerCase());
    if (slips <= most && slips < least) [best, least] = [candidate, slips];
  }
  return best;
}

/** The restricted Damerau-Levenshtein distance. */
function slipsBetween(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
