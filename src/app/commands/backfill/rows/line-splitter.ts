/** Splits bytes into lines and tracks where each ends. */
import { LINE_BYTES_MAX, type Line } from './line.ts';

const NEWLINE = 10;

export interface LineSplitter {
  /** The lines that end in this chunk. */
  push(chunk: Buffer): Line[];
  /** The last line, if it has no line break. */
  finish(): Line[];
}

/** Starts at a byte offset, after `lines` lines. */
export function createLineSplitter(offset: number, lines: number): LineSplitter {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  let at = offset;
  let number = lines;

  function keep(part: Buffer): void {
    begunBytes += part.length;
    if (begunBytes <= LINE_BYTES_MAX) begun.push(part);
    else begun = [];
  }

  function complete(): Line {
    number += 1;
    const isTooLong = begunBytes > LINE_BYTES_MAX;
    const [only] = begun;
    const bytes = begun.length === 1 && only !== undefined ? only : Buffer.concat(begun);
    begun = [];
    begunBytes = 0;
    return { number, bytes: isTooLong ? null : bytes, end: at };
  }

  return {
    push(chunk) {
      const found: Line[] = [];
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
        keep(chunk.subarray(from, end));
        at += end + 1 - from;
        from = end + 1;
        found.push(complete());
      }
      if (from < chunk.length) {
        keep(chunk.subarray(from));
        at += chunk.length - from;
      }
      return found;
    },
    finish: () => (begunBytes > 0 ? [complete()] : []),
  };
}
