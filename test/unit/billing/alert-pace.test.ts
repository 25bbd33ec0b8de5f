import { expect, test } from 'vitest';
import { createAlertPace, distanceOf } from '../../../src/billing/alerts/pace.ts';
import { decimal } from '../../../src/core/decimal.ts';
import { alertOf } from '../../support/alert-cases.ts';

const near = (left: number, of = 1_000) => new Map([['alert', { left, of }]]);

test('usage is urgent when twice what its events have changed before could cross the threshold', () => {
  const pace = createAlertPace();
  // Before its first evaluation, which is on its way.
  expect(pace.isUrgent('a', 1)).toBe(false);
  pace.begin(['a']);
  pace.found('a', near(1_000));
  // Nothing is known of events yet, and the threshold is far.
  expect(pace.isUrgent('a', 10)).toBe(false);
  pace.begin(['a']);
  pace.found('a', near(900));
  // 10 of each event, 900 left: 45 events could be 900 if each were twice as much.
  expect(pace.isUrgent('a', 44)).toBe(false);
  expect(pace.isUrgent('a', 1)).toBe(true);
  // Another customer is not touched.
  pace.found('b', near(1_000));
  expect(pace.isUrgent('b', 1_000)).toBe(false);
});

test('events during an evaluation count for the next', () => {
  const pace = createAlertPace();
  pace.found('a', near(1_000));
  pace.isUrgent('a', 10);
  pace.begin(['a']);
  pace.isUrgent('a', 40);
  pace.found('a', near(900));
  expect(pace.isUrgent('a', 5)).toBe(true);
});

test('near a threshold every event is urgent, without an estimate too', () => {
  const pace = createAlertPace();
  pace.found('a', near(200));
  expect(pace.isUrgent('a', 1)).toBe(true);
});

test('the distance is that of the nearest value that is not in alarm', () => {
  const reading = (target: string, value: string) => ({
    ...{ target, value: decimal(value), since: null, details: {} },
  });
  const inAlarm = { state: 'in_alarm', isTold: true, since: null } as const;
  const spend = alertOf('spend_threshold_reached', '100');
  expect(distanceOf(spend, [reading('', '70')], new Map())).toEqual({ left: 30, of: 100 });
  expect(distanceOf(spend, [reading('', '170')], new Map([['', inAlarm]])).left).toBe(Infinity);
  const balance = alertOf('low_remaining_commit_balance_reached', '100');
  expect(distanceOf(balance, [reading('', '150')], new Map())).toEqual({ left: 50, of: 150 });
  expect(distanceOf(balance, null, new Map()).left).toBe(Infinity);
});
