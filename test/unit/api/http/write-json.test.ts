import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonList, stringifyJson } from '../../../../src/api/base/json.ts';
import { writeJson } from '../../../../src/api/http/write-json.ts';
import { decimal } from '../../../../src/core/decimal.ts';
import { CHUNK_ITEMS } from '../../../../src/core/in-chunks.ts';

const long = Array.from({ length: 2 * CHUNK_ITEMS + 1 }, (_, index) => ({
  id: `${index}`,
  price: decimal('0.10'),
}));

async function written(value: unknown): Promise<string> {
  return String(await writeJson(value));
}

describe('writeJson', () => {
  it('writeJson writes what stringifyJson writes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        expect(await written(value)).toBe(stringifyJson(value));
      }),
    );
  });

  it.each([
    ['a long list', long],
    ['a long list in a member', { data: { none: undefined, terms: { overrides: long } } }],
    ['a long list in a short one', { data: [{ overrides: long }, { overrides: [] }], next_page: null }],
    ['a long list too deep for parts', [[[[[long]]]]]],
  ])('writeJson writes %s like stringifyJson', async (_, value) => {
    expect(await written(value)).toBe(stringifyJson(value));
  });

  it('writeJson writes the items of a JsonList as a list, and only when it writes them', async () => {
    const made: number[] = [];
    const list = new JsonList([1, 2], (item) => {
      made.push(item);
      return { item };
    });
    expect(made).toEqual([]);
    expect(await written({ data: list })).toBe('{"data":[{"item":1},{"item":2}]}');
    expect(stringifyJson({ data: list })).toBe('{"data":[{"item":1},{"item":2}]}');
    expect(await written([[[[[list]]]]])).toBe('[[[[[[{"item":1},{"item":2}]]]]]]');
    expect(list.written()).toEqual([{ item: 1 }, { item: 2 }]);
  });

  it.each(['plain_key1', 'a"b', 'ü', '', 'new\nline', '-'])(
    'writeJson writes the key %j as JSON.stringify does',
    (key) => {
      expect(stringifyJson({ [key]: 1 })).toBe(JSON.stringify({ [key]: 1 }));
    },
  );

  it('writeJson lets other work run before a list that takes long is written', async () => {
    let isWritten = false;
    const other = new Promise<boolean>((resolve) => setImmediate(() => resolve(isWritten)));
    const slow = new JsonList([1, 2, 3], (item) => {
      const end = performance.now() + 20;
      while (performance.now() < end);
      return item;
    });
    await writeJson({ data: { overrides: slow } }).then(() => {
      isWritten = true;
    });
    expect(await other).toBe(false);
  });

  it('writeJson writes characters of several bytes in answers of several parts', async () => {
    const texts = Array.from({ length: 3_000 }, (_, index) => `${'€'.repeat(index % 50)}𝄞"${index}`);
    expect(await written(texts)).toBe(JSON.stringify(texts));
  });

  it('writeJson refuses what JSON cannot represent, also in long lists', async () => {
    await expect(writeJson([...long, Number.NaN])).rejects.toThrow('NaN is not a JSON value');
  });
});
