/**
 * The amounts of the seats, and the amount that no seat has taken, add up to the balance of their credit, whatever they
 * drew (docs/explanation/subscriptions.md).
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Decimal, decimal, quotientDown, sum, ZERO } from '../../src/core/decimal.ts';
import type { BalanceDeduction } from '../../src/core/terms/ledger.ts';
import { DAY_MS } from '../../src/core/time.ts';
import { balanceOf, type LedgerFacts } from '../../src/rating/balances/ledger.ts';
import { recurringGrants, seatGrantsOf } from '../../src/rating/balances/recurring-grants.ts';
import { shareBalances } from '../../src/rating/balances/seat-balances.ts';
import { seatShares } from '../../src/rating/balances/seat-shares.ts';
import { seatChangesFrom } from '../support/seat-changes.ts';
import { contractWith, recurringWith, subscriptionWith } from '../unit/core/terms/fixtures.ts';

const START = Date.UTC(2026, 0, 1);
const DAYS = 31;

const TERM = recurringWith({
  startingAt: START,
  accessAmount: { unitPrice: decimal('31'), quantity: null, creditTypeId: 'usd' },
  subscription: { subscriptionId: 'subscription', allocation: 'INDIVIDUAL', prorateSeatIncreases: true },
});

const facts = (now: number, change: Partial<LedgerFacts>): LedgerFacts => ({
  ...{ now, contractEnd: null, contractArchivedAt: null, canceledPurchase: null, isWithheld: false },
  ...{ rolledOver: [], deductions: [], manualEntries: [], trueUp: null, ...change },
});

test('the balances of seats with what is unassigned are the balance of their credit, at every instant', () => {
  const drawn = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(seatChangesFrom(START, 24 * DAYS), drawn, fc.nat(DAYS + 2), (seatChanges, quarters, day) => {
      const { contract } = contractWith({ startingAt: START });
      const subscription = subscriptionWith({
        ...{ startingAt: START, quantityManagementMode: 'SEAT_BASED', seatGroupKey: 'user', seatChanges },
      });
      const wanted = { at: START, after: null };
      const [child] = recurringGrants(TERM, contract, [subscription], wanted);
      expect(child).toBeDefined();
      if (child === undefined) return;
      const now = START + day * DAY_MS;
      const shares = seatShares(child, subscription, seatGrantsOf(child, TERM, contract, subscription));
      const deductions = shares.map((share, index): BalanceDeduction => {
        const part = new Decimal(String(quarters[index] ?? 0));
        return {
          ...{ commitId: child.id, segmentId: share.segment.id, seatId: share.seatId, invoiceId: 'invoice' },
          ...{ contractId: contract.id, amount: quotientDown(share.amount.times(part), decimal('4')) },
          ...{ timestamp: share.segment.startingAt, isFinal: true, creditedAt: null },
        };
      });
      const known = facts(now, { deductions });
      const own = shares.map(shareBalances(child, known));
      const isOpen = (segment: { startingAt: number; endingBefore: number }) =>
        segment.startingAt <= now && now < segment.endingBefore;
      const open = child.accessSchedule.segments.filter(isOpen);
      const unassigned = open.map(({ id, amount }) => {
        const taken = shares.filter(({ segment }) => segment.id === id);
        return amount.minus(sum(taken.map((share) => share.amount)));
      });
      const { balance, ledger } = balanceOf(child, known);
      expect(sum([...own.map((one) => one.balance), ...unassigned]).toString()).toBe(balance.toString());
      for (const { share, granted } of own) expect(granted.toString()).toBe(share.amount.toString());
      const taken = (entries: typeof ledger) =>
        sum(entries.flatMap(({ kind, amount }) => (kind.endsWith('DEDUCTION') ? [amount] : [])));
      expect(taken(own.flatMap((one) => one.ledger)).eq(taken(ledger))).toBe(true);
      expect(own.every((one) => one.balance.gte(ZERO))).toBe(true);
    }),
  );
});
