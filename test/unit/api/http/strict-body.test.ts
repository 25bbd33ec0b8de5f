import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkInput } from '../../../../src/api/http/problems.ts';
import { strictBody } from '../../../../src/api/http/strict-body.ts';
import { enumIn } from '../../../../src/api/wire/fields.ts';

const schema = strictBody(
  z.object({
    name: z.string(),
    kind: enumIn(['A', 'B']).nullish(),
    values: z.record(z.string(), z.string()).optional(),
    items: z.array(z.object({ size: z.number().nullish() })).nullish(),
  }),
);

const problemOf = (value: unknown): string => {
  try {
    checkInput(schema, 'body', value);
  } catch (error) {
    return String(error);
  }
  return 'none';
};

describe('a strict body', () => {
  test('is parsed as ever where it holds nothing unknown', () => {
    const body = { name: 'x', kind: 'a', values: { any: 'thing' }, items: [{ size: null }] };
    expect(checkInput(schema, 'body', body)).toEqual({ ...body, kind: 'A' });
  });

  test.each([
    [{ name: 'x', nmae: 'y' }, 'nmae: is not a field'],
    [{ name: 'x', items: [{}, { sise: 1 }] }, 'items[1].sise: is not a field'],
    [{ name: 'x', __proto__x: 1 }, '__proto__x: is not a field'],
    [{ name: 'x', constructor: 1 }, 'constructor: is not a field'],
  ])('%j is refused by the path of what is unknown', (body, problem) => {
    expect(problemOf(body)).toContain(problem);
  });

  test('says what is wrong with known fields too', () => {
    expect(problemOf({ name: 1 })).toContain('name: must be a string');
    expect(problemOf(null)).toContain('body: must be an object');
    expect(problemOf({ name: 'x', items: { size: 1 } })).toContain('items: must be an array');
  });
});
