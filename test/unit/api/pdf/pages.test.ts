/** Blocks on pages: in order, none cut, none lost. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { paginate } from '../../../../src/api/pdf/pages.ts';

const FIRST = 60;
const OTHERS = 100;

const blocks = fc.array(
  fc.record({
    height: fc.integer({ min: 1, max: 30 }),
    staysWithNext: fc.boolean(),
  }),
  { maxLength: 60 },
);

/** At most one block in a row stays with the next, as headings do. */
function asHeadings(all: readonly { height: number; staysWithNext: boolean }[]) {
  return all.map((block, index) => ({
    ...block,
    staysWithNext: block.staysWithNext && !all[index - 1]?.staysWithNext,
  }));
}

test('every page holds what fits, in order, and no heading ends one', () => {
  fc.assert(
    fc.property(blocks.map(asHeadings), (all) => {
      const pages = paginate(all, { first: FIRST, others: OTHERS });
      expect(pages.flat()).toEqual(all);
      for (const [index, page] of pages.entries()) {
        const height = page.reduce((sum, block) => sum + block.height, 0);
        expect(height).toBeLessThanOrEqual(index === 0 ? FIRST : OTHERS);
        if (index < pages.length - 1) expect(page.at(-1)?.staysWithNext).toBe(false);
        if (all.length > 0) expect(page.length).toBeGreaterThan(0);
      }
    }),
  );
});

test('a block that is higher than a page has a separate page', () => {
  const all = [{ height: 10 }, { height: 500 }, { height: 10 }];
  expect(paginate(all, { first: FIRST, others: OTHERS }).map((page) => page.length)).toEqual([1, 1, 1]);
});

test('nothing is one empty page', () => {
  expect(paginate([], { first: FIRST, others: OTHERS })).toEqual([[]]);
});
