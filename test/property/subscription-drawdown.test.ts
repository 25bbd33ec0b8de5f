/**
 * Who pays for the charges of subscriptions, beside usage and composites, against the naive engine
 * (test/support/naive), on random invoices with balances of every kind.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSubscriptionLine } from '../../src/core/invoice.ts';
import { differencesBetween } from '../support/drawdown-differences.ts';
import { naiveDrawdown } from '../support/naive/drawdown.ts';
import { subscriptionCounters } from '../support/naive/subscription-charges.ts';
import { runs } from '../support/shares-of-tests.ts';
import { CHARGED_WINDOW, drawnWithSubscriptions, subscribedCase } from '../support/subscribed-cases.ts';

const RUNS = 1_500;

test('every payer pays of every charge, and of usage beside it, what the naive engine says', () => {
  fc.assert(
    fc.property(subscribedCase, (given) => {
      const charged = given.subscribed.flatMap((one) =>
        subscriptionCounters(given, one, given.period.end, CHARGED_WINDOW.start),
      );
      const expected = naiveDrawdown(given, charged);
      expect(differencesBetween(given, expected, drawnWithSubscriptions(given))).toEqual([]);
    }),
    { numRuns: runs(RUNS) },
  );
});

test('the random cases reach what is compared: charges that balances pay in full, in part and not, in tiers and units', () => {
  const seen = { applied: 0, split: 0, tiered: 0, inUnits: 0, prorated: 0 };
  for (const given of fc.sample(subscribedCase, RUNS / 2)) {
    const lines = drawnWithSubscriptions(given).lines.filter(isSubscriptionLine);
    if (lines.some(({ type }) => type === 'applied_subscription')) seen.applied += 1;
    const paid = new Map(lines.map(({ scheduleItemId, payer }) => [scheduleItemId, payer]));
    if (lines.some(({ scheduleItemId, payer }) => payer !== null && paid.get(scheduleItemId) === null))
      seen.split += 1;
    if (lines.some(({ tier }) => (tier?.level ?? 0) > 1)) seen.tiered += 1;
    if (lines.some(({ creditTypeId }) => creditTypeId !== given.currency)) seen.inUnits += 1;
    if (lines.some(({ isProrated }) => isProrated)) seen.prorated += 1;
  }
  for (const [what, count] of Object.entries(seen)) expect([what, count > 0]).toEqual([what, true]);
});
