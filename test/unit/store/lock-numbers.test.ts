import { expect, test } from 'vitest';
import { LOCK_FAMILIES, LOCKS } from '../../../src/store/base/lock-numbers.ts';

test.each([
  ['locks', LOCKS],
  ['families of locks', LOCK_FAMILIES],
])('no two %s have the same number', (_, locks) => {
  const numbers = Object.values(locks);
  expect(new Set(numbers).size).toBe(numbers.length);
});
