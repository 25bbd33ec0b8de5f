/**
 * Writes answers with long lists in parts, between which other requests are answered. The parts are bytes: one text of
 * megabytes would be joined and encoded in one go.
 */

import type { Hash } from 'node:crypto';
import { eachJsonPart, isLongJson, type JsonForm } from '../../core/json-in-parts.ts';
import { countMemory } from '../../runtime/answer-memory.ts';
import { JsonList, stringifyJson } from '../base/json.ts';

const ANSWER: JsonForm = {
  textOf: stringifyJson,
  itemsOf: (value) => (value instanceof JsonList ? value.texts() : null),
};

/** Writes the same as `stringifyJson`: as a text, or as its bytes in UTF-8 if the value has long lists. */
export async function writeJson(value: unknown): Promise<string | Buffer<ArrayBuffer>> {
  if (!isLongJson(value, ANSWER)) {
    const text = stringifyJson(value);
    countMemory(text.length);
    return text;
  }
  const encoded: Buffer[] = [];
  const take = (part: string) => {
    // As a part, and in the whole.
    countMemory(part.length * 2);
    encoded.push(Buffer.from(part));
  };
  await eachJsonPart(value, take, ANSWER);
  return Buffer.concat(encoded);
}

/** Adds the text of `writeJson` to a digest, in the same parts, without keeping it. */
export async function digestJson(value: unknown, hash: Hash): Promise<void> {
  if (isLongJson(value, ANSWER)) await eachJsonPart(value, (part) => void hash.update(part), ANSWER);
  else hash.update(stringifyJson(value));
}
