/** The known name that an unknown one is probably a slip of. */

/** ` : did you mean x?`, or nothing where no name is near. `names` are shown as they are given. */
export function suggestion(unknown: string, names: readonly string[]): string {
  const wanted = unknown.toLowerCase();
  // Of three letters every other one is a word of its own: POW is not near now.
  const limit = Math.floor(wanted.length / 4);
  let best: string | null = null;
  let least = limit + 1;
  for (const name of names) {
    const distance = editDistance(wanted, name.toLowerCase(), least);
    if (distance < least) [best, least] = [name, distance];
  }
  return best === null ? '' : `: did you mean ${best}?`;
}

/** Characters to insert, delete or replace; `max` where there are more. */
function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) >= max || a.length > 50) return max;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? max;
}
