/** A line or a row of a file, before it becomes an event. */
export interface Line {
  /** From 1; rows of a table, without the header. */
  readonly number: number;
  /** JSON text of an event; empty if the row is empty; null if it is longer than any event can be. */
  readonly bytes: Buffer | null;
  /**
   * Where reading continues after it: the offset of the next byte for a file of lines, the number of rows for others.
   */
  readonly end: number;
  /** Why it cannot be an event, if that is known already. */
  readonly problem?: string;
  /** The text in the file, if it differs from `bytes`. */
  readonly source?: () => string;
  /** The mapping excludes it. */
  readonly isLeftOut?: true;
}

/** How far a file was read. */
export interface Position {
  readonly offset: number;
  readonly line: number;
}

/** The largest event is well below; a longer line indicates another kind of file. */
export const LINE_BYTES_MAX = 4 * 1024 * 1024;

const NOTHING = Buffer.alloc(0);

/** A row without an event: `problem` is the reason, or null if the mapping excludes it. */
export function lineWithout(number: number, end: number, problem: string | null, source: () => string): Line {
  return problem === null
    ? { number, bytes: NOTHING, end, source, isLeftOut: true }
    : { number, bytes: NOTHING, end, source, problem };
}
