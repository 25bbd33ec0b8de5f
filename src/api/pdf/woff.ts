/** Unpacks a font in WOFF 1.0, which is a TrueType or OpenType file whose tables are compressed with zlib. */
import { inflateSync } from 'node:zlib';
import { assert } from '../../core/errors.ts';

const SIGNATURE = 'wOFF';
const HEADER = 44;
const ENTRY = 20;
const SFNT_HEADER = 12;
const SFNT_ENTRY = 16;

/** The font as a TrueType or OpenType file. Throws where `woff` is no such font. */
export function unpackWoff(woff: Buffer): Buffer {
  assert(woff.toString('latin1', 0, 4) === SIGNATURE, 'a piece of a font is in WOFF');
  const count = woff.readUInt16BE(12);
  const head = Buffer.alloc(SFNT_HEADER + count * SFNT_ENTRY);
  woff.copy(head, 0, 4, 8);
  head.writeUInt16BE(count, 4);
  const selector = Math.floor(Math.log2(count));
  head.writeUInt16BE(2 ** selector * 16, 6);
  head.writeUInt16BE(selector, 8);
  head.writeUInt16BE(count * 16 - 2 ** selector * 16, 10);
  const parts: Buffer[] = [head];
  let offset = head.length;
  for (let index = 0; index < count; index += 1) {
    const at = HEADER + index * ENTRY;
    const table = tableAt(woff, at);
    const entry = SFNT_HEADER + index * SFNT_ENTRY;
    woff.copy(head, entry, at, at + 4);
    woff.copy(head, entry + 4, at + 16, at + 20);
    head.writeUInt32BE(offset, entry + 8);
    head.writeUInt32BE(table.length, entry + 12);
    const padding = Buffer.alloc((4 - (table.length % 4)) % 4);
    parts.push(table, padding);
    offset += table.length + padding.length;
  }
  return Buffer.concat(parts);
}

function tableAt(woff: Buffer, entry: number): Buffer {
  const [start, packed, length] = [4, 8, 12].map((at) => woff.readUInt32BE(entry + at)) as [
    number,
    number,
    number,
  ];
  const bytes = woff.subarray(start, start + packed);
  const table = packed < length ? inflateSync(bytes, { maxOutputLength: length }) : bytes;
  assert(table.length === length, 'a table of a font is whole');
  return table;
}
