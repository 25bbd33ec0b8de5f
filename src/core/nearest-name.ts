/** The known name that another one is probably a slip of. */

/** Longer names are not compared: the work grows with the square of their length. */
const COMPARED_LENGTH_MAX = 100;

/**
 * The candidate with the fewest slips, the first one among equals, of those within `slipsMaxOf` it: characters that are
 * left out, added, wrong, or two that are swapped. Null where there is none. Letter case does not count.
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

/** The distance of Damerau and Levenshtein, in which no part is changed twice. */
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
