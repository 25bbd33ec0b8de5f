/** Sizes in the output of `tallyhouse backup` and `restore`. */
import { expect, it } from 'vitest';
import { sizeText } from '../../../../src/app/backups/size-text.ts';

it.each([
  [0, '0 kB'],
  [41_234, '41.2 kB'],
  [999_999, '1,000 kB'],
  [1_000_000, '1 MB'],
  [1_234_567_890, '1,234.6 MB'],
])('a size of %d bytes is shown as %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});
