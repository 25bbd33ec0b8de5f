/** How the forms of a term's schema differ in what they make of members that are absent or null. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { given, objectOf, patchOf } from '../../../../src/core/terms/values.ts';

const plain = {
  name: z.string().nullable(),
  productId: z.string(),
  /** Added after documents had been written. */
  reference: z.string().nullable().default(null),
};

describe('a member with a default', () => {
  test('a member with a default is in every document, also in those from before it was there', () => {
    expect(objectOf(plain).parse({ name: 'x', productId: 'y' })).toEqual({
      name: 'x',
      productId: 'y',
      reference: null,
    });
  });

  test('a member with a default is unchanged by a patch that does not have it', () => {
    expect(objectOf(patchOf(plain)).parse({})).toEqual({});
  });

  test('a member with a default is taken away by null', () => {
    expect(objectOf(patchOf(plain)).parse({ reference: null })).toEqual({ reference: null });
  });
});

test('a patch refuses null for what cannot be taken away', () => {
  expect(objectOf(patchOf(plain)).safeParse({ productId: null }).success).toBe(false);
});

test('an undefined member of a patch changes nothing', () => {
  const before = { name: 'a', productId: 'b' };
  expect({ ...before, ...given({ name: null, productId: undefined }) }).toEqual({
    name: null,
    productId: 'b',
  });
});
