/** The lines in which two states of an invoice differ. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Exact, sum } from '../../../console/src/api/exact.ts';
import { changedLines } from '../../../console/src/forms/changed-lines.ts';
import type { Line } from '../../../console/src/parts/line-names.ts';

const USD = { id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2', name: 'USD (cents)' };

const line = (name: string, total: string, more: object = {}) =>
  ({ id: name, name, type: 'usage', credit_type: USD, total: total as Exact, ...more }) as unknown as Line;

test('lines that differ are those with another amount, and the ones that come and go', () => {
  const tiers = { tier: { level: '1', starting_at: '0', size: '100' } };
  const before = [line('Tokens', '100', tiers), line('Seats', '50'), line('Setup', '7'), line('Calls', '3')];
  const after = [
    line('Tokens', '80', tiers),
    line('Seats', '50'),
    line('Support', '9'),
    line('Calls', '1'),
    line('Calls', '2'),
  ];
  const found = changedLines(before, after).map((each) => [
    each.name,
    each.before.toFixed(),
    each.after.toFixed(),
  ]);
  expect(found).toEqual([
    ['Tokens · tier 1', '100', '80'],
    ['Support', '0', '9'],
    ['Setup', '7', '0'],
  ]);
});

test('the differences of changed lines add up to that of the totals, exactly', () => {
  const cents = fc
    .tuple(fc.integer({ min: -1_000, max: 1_000 }), fc.nat({ max: 999_999_999 }))
    .map(([whole, part]) => `${whole}.${String(part).padStart(9, '0')}`);
  const some = fc.array(
    fc.tuple(fc.constantFrom('Tokens', 'Seats', 'Calls'), cents).map(([name, total]) => line(name, total)),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(some, some, (before, after) => {
      const changes = changedLines(before, after).map((each) => each.after.minus(each.before));
      const totals = [after, before].map((lines) => sum(lines.map(({ total }) => total)));
      expect(sum(changes).toFixed()).toBe(totals[0]?.minus(totals[1] ?? 0).toFixed());
    }),
  );
});
