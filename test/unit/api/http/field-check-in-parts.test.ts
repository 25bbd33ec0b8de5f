import { expect, test } from 'vitest';
import { z } from 'zod';
import { fieldCheck } from '../../../../src/api/http/unknown-fields.ts';
import { CHUNK_ITEMS } from '../../../../src/core/in-chunks.ts';

const schema = z.object({
  rates: z.array(z.object({ price: z.number(), tiers: z.array(z.object({ size: z.int() })) })),
});

test('the fields of a long list are checked in parts, between which other work runs', async () => {
  const slow = {
    get price() {
      const end = performance.now() + 0.1;
      while (performance.now() < end);
      return 1;
    },
    tiers: [],
  };
  const body = { rates: Array.from({ length: CHUNK_ITEMS }, () => slow) };
  // The shape of the schema is known from now on, so that nothing but the list takes long.
  await fieldCheck(schema, 'any')({});
  let isChecked = false;
  const other = new Promise<boolean>((resolve) => setImmediate(() => resolve(isChecked)));
  const { body: checked } = await fieldCheck(schema, 'any')(body);
  isChecked = true;
  expect(await other).toBe(false);
  expect(checked).toBe(body);
});

test('an unknown field of an item of a list is named with its place, the first ones first', async () => {
  const rates = Array.from({ length: CHUNK_ITEMS }, (_, index) => ({
    price: 1,
    tiers: [{ size: 1, ...(index % 100 === 99 ? { sise: 1 } : {}) }],
  }));
  await expect(fieldCheck(schema, 'any')({ rates })).rejects.toThrow(
    'rates[99].tiers[0].sise: is not a field of this operation; did you mean size?; rates[199].tiers[0].sise',
  );
});
