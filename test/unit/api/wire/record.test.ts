/** The effect of records on requests and answers, in all the forms that are derived from one description. */
import { describe, expect, test } from 'vitest';
import { checkInput } from '../../../../src/api/http/problems.ts';
import {
  answered,
  called,
  decided,
  described,
  list,
  optional,
  optionalMany,
  patched,
  sent,
} from '../../../../src/api/wire/description.ts';
import { exact, hour, id, oneOf, product, text, textMap, truth } from '../../../../src/api/wire/kinds.ts';
import { beside, inside, insideIfAny, record } from '../../../../src/api/wire/record.ts';
import { decimal } from '../../../../src/core/decimal.ts';

const PRODUCT = '5f3c1a52-90f6-4e0c-9f6e-0f5b6a8c9d10';

const names = {
  products: new Map([[PRODUCT, 'Gold plan']]),
  creditTypes: new Map(),
  customFields: new Map(),
  invoiceIds: new Map(),
};

const part = record({ size: decided(exact()), startingAt: hour });

const fields = {
  id: answered(id),
  name: described('Shown on invoices.', optional(text)),
  productId: product,
  kind: decided(oneOf(['LARGE', 'SMALL'])),
  labels: optionalMany(textMap, {}),
  parts: list(part, { max: 2 }),
  billing: inside({ isPaid: truth }),
  rest: insideIfAny({ left: called('left_over', optional(exact())) }),
  note: sent(optional(text)),
  scope: beside({ tags: optionalMany(list(text, { max: 3 }), []) }, 'some_'),
};

const thing = record(fields);

const body = {
  product_id: PRODUCT,
  parts: [{ size: 1.5, starting_at: '2026-01-01T00:00:00Z' }],
  billing: { is_paid: true },
};

const problemOf = (value: unknown): string => {
  try {
    checkInput(thing.input.strict, 'body', value);
  } catch (error) {
    return String(error);
  }
  return 'none';
};

describe('what is sent', () => {
  test('a body that is sent is read under the names of the domain, with null for what was left out', () => {
    expect(thing.input.tolerant.parse({ ...body, name: null, unknown: 1 })).toEqual({
      name: null,
      productId: PRODUCT,
      kind: null,
      labels: {},
      parts: [{ size: decimal('1.5'), startingAt: Date.UTC(2026, 0, 1) }],
      isPaid: true,
      left: null,
      note: null,
      scope: { tags: [] },
    });
  });

  test('a body that is sent is read from separate objects and from between other members', () => {
    const read = thing.input.strict.parse({
      ...body,
      kind: 'small',
      rest: { left_over: 2 },
      some_tags: ['a'],
      labels: { any: 'thing' },
    });
    expect(read).toMatchObject({
      kind: 'SMALL',
      left: decimal('2'),
      scope: { tags: ['a'] },
      labels: { any: 'thing' },
    });
  });

  test.each([
    [{ ...body, nmae: 'y' }, 'nmae: is not a field of this operation'],
    [{ nmae: 'y' }, 'nmae: is not a field of this operation'],
    [{ ...body, parts: [...body.parts, { sise: 1 }] }, 'parts[1].sise: is not a field'],
    [{ ...body, billing: { paid: true } }, 'billing.paid: is not a field'],
    [{ ...body, rest: { left: 1 } }, 'rest.left: is not a field'],
    [{ ...body, id: PRODUCT }, 'id: is not a field'],
    [{ ...body, constructor: 1 }, 'constructor: is not a field'],
    [JSON.parse('{"__proto__":1}'), '__proto__: is not a field'],
    [{ ...body, name: 1 }, 'name: must be a string'],
    [null, 'body: must be an object'],
    [{ ...body, parts: { size: 1 } }, 'parts: must be an array'],
    [{}, 'product_id: is required; parts: is required; billing: is required'],
  ])('%j is refused in strict bodies by the paths of what is wrong', (value, problem) => {
    expect(problemOf(value)).toContain(problem);
  });
});

describe('what is answered', () => {
  const stored = {
    id: PRODUCT,
    name: null,
    productId: PRODUCT,
    kind: 'LARGE' as const,
    labels: {},
    parts: [{ size: decimal('0'), startingAt: 0 }],
    isPaid: false,
    left: null,
    scope: { tags: [] },
  };

  test('an answer leaves out what was not given, and names what is known by id', () => {
    expect(thing.write(stored, names)).toEqual({
      id: PRODUCT,
      product: { id: PRODUCT, name: 'Gold plan' },
      kind: 'LARGE',
      parts: [{ size: decimal('0'), starting_at: '1970-01-01T00:00:00.000Z' }],
      billing: { is_paid: false },
    });
  });
});

describe('a patch', () => {
  const change = record(patched({ name: fields.name, isPaid: truth, productId: id }));

  test.each([
    [{}, { name: undefined, isPaid: undefined, productId: undefined }],
    [{ name: null }, { name: null }],
    [{ is_paid: null }, { isPaid: undefined }],
    [
      { name: 'x', is_paid: true },
      { name: 'x', isPaid: true },
    ],
  ])('a patch reads %j as %j', (value, read) => {
    expect(change.input.strict.parse(value)).toMatchObject(read);
  });

  test('a patch is answered with null for what it took away, and without what it left alone', () => {
    expect(change.write({ name: null, isPaid: true }, names)).toEqual({ name: null, is_paid: true });
  });
});
