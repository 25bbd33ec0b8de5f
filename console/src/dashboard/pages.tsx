/** Numbered pages on the API's cursors, without an address: a frame has none that is visible. */
import { useState } from 'react';
import styles from './dashboard.module.css';
import { useWords } from './shown.tsx';

interface Pages {
  /** The cursor of the current page; undefined for the first. */
  readonly cursor: string | undefined;
  readonly number: number;
  /** The cursors of the visited pages after the first one. */
  readonly known: readonly string[];
  open(number: number): void;
  /** Opens the next page. */
  next(cursor: string): void;
}

export function usePages(): Pages {
  const [number, open] = useState(1);
  const [known, setKnown] = useState<readonly string[]>([]);
  return {
    cursor: known[number - 2],
    number,
    known,
    open,
    next(cursor) {
      setKnown((before) => [...before.slice(0, number - 1), cursor]);
      open(number + 1);
    },
  };
}

export function PageNumbers({
  pages,
  next,
}: {
  readonly pages: Pages;
  readonly next: string | null | undefined;
}) {
  const words = useWords();
  const seen = pages.known.length + 1;
  const hasMore = pages.number === seen && next != null;
  if (seen === 1 && !hasMore) return null;
  return (
    <nav className={styles.pages} aria-label={words.pages}>
      {Array.from({ length: seen }, (_, index) => index + 1).map((number) => (
        <button
          key={number}
          type="button"
          onClick={() => pages.open(number)}
          {...(number === pages.number ? { 'aria-current': 'page' as const } : {})}
        >
          {number}
        </button>
      ))}
      {hasMore ? (
        <button type="button" onClick={() => pages.next(next)}>
          {seen + 1}
        </button>
      ) : null}
    </nav>
  );
}
