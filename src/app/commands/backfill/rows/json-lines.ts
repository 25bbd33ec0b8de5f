/** Files with a JSON object in each line: events, or rows that become events. */
import { isUtf8 } from 'node:buffer';
import type { InputFile } from '../files/input-file.ts';
import { bytesOf } from './bytes.ts';
import type { EventWriter } from './event-of-row.ts';
import { LINE_BYTES_MAX, type Line, lineWithout, type Position } from './line.ts';
import { isObject, parseValue, type Value } from './value.ts';

export async function* readLines(
  file: InputFile,
  from: Position,
  onBytes: (bytes: number) => void,
): AsyncGenerator<readonly Line[]> {
  const splitter = createLineSplitter(from.offset, from.line);
  for await (const chunk of bytesOf(file, from.offset, onBytes)) yield splitter.push(chunk);
  yield splitter.finish();
}

export async function* readJsonRows(
  file: InputFile,
  from: Position,
  writer: EventWriter,
  onBytes: (bytes: number) => void,
): AsyncGenerator<readonly Line[]> {
  for await (const lines of readLines(file, from, onBytes))
    yield lines.map((line) => eventLine(line, writer));
}

function eventLine(line: Line, writer: EventWriter): Line {
  if (line.bytes === null || line.bytes.length === 0) return line;
  if (!isUtf8(line.bytes)) return { ...line, problem: 'is not valid UTF-8' };
  const text = line.bytes.toString().replace(/^\uFEFF/, '');
  if (text.trim() === '') return line;
  const value = parsed(text);
  if (value === undefined) return { ...line, problem: 'is not valid JSON' };
  if (!isObject(value)) return { ...line, problem: 'must hold exactly one JSON object' };
  const written = writer.write(new Map(Object.entries(value)));
  if (written === 'left-out') return lineWithout(line.number, line.end, null, () => text);
  if ('problem' in written) return lineWithout(line.number, line.end, written.problem, () => text);
  const bytes = Buffer.from(written.json);
  return { ...line, bytes: bytes.length > LINE_BYTES_MAX ? null : bytes, source: () => text };
}

function parsed(text: string): Value | undefined {
  try {
    return parseValue(text);
  } catch {
    return undefined;
  }
}

const NEWLINE = 10;

interface LineSplitter {
  /** The lines that end in this chunk. */
  push(chunk: Buffer): Line[];
  /** The last line, if it has no line break. */
  finish(): Line[];
}

/** Starts at a byte offset, after `lines` lines. */
function createLineSplitter(offset: number, lines: number): LineSplitter {
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
