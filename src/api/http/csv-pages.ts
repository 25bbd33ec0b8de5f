/**
 * Reads a list to its end for an answer as CSV: calls the handler of the JSON answer page by page, with the cursor of
 * the page before.
 */
import { z } from 'zod';
import { assert } from '../../core/errors.ts';
import { countByMemory } from '../../core/process-memory.ts';
import type { CsvTable } from './csv.ts';

/** The parameters that change from page to page. */
export interface CsvPage {
  /** Cursor of the page before; null for the first page. */
  readonly cursor: string | null;
  readonly limit: number;
}

/** The value that all pages of one answer share: created for the page that asks first, and the same for later ones. */
export type SharedByPages = <Value>(create: () => Value) => Value;

export function sharedByPages(): SharedByPages {
  const values = new Map<() => unknown, unknown>();
  return <Value>(create: () => Value): Value => {
    if (!values.has(create)) values.set(create, create());
    // The compiler does not know that a value belongs to its key.
    return values.get(create) as Value;
  };
}

const answerShape = z.object({ data: z.unknown(), next_page: z.string().nullish() });

/** Without a number of items to read at once: as many items as have about this many rows. */
const ROWS_PER_READ = countByMemory(51_200, { least: 10_000, most: 100_000 });
const ITEMS_PER_READ_MAX = 100;
/** Nothing is known of their rows before they are read. */
const FIRST_ITEMS = 1;

/** The rows of all pages, one page at a time. `readPage` returns the body of the JSON answer. */
export async function* csvReads(
  table: CsvTable<unknown>,
  readPage: (page: CsvPage) => Promise<unknown>,
): AsyncGenerator<string[][], void, undefined> {
  let cursor: string | null = null;
  let limit = table.itemsPerRead ?? FIRST_ITEMS;
  do {
    const { data, next_page: next = null } = answerShape.parse(await readPage({ cursor, limit }));
    const items = Array.isArray(data) ? data : [data];
    const rows = table.cells(items);
    yield rows;
    limit = table.itemsPerRead ?? nextLimit(items.length, rows.length);
    assert(next === null || next !== cursor, 'every page of a list ends after the one before');
    cursor = next;
  } while (cursor !== null);
}

/** Parameters with the cursor and limit of a page, where it is `schema` that has them; else unchanged. */
export function onPage(schema: z.ZodType | undefined, value: unknown, { cursor, limit }: CsvPage): unknown {
  if (!(schema instanceof z.ZodObject)) return value;
  const position: unknown = schema.shape.next_page;
  if (!(position instanceof z.ZodType) || typeof value !== 'object') return value;
  return {
    ...value,
    limit,
    ...(cursor === null ? {} : { next_page: position.parse(cursor) }),
  };
}

/** As many items as have `ROWS_PER_READ` rows, if they have as many each as those before. */
function nextLimit(items: number, rows: number): number {
  const fitting = rows === 0 ? ITEMS_PER_READ_MAX : Math.floor((ROWS_PER_READ * items) / rows);
  return Math.max(1, Math.min(ITEMS_PER_READ_MAX, fitting));
}
