/** The check of the console's scale (scripts/console-scale.ts), with planted violations. */
import { expect, test } from 'vitest';
import { offScale, scaleProblems } from '../../../scripts/console-scale.ts';
import { PACKAGE_ROOT } from '../../../src/core/package-root.ts';

test('the console has no space, size of text or corner off its scale', async () => {
  expect(await scaleProblems(PACKAGE_ROOT)).toEqual([]);
});

test.each([
  ['x.css', '.a {\n  padding: 3px 11px;\n}'],
  ['x.css', '.a {\n  margin-left: -1px;\n}'],
  ['x.css', '.a {\n  gap: var(--space-4) 5px;\n}'],
  ['x.css', '.a {\n  font-size: 0.92em;\n}'],
  ['x.css', '.a {\n  font: 13px / 1.4 var(--sans);\n}'],
  ['x.css', '.a {\n  border-top-left-radius: 0.5rem;\n}'],
  ['x.tsx', "  '.b': {\n    fontSize: '13px',\n  }"],
  ['x.tsx', "  marginLeft: '1.2em',"],
])('the check of the scale refuses a length that is written out in %j: %j', (file, text) => {
  expect(offScale(file, text)).toHaveLength(1);
});

test.each([
  ['x.css', '.a {\n  padding: var(--space-4) 0;\n  margin: 0 auto;\n  border: 1px solid;\n  width: 10px;\n}'],
  ['x.tsx', "  padding: 'var(--space-8) 0',\n  // biome-ignore lint: paddings are 3px"],
])('the check of the scale leaves what is on it, and sizes of things, in %j: %j', (file, text) => {
  expect(offScale(file, text)).toEqual([]);
});

test('the check of the scale refuses a further step of it', () => {
  expect(offScale('styles/tokens.css', ':root {\n  --space-3: 3px;\n}')).toHaveLength(1);
});
