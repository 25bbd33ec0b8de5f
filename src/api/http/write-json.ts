/**
 * Writes answers with long lists in parts, between which other requests are answered. The parts are bytes: one text of
 * megabytes would be joined and encoded in one go.
 */
import { CHUNK_ITEMS, eachInChunks } from '../../core/in-chunks.ts';
import { JsonList, stringifyJson } from './json.ts';

/** Where answers have their lists: `{data: {current: {overrides: […]}}}`. */
const LIST_DEPTH_MAX = 3;

/** Characters that are encoded at a time. */
const PART_LENGTH = 65_536;

/** Writes what `stringifyJson` does: as a text, or as its bytes in UTF-8 where the value has long lists. */
export async function writeJson(value: unknown): Promise<string | Buffer<ArrayBuffer>> {
  if (!holdsLongList(value, LIST_DEPTH_MAX)) return stringifyJson(value);
  const parts = new Parts();
  await writeInParts(value, LIST_DEPTH_MAX, parts);
  return parts.bytes();
}

async function writeInParts(value: unknown, depth: number, parts: Parts): Promise<void> {
  if (value instanceof JsonList) return await writeItems(value.items, (item) => value.textOf(item), parts);
  if (!holdsLongList(value, depth)) return parts.add(stringifyJson(value));
  if (!Array.isArray(value)) return await writeMembers(value, depth, parts);
  if (value.length > CHUNK_ITEMS) return await writeItems(value, stringifyJson, parts);
  parts.add('[');
  for (const [index, item] of value.entries()) {
    if (index > 0) parts.add(',');
    await writeInParts(item, depth - 1, parts);
  }
  parts.add(']');
}

async function writeItems<Item>(
  items: readonly Item[],
  textOf: (item: Item) => string,
  parts: Parts,
): Promise<void> {
  let separator = '';
  parts.add('[');
  await eachInChunks(items, (item) => {
    parts.add(separator + textOf(item));
    separator = ',';
  });
  parts.add(']');
}

async function writeMembers(value: object, depth: number, parts: Parts): Promise<void> {
  let separator = '';
  parts.add('{');
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    parts.add(`${separator}${JSON.stringify(key)}:`);
    await writeInParts(member, depth - 1, parts);
    separator = ',';
  }
  parts.add('}');
}

/** Whether the value is or has such a list, at most `depth` levels down. */
function holdsLongList(value: unknown, depth: number): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof JsonList) return true;
  if (Array.isArray(value)) {
    if (value.length > CHUNK_ITEMS) return true;
  } else if (!isPlain(value)) return false;
  return depth > 0 && Object.values(value).some((member) => holdsLongList(member, depth - 1));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

class Parts {
  readonly #encoded: Buffer[] = [];
  #text = '';

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= PART_LENGTH) this.#encode();
  }

  bytes(): Buffer<ArrayBuffer> {
    this.#encode();
    return Buffer.concat(this.#encoded);
  }

  #encode(): void {
    this.#encoded.push(Buffer.from(this.#text));
    this.#text = '';
  }
}
