import { expect, test } from 'vitest';
import { decimal } from '../../../../src/core/decimal.ts';
import type { SpendTracker } from '../../../../src/core/terms/thresholds.ts';
import { countedSpend, type Purchase } from '../../../../src/rating/thresholds/spend-trackers.ts';

type Specifier = SpendTracker['specifiers'][number];
const specifier = (
  sources: Specifier['sources'],
  discounted: Specifier['discounted'] = 'ANY',
): Specifier => ({
  spendType: 'COMMIT_PURCHASE',
  sources,
  discounted,
});

const purchase = (at: number, source: Purchase['source'], amount: string, discounted = '0'): Purchase => ({
  at,
  source,
  amount: decimal(amount),
  discounted: decimal(discounted),
});

const PURCHASES = [
  purchase(99, 'MANUAL', '1'),
  purchase(100, 'MANUAL', '20'),
  purchase(150, 'MANUAL', '300', '300'),
  purchase(160, 'THRESHOLD_RECHARGE', '4000', '1000'),
  purchase(200, 'THRESHOLD_RECHARGE', '50000'),
];
const BOTH = ['MANUAL', 'THRESHOLD_RECHARGE'] as const;

test.each([
  ['everything', [specifier(BOTH)], '4320'],
  ['purchases by hand', [specifier(['MANUAL'])], '320'],
  ['recharges', [specifier(['THRESHOLD_RECHARGE'])], '4000'],
  ['what had a discount', [specifier(BOTH, 'DISCOUNTED_ONLY')], '1300'],
  ['what had none', [specifier(BOTH, 'UNDISCOUNTED_ONLY')], '3020'],
  ['what two specifiers name, once', [specifier(['MANUAL']), specifier(BOTH, 'DISCOUNTED_ONLY')], '1320'],
  ['nothing', [], '0'],
])('a tracker counts %s of a period', (_, specifiers, counted) => {
  expect(countedSpend(specifiers, PURCHASES, { start: 100, end: 200 }).toFixed()).toBe(counted);
});
