import { expect, test } from 'vitest';
import { lineOf } from '../../../../src/billing/alerts/distance.ts';
import { decimal } from '../../../../src/core/decimal.ts';
import { alertOf } from '../../../support/alert-cases.ts';

test('the distance is that of the nearest value that is not in alarm', () => {
  const reading = (target: string, value: string) => ({
    ...{ target, value: decimal(value), since: null, details: {} },
  });
  const distanceOf = (...of: Parameters<typeof lineOf>) => lineOf(...of).left;
  const inAlarm = { state: 'in_alarm', isTold: true, since: null } as const;
  const spend = alertOf('spend_threshold_reached', '100');
  expect(distanceOf(spend, [reading('', '70')], new Map())).toBe(30);
  expect(distanceOf(spend, [reading('', '170')], new Map([['', inAlarm]]))).toBe(Infinity);
  const balance = alertOf('low_remaining_commit_balance_reached', '100');
  expect(distanceOf(balance, [reading('', '150')], new Map())).toBe(50);
  expect(distanceOf(balance, null, new Map())).toBe(Infinity);
});

test('amounts of a unit compare, whatever they are of, and so does usage of a metric; shares do not', () => {
  const unitOf = (...of: Parameters<typeof alertOf>) => lineOf(alertOf(...of), null, new Map()).unit;
  const own = { creditTypeId: 'euro' };
  expect(unitOf('spend_threshold_reached', '1', own)).toBe('euro');
  expect(unitOf('low_remaining_commit_balance_reached', '1', own)).toBe('euro');
  const usage = { creditTypeId: null, billableMetricId: 'tokens' };
  expect(unitOf('usage_threshold_reached', '1', usage)).toBe('tokens');
  expect(unitOf('low_remaining_commit_percentage_reached', '1', own)).toBeNull();
});
