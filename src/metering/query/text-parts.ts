/**
 * Splits lists of references into parts that fit the text of a statement. ClickHouse treats a list in a statement as a
 * constant up to a megabyte of text; beyond that the statement costs events × references. A query reads the events of
 * its references only, so several cost as much as one would.
 */

/** Maximum characters of the references of one statement, including their quotes: far from a megabyte. */
const TEXT_CHARACTERS_MAX = 400_000;
const AROUND_EACH = 3;

/** The items in order, each in one part. An item with more references than that is a separate part. */
export function inTextParts<Item>(
  items: readonly Item[],
  refsOf: (item: Item) => readonly string[],
): Item[][] {
  const parts: Item[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const own = refsOf(item).reduce((sum, ref) => sum + ref.length + AROUND_EACH, 0);
    if (characters + own > TEXT_CHARACTERS_MAX) {
      parts.push([]);
      characters = 0;
    }
    parts.at(-1)?.push(item);
    characters += own;
  }
  return parts;
}
