/**
 * Numbered pages on the API's cursors. The address contains the number of the page and its cursor, so that every page
 * can be shared; visited pages are remembered while the list stays the same.
 */
import { Link } from '@tanstack/react-router';
import styles from './table.module.css';

export interface PageSearch {
  readonly page?: string | undefined;
  readonly cursor?: string | undefined;
}

/** Cursors of pages by their number, for each list. */
const seen = new Map<string, Map<number, string>>();
const LISTS_MAX = 50;

function seenOf(list: string): Map<number, string> {
  const known = seen.get(list) ?? new Map<number, string>();
  if (!seen.has(list) && seen.size >= LISTS_MAX) seen.clear();
  seen.set(list, known);
  return known;
}

/** `list`: identifies the list with its filters. `search`: that of the address. */
export function Pager(props: {
  readonly list: string;
  readonly search: PageSearch;
  readonly next: string | null | undefined;
}) {
  const { search, next } = props;
  const current = Math.max(1, Number(search.page ?? '1') || 1);
  const known = seenOf(props.list);
  if (search.cursor !== undefined) known.set(current, search.cursor);
  if (next) known.set(current + 1, next);
  else known.delete(current + 1);
  const numbers = [1, ...known.keys()].sort((a, b) => a - b);
  if (numbers.length === 1) return null;
  return (
    <nav className={styles.pager} aria-label="Pages">
      {numbers.map((number, index) => (
        <span key={number}>
          {number - (numbers[index - 1] ?? 0) > 1 ? '… ' : ''}
          <Link
            to="."
            search={
              ((before: Record<string, unknown>) => ({
                ...before,
                page: number === 1 ? undefined : String(number),
                cursor: number === 1 ? undefined : known.get(number),
              })) as never
            }
            className={styles.pageLink ?? ''}
            aria-label={`Page ${number}`}
            {...(number === current ? { 'aria-current': 'page' as const } : {})}
          >
            {number}
          </Link>
        </span>
      ))}
      {next ? <span>…</span> : null}
    </nav>
  );
}
