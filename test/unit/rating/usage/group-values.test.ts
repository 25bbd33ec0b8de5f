import { expect, it } from 'vitest';
import {
  compareGroupValues,
  groupValuesKey,
  pickGroupValues,
} from '../../../../src/rating/quantities/group-values.ts';

it('group values have no value for a name that every object inherits', () => {
  const values = { model: 'large' };
  expect(pickGroupValues(values, ['constructor', 'model', 'toString'])).toEqual(values);
  expect(groupValuesKey(pickGroupValues(values, ['constructor']))).toBe('[]');
  const named = Object.fromEntries([['constructor', 'a']]);
  expect(compareGroupValues(values, named, ['constructor'])).toBe(-1);
  expect(compareGroupValues(values, {}, ['constructor'])).toBe(0);
  expect(pickGroupValues(named, ['constructor'])).toEqual(named);
});
