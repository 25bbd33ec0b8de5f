import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openText, sealText } from '../../../src/core/sealed-text.ts';

const key = randomBytes(32);

test('a sealed secret opens with its key and for its purpose only, and never looks the same twice', () => {
  const sealed = sealText(key, 'sk_live_secret', 'account 1');
  expect(sealed).not.toContain('sk_live');
  expect(openText(key, sealed, 'account 1')).toBe('sk_live_secret');
  expect(openText(key, sealed, 'account 2')).toBeNull();
  expect(openText(randomBytes(32), sealed, 'account 1')).toBeNull();
  expect(openText(key, `${sealed.slice(0, -6)}AAAA==`, 'account 1')).toBeNull();
  expect(openText(key, 'nothing', 'account 1')).toBeNull();
  expect(sealText(key, 'sk_live_secret', 'account 1')).not.toBe(sealed);
});
