/** Drawdown against the naive engine (test/support/naive/drawdown.ts), on random invoices with balances of every kind. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drawdownCase } from '../support/drawdown-cases.ts';
import { drawdownDifferences } from '../support/drawdown-differences.ts';
import { runs } from '../support/shares-of-tests.ts';

const RUNS = runs(1_000);

test('every payer pays in every hour what the naive engine says', () => {
  fc.assert(
    fc.property(drawdownCase, (given) => {
      expect(drawdownDifferences(given)).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});
