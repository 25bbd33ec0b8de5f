/** Drawdown against the naive engine, on many more invoices than test/property has time for. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drawdownCase } from '../support/drawdown-cases.ts';
import { drawdownDifferences } from '../support/drawdown-differences.ts';

const RUNS = 50_000;

test('every payer pays in every hour what the naive engine says, in 50,000 random invoices', () => {
  fc.assert(
    fc.property(drawdownCase, (given) => {
      expect(drawdownDifferences(given)).toEqual([]);
    }),
    { numRuns: RUNS },
  );
}, 7_200_000);
