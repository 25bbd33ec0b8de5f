/**
 * Reads a list to its end for an answer as CSV: calls the handler of the JSON answer page by page, with the cursor of
 * the page before.
 */
import { z } from 'zod';
import { assert } from '../../core/errors.ts';
import type { CsvTable } from './csv.ts';

/** The parameters that change from page to page. */
export interface CsvPage {
  /** Of the page before; null for the first page. */
  readonly cursor: string | null;
  /** Undefined: as many items as the JSON answer has by default. */
  readonly limit: number | undefined;
}

const answerShape = z.object({ data: z.unknown(), next_page: z.string().nullish() });

/** The rows of all pages, one page at a time. `readPage` returns the body of the JSON answer. */
export async function* csvReads(
  table: CsvTable<unknown>,
  readPage: (page: CsvPage) => Promise<unknown>,
): AsyncGenerator<string[][], void, undefined> {
  let cursor: string | null = null;
  do {
    const { data, next_page: next = null } = answerShape.parse(
      await readPage({ cursor, limit: table.itemsPerRead }),
    );
    yield table.cells(Array.isArray(data) ? data : [data]);
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
    ...(limit === undefined ? {} : { limit }),
    ...(cursor === null ? {} : { next_page: position.parse(cursor) }),
  };
}
