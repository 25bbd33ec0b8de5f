/** The order in which drafts draw on balances is total, whichever contracts they are of. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { InvoiceTarget } from '../../src/billing/invoice-queue/usage-periods.ts';
import { compareDrafts } from '../../src/billing/invoices/scheduled/drawdown-order.ts';
import { wholePeriod } from '../../src/rating/periods/billing-periods.ts';
import { contractWith } from '../unit/core/terms/fixtures.ts';

/** Few values, so that drafts often agree in a part of the order. */
const small = fc.integer({ min: 0, max: 2 });

/** A contract has one start and one parent. */
const contracts = fc
  .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 6, maxLength: 6 })
  .chain((ids) =>
    fc.tuple(
      ...ids.map((id) =>
        fc.record({ startingAt: small, isChild: fc.boolean() }).map(({ startingAt, isChild }) => {
          const link = {
            contractId: 'parent',
            customerId: 'payer',
            payer: null,
            usageStatementBehavior: null,
          };
          return contractWith({ id, startingAt, parent: isChild ? link : null }).contract;
        }),
      ),
    ),
  );

/** One draft of a contract ends at a time. */
const drafts: fc.Arbitrary<InvoiceTarget[]> = contracts.chain((all) =>
  fc.uniqueArray(
    fc
      .record({ contract: fc.constantFrom(...all), start: small, end: fc.integer({ min: 3, max: 4 }) })
      .map(({ contract, start, end }) => ({ contract, period: wholePeriod({ start, end }) })),
    { selector: ({ contract, period }) => `${contract.id} ${period.end}`, maxLength: 10 },
  ),
);

test('each two drafts have an order, and any three agree on it', () => {
  fc.assert(
    fc.property(drafts, (all) => {
      const inOrder = all.toSorted(compareDrafts);
      expect(all.toReversed().sort(compareDrafts)).toEqual(inOrder);
      for (const [index, one] of inOrder.entries()) {
        for (const later of inOrder.slice(index + 1)) {
          expect(compareDrafts(one, later)).toBeLessThan(0);
          expect(compareDrafts(later, one)).toBeGreaterThan(0);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('an earlier end comes first, then a contract without a parent, then the earlier start of a child', () => {
  fc.assert(
    fc.property(drafts, (all) => {
      for (const a of all) {
        for (const b of all.filter((one) => compareDrafts(a, one) < 0)) {
          expect(a.period.end).toBeLessThanOrEqual(b.period.end);
          if (a.period.end !== b.period.end) continue;
          expect(a.contract.parent !== null && b.contract.parent === null).toBe(false);
          if (a.contract.parent === null || b.contract.parent === null) continue;
          expect(a.contract.startingAt).toBeLessThanOrEqual(b.contract.startingAt);
        }
      }
    }),
    { numRuns: 500 },
  );
});
