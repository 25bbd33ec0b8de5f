import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkBody } from '../../../../src/api/http/long-lists.ts';
import { checkInput } from '../../../../src/api/http/problems.ts';
import { editContractBody } from '../../../../src/api/routes/contract-edits/edit.ts';
import { createContractBody } from '../../../../src/api/routes/contracts/from-package.ts';
import { CHUNK_ITEMS } from '../../../../src/core/in-chunks.ts';

const ID = '1f0b2a3c-0000-4000-8000-000000000001';
const START = '2026-01-01T00:00:00Z';
const MANY = CHUNK_ITEMS + 1;

function overrides(count: number, fields: object = {}): object[] {
  return Array.from({ length: count }, (_, index) => ({
    starting_at: START,
    type: 'MULTIPLIER',
    multiplier: 0.5,
    ...(index === count - 1 ? fields : {}),
  }));
}

const creation = (lists: object) => ({ customer_id: ID, rate_card_id: ID, starting_at: START, ...lists });
const edit = (lists: object) => ({ customer_id: ID, contract_id: ID, ...lists });

/** A preview has the terms of a change in itself. */
const changed = z.object({
  edit: editContractBody.optional(),
  creation: createContractBody.nullish(),
  name: z.string().nullish(),
});

const ofParts = z.object({ parts: z.array(z.object({ lines: z.array(z.int()) })) });

const parts = (last: unknown) => [
  ...Array.from({ length: 3 }, () => ({ lines: new Array(CHUNK_ITEMS / 2).fill(1) })),
  { lines: [1, last] },
];

async function outcomeOf(check: () => unknown): Promise<unknown> {
  try {
    return { output: await check() };
  } catch (error) {
    // Other problems than those of the items may not be counted.
    return { message: (error as Error).message.replace(/; and \d+ more$/, '') };
  }
}

async function expectSame(schema: z.ZodType, body: unknown): Promise<void> {
  expect(await outcomeOf(() => checkBody(schema, body))).toEqual(
    await outcomeOf(() => checkInput(schema, 'body', body)),
  );
}

describe('checkBody', () => {
  it.each([
    ['a creation', createContractBody, creation({ overrides: overrides(MANY) })],
    [
      'an item that is not valid',
      createContractBody,
      creation({ overrides: overrides(MANY, { type: 'X' }) }),
    ],
    ['too many items', createContractBody, creation({ overrides: overrides(20_000) })],
    ['a field that is missing', createContractBody, { overrides: overrides(MANY) }],
    ['a package and terms', createContractBody, creation({ package_id: ID, overrides: overrides(MANY) })],
    ['an edit', editContractBody, edit({ add_overrides: overrides(MANY) })],
    ['an unknown field of an item', editContractBody, edit({ add_overrides: overrides(MANY, { price: 1 }) })],
    [
      'an ignored field of an item',
      editContractBody,
      edit({ add_subscriptions: Array.from({ length: MANY }, () => ({ payment_gate_config: {} })) }),
    ],
    ['a list within an object', changed, { edit: edit({ add_overrides: overrides(MANY) }), name: 'One' }],
    [
      'an item within an object that is not valid',
      changed,
      { creation: creation({ overrides: overrides(MANY, { type: 'X' }) }) },
    ],
    ['too many items within an object', changed, { creation: creation({ overrides: overrides(20_000) }) }],
    ['a field that an object with a long list lacks', changed, { creation: { overrides: overrides(MANY) } }],
    ['few items with long lists inside', ofParts, { parts: parts(1) }],
    ['an item of such a list that is not valid', ofParts, { parts: parts('one') }],
  ])('checkBody decides like checkInput on %s', async (_, schema, body) => {
    await expectSame(schema, body);
  });

  it('checkBody decides like checkInput on lists of any length, absent, null or of another type', async () => {
    const schema = z
      .strictObject({
        list: z
          .array(z.strictObject({ count: z.int().min(0) }))
          .max(1_000)
          .nullish()
          .transform((value) => value ?? []),
        name: z.string().optional(),
      })
      .refine(({ list }) => list.length !== 700, { message: 'must not be 700' });
    const nested = z.object({ own: schema.nullish(), deeper: z.object({ own: schema }).optional() });
    const item = fc.oneof(
      { weight: 5, arbitrary: fc.record({ count: fc.nat() }) },
      { weight: 1, arbitrary: fc.constantFrom(null, {}, { count: -1 }, { count: 1, other: 1 }) },
    );
    const length = fc.constantFrom(0, 1, CHUNK_ITEMS, MANY, 700, 1_001);
    const list = fc.oneof(
      fc
        .tuple(length, fc.array(item, { minLength: 1, maxLength: 6 }))
        .map(([count, items]) => Array.from({ length: count }, (_, index) => items[index % items.length])),
      fc.constantFrom(null, undefined, 'text', {}),
    );
    await fc.assert(
      fc.asyncProperty(fc.record({ list }), async (body) => {
        await expectSame(schema, body);
        await expectSame(nested, { own: body });
        await expectSame(nested, { own: null, deeper: { own: body } });
      }),
    );
  });

  it('checkBody lets other work run before a long list is checked', async () => {
    let isChecked = false;
    const other = new Promise<boolean>((resolve) => setImmediate(() => resolve(isChecked)));
    const slow = z.number().refine(() => {
      const end = performance.now() + 0.1;
      while (performance.now() < end);
      return true;
    });
    await checkBody(z.object({ list: z.array(slow) }), { list: Array(MANY).fill(1) });
    isChecked = true;
    expect(await other).toBe(false);
  });
});
