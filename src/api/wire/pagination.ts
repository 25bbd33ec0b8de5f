/**
 * Paged lists: `{data, next_page}` with an opaque cursor.
 *
 * A cursor is base64url JSON of where the page ended (sort keys of its last row), never an offset, so
 * that rows which appear between two requests neither repeat nor hide others.
 */
import { z } from 'zod';
import { assert } from '../../core/errors.ts';

/** Sort keys are short, and a URL has to hold them; a longer cursor is not one of ours. */
const CURSOR_LENGTH_MAX = 2_000;

export interface Page<Row> {
  readonly data: Row[];
  readonly next_page: string | null;
}

/** The `next_page` parameter, read as its payload. A cursor that is broken or of another list: 400. */
export function cursor<Payload extends z.ZodType>(payload: Payload) {
  return z
    .string({ error: (issue) => (Array.isArray(issue.input) ? 'must be given once' : undefined) })
    .transform((text, context): z.output<Payload> => {
      const decoded = payload.safeParse(decode(text));
      if (decoded.success) return decoded.data;
      context.addIssue('must be the next_page of an earlier answer of this list');
      return z.NEVER;
    })
    .meta({ type: 'string', description: 'The `next_page` of the previous answer.' });
}

export function encodeCursor(payload: unknown): string {
  const text = Buffer.from(JSON.stringify(payload), 'utf8').toString('base64url');
  // What is handed out is taken back: a payload without bounds would leave the rest of a list out of reach.
  assert(text.length <= CURSOR_LENGTH_MAX, 'the members of a cursor are bounded');
  return text;
}

function decode(text: string): unknown {
  if (text.length > CURSOR_LENGTH_MAX || !/^[\w-]+$/.test(text)) return undefined;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Makes a page of rows that were read with `limit + 1`: the surplus row only tells that there is more.
 * `toCursor` gives the payload of the cursor that continues after a row.
 */
export function page<Row>(rows: readonly Row[], limit: number, toCursor: (row: Row) => unknown): Page<Row> {
  assert(limit >= 1, 'a page holds at least one row');
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { data, next_page: more ? encodeCursor(toCursor(last)) : null };
}

/** The schema of a paged answer. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    next_page: z.string().nullable().meta({ description: 'Cursor of the next page; null at the end.' }),
  });
}
