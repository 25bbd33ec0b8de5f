/** A line or a row of a file, on its way to be an event. */
export interface Line {
  /** From 1; rows of a table without that of the names. */
  readonly number: number;
  /** JSON text of an event; nothing where the row is none; null where it is longer than any event can be. */
  readonly bytes: Buffer | null;
  /** Where reading continues after it: the offset of the next byte of a file of lines, the number of rows of others. */
  readonly end: number;
  /** Why it cannot be an event, where that is known already. */
  readonly problem?: string;
  /** The text in the file, where it differs from `bytes`. */
  readonly source?: () => string;
  /** The mapping does not take it. */
  readonly isLeftOut?: true;
}

/** How far a file was read. */
export interface Position {
  readonly offset: number;
  readonly line: number;
}

/** The largest event is well below; what is longer is no line but a file of another kind. */
export const LINE_BYTES_MAX = 4 * 1024 * 1024;

const NOTHING = Buffer.alloc(0);

/** A row that becomes no event: `problem` says why, or null where the mapping leaves it out. */
export function lineWithout(number: number, end: number, problem: string | null, source: () => string): Line {
  return problem === null
    ? { number, bytes: NOTHING, end, source, isLeftOut: true }
    : { number, bytes: NOTHING, end, source, problem };
}
