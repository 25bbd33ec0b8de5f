import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimal } from '../../../src/core/decimal.ts';
import { derivedId, derivedIdInParts } from '../../../src/core/ids.ts';
import { CHUNK_ITEMS } from '../../../src/core/in-chunks.ts';
import {
  eachJsonPart,
  isLongJson,
  jsonDigestInParts,
  jsonTextInParts,
} from '../../../src/core/json-in-parts.ts';

/** Values that `JSON.stringify` writes, leaves out, or asks for their JSON. */
const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('𝄞', '\ud834', '"\\', '\u2028'),
  fc.double(),
  fc.constantFrom(null, undefined, true),
  fc.constant(() => 1),
  fc.integer().map((digits) => decimal(`${digits}.10`)),
  fc.date({ noInvalidDate: true }),
  fc.constant({ toJSON: () => ['own'] }),
);

/** Lists longer than what is written in one go, or together with their likes. */
const longList = fc
  .tuple(leaf, fc.dictionary(fc.string(), leaf, { maxKeys: 2 }), fc.constantFrom(0.4, 1, 1.5))
  .map(([one, other, share]) =>
    Array.from({ length: CHUNK_ITEMS * share }, (_, at) => (at % 3 ? one : other)),
  );

const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 7, depthSize: 'small' },
    fc.oneof(leaf, longList),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie('tree'), { maxKeys: 4 }),
  ),
}));

const document = fc.dictionary(fc.string(), tree, { maxKeys: 4 });

/** Where the lines of a preview are. */
const previewed = (lines: object) => ({ data: [{ invoices: [{ preview: { line_items: lines } }] }] });

const long = Array.from({ length: 3 * CHUNK_ITEMS }, (_, index) => ({ text: `𝄞"${index}`, none: undefined }));

describe('JSON in parts', () => {
  test('JSON in parts is the JSON in one go', async () => {
    await fc.assert(
      fc.asyncProperty(document, async (value) => {
        expect(await jsonTextInParts(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  test('JSON in parts gives the digest and the derived id of the JSON in one go', async () => {
    await fc.assert(
      fc.asyncProperty(document, fc.string(), async (value, kind) => {
        const json = JSON.stringify(value);
        expect(await jsonDigestInParts(value)).toBe(createHash('sha256').update(json).digest('base64'));
        expect(await derivedIdInParts(kind, value)).toBe(derivedId(kind, json));
      }),
    );
  });

  test('JSON in parts ends no part inside a pair of surrogates', async () => {
    const parts: string[] = [];
    await eachJsonPart(
      Array.from({ length: 20_000 }, (_, index) => '𝄞'.repeat(index % 7)),
      (part) => parts.push(part),
    );
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.filter((part) => /\p{Surrogate}/u.test(part))).toEqual([]);
  });

  test('JSON in parts lets other work run between items that take long, wherever their list is', async () => {
    for (const around of [
      (list: object) => list,
      (list: object) => [{ terms: { list } }, [[{ list }]]],
      previewed,
    ]) {
      let isWritten = false;
      const other = new Promise<boolean>((resolve) => setImmediate(() => resolve(isWritten)));
      const slow = { toJSON: () => busyFor(1) };
      await jsonTextInParts(around([...long, ...Array.from({ length: 20 }, () => slow)])).then(() => {
        isWritten = true;
      });
      expect(await other).toBe(false);
    }
  });

  test('JSON in parts is for values with long lists, and for many short ones together', () => {
    expect(isLongJson(long)).toBe(true);
    expect(isLongJson({ data: [{ terms: long.slice(0, 300) }, { terms: long.slice(0, 300) }] })).toBe(true);
    expect(isLongJson({ data: [{ terms: long.slice(0, 300) }] })).toBe(false);
    expect(isLongJson(previewed(long))).toBe(true);
    expect(isLongJson('text')).toBe(false);
  });

  test('JSON in parts rejects with what a value throws', async () => {
    await expect(jsonTextInParts([...long, 1n])).rejects.toThrow('BigInt');
  });
});

function busyFor(milliseconds: number): null {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
  return null;
}
