/**
 * JSON of long documents, written in parts between which the process serves other requests. The text is the same as if
 * it were written in one go.
 *
 * Owns: where a document is cut. Does not own: how a value is written; `JSON.stringify` unless a form is given.
 */
import { createHash } from 'node:crypto';
import { CHUNK_ITEMS, eachInChunks } from './in-chunks.ts';

/** How values are written. */
export interface JsonForm {
  /** The JSON of a value; undefined: it has none. A member is then left out, and an item of a list is null. */
  textOf(value: unknown): string | undefined;
  /** The JSON of each item, if the value is a list whose items are created while they are written; otherwise null. */
  itemsOf(value: object): Iterable<string> | null;
}

const PLAIN: JsonForm = { textOf: (value) => JSON.stringify(value), itemsOf: () => null };

/**
 * The depth to which lists are written in parts: `{data: [{invoices: [{preview: {line_items: […]}}]}]}`, in a page of
 * customers. Deeper ones are written in one go.
 */
const LIST_DEPTH_MAX = 8;

/** Characters of a part. */
const PART_LENGTH = 65_536;

/** Calls `act` with one part of the JSON after another. No part ends inside a text of the document. */
export async function eachJsonPart(
  value: object,
  act: (part: string) => void,
  form: JsonForm = PLAIN,
): Promise<void> {
  let part = '';
  await eachInChunks(pieces(value, LIST_DEPTH_MAX, form), (piece) => {
    part += piece;
    if (part.length < PART_LENGTH) return;
    act(part);
    part = '';
  });
  act(part);
}

/** The text that `JSON.stringify` writes. */
export async function jsonTextInParts(value: object): Promise<string> {
  const parts: string[] = [];
  await eachJsonPart(value, (part) => parts.push(part));
  return parts.join('');
}

/** The SHA-256 of the text of `JSON.stringify`, in base64. */
export async function jsonDigestInParts(value: object): Promise<string> {
  const hash = createHash('sha256');
  await eachJsonPart(value, (part) => hash.update(part));
  return hash.digest('base64');
}

/** Whether the value has enough items in lists to be written in parts. */
export function isLongJson(value: unknown, form: JsonForm = PLAIN): value is object {
  return hasMoreItems(value, LIST_DEPTH_MAX, form);
}

function hasMoreItems(value: unknown, depthMax: number, { itemsOf }: JsonForm): value is object {
  let left = CHUNK_ITEMS;
  const isExceeded = (of: unknown, depth: number): boolean => {
    if (typeof of !== 'object' || of === null) return false;
    if (itemsOf(of) !== null) return true;
    if (Array.isArray(of)) left -= of.length;
    else if (!isPlain(of)) return false;
    return left < 0 || (depth > 0 && Object.values(of).some((member) => isExceeded(member, depth - 1)));
  };
  return isExceeded(value, depthMax);
}

/** Other objects may define their own JSON. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !('toJSON' in value);
}

type Pieces = Generator<string, void, undefined>;

function* pieces(value: object, depth: number, form: JsonForm): Pieces {
  const items = form.itemsOf(value);
  if (items !== null) yield* listPieces(items);
  else if (!hasMoreItems(value, depth, form)) yield form.textOf(value) ?? '';
  else if (!Array.isArray(value)) yield* memberPieces(value, depth, form);
  else if (value.length > CHUNK_ITEMS) yield* listPieces(itemTexts(value, form));
  else yield* itemPieces(value, depth, form);
}

function* listPieces(texts: Iterable<string>): Pieces {
  yield '[';
  let separator = '';
  for (const text of texts) {
    yield separator + text;
    separator = ',';
  }
  yield ']';
}

function* itemTexts(items: readonly unknown[], { textOf }: JsonForm): Pieces {
  for (const item of items) yield textOf(item) ?? 'null';
}

function* itemPieces(items: readonly unknown[], depth: number, form: JsonForm): Pieces {
  yield '[';
  for (const [index, item] of items.entries()) {
    if (index > 0) yield ',';
    if (hasMoreItems(item, depth - 1, form)) yield* pieces(item, depth - 1, form);
    else yield form.textOf(item) ?? 'null';
  }
  yield ']';
}

function* memberPieces(value: object, depth: number, form: JsonForm): Pieces {
  let separator = '{';
  for (const [key, member] of Object.entries(value) as [string, unknown][]) {
    if (member === undefined) continue;
    const start = `${separator}${JSON.stringify(key)}:`;
    if (hasMoreItems(member, depth - 1, form)) {
      yield start;
      yield* pieces(member, depth - 1, form);
    } else {
      const text = form.textOf(member);
      if (text === undefined) continue;
      yield start + text;
    }
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}
