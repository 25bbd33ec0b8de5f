/**
 * The words that pages, comments, texts and names of tests do not use, with what to write instead. They are stated
 * once, in the tables of docs/reference/glossary.md that have a column "not".
 */

/** A pattern of textlint's rule of terms, and what to write. */
export type Term = readonly [pattern: string, write: string];

const wordsIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

/** A space also matches the end of a line; a hyphen belongs to a word. */
const asPattern = (phrase: string): string =>
  phrase.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s+');

function termsOf(words: string[], write: string, exceptions: string[]): Term[] {
  const except = exceptions.length === 0 ? '' : `(?!(?:${exceptions.map(asPattern).join('|')})(?![\\w-]))`;
  return words.map((word) => [`(?<![\\w-])${except}${asPattern(word)}(?![\\w-])`, write] as const);
}

/** The rows of the tables of a Markdown page, by the names of their columns. */
function* rowsOf(page: string): Generator<Map<string, string>> {
  let columns: string[] | undefined;
  for (const line of page.split('\n')) {
    if (!line.startsWith('|')) {
      columns = undefined;
      continue;
    }
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (columns === undefined) columns = cells;
    else if (!/^-+$/.test(cells[0] ?? '')) {
      yield new Map(columns.map((column, index) => [column, cells[index] ?? '']));
    }
  }
}

/** The terms of the glossary: rows of terms name the term to write, rows of plain words have a column for it. */
export function termsOfGlossary(page: string): Term[] {
  return [...rowsOf(page)].flatMap((row) => {
    const write = row.get('write') ?? row.get('term') ?? '';
    return termsOf(wordsIn(row.get('not') ?? ''), write, wordsIn(row.get('exceptions') ?? ''));
  });
}
