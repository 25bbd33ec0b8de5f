/** Files with a JSON object in each line: events, or rows that become events. */
import { isUtf8 } from 'node:buffer';
import type { InputFile } from '../files/input-file.ts';
import { bytesOf } from './bytes.ts';
import type { EventWriter } from './event-of-row.ts';
import { LINE_BYTES_MAX, type Line, lineWithout, type Position } from './line.ts';
import { createLineSplitter } from './line-splitter.ts';
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
