import { expect, test } from 'vitest';
import { createAlertPace, distanceOf } from '../../../src/billing/alerts/pace.ts';
import { decimal } from '../../../src/core/decimal.ts';
import { alertOf } from '../../support/alert-cases.ts';

const at = (left: number) => new Map([['alert', left]]);

test('usage is urgent when twice what its events have changed before could cross the threshold', () => {
  const pace = createAlertPace();
  // Before its first evaluation, which is on its way.
  expect(pace.isUrgent('a', 1)).toBe(false);
  pace.begin(['a']);
  pace.found('a', at(1_000));
  // The first usage is learned from, however far the threshold is.
  expect(pace.isUrgent('a', 10)).toBe(true);
  pace.begin(['a']);
  pace.found('a', at(900));
  // 10 of each event, 900 left: 45 events could be 900 if each were twice as much.
  expect(pace.isUrgent('a', 44)).toBe(false);
  expect(pace.isUrgent('a', 1)).toBe(true);
});

test('events during an evaluation count for the next', () => {
  const pace = createAlertPace();
  pace.found('a', at(1_000));
  pace.isUrgent('a', 10);
  pace.begin(['a']);
  pace.isUrgent('a', 40);
  pace.found('a', at(900));
  expect(pace.isUrgent('a', 5)).toBe(true);
});

test('usage that changes nothing, or that no alert looks at, is never urgent', () => {
  const pace = createAlertPace();
  pace.found('a', at(1_000));
  for (let found = 0; found < 2; found += 1) {
    pace.isUrgent('a', 10);
    pace.begin(['a']);
    pace.found('a', at(1_000));
  }
  expect(pace.isUrgent('a', 1_000_000)).toBe(false);
  pace.found('b', at(Number.POSITIVE_INFINITY));
  expect(pace.isUrgent('b', 1_000_000)).toBe(false);
});

test('usage that the evaluation before has already seen does not make the next usage calm', () => {
  const pace = createAlertPace();
  // The evaluation sees an event that is counted after it has begun.
  pace.begin(['a']);
  pace.found('a', at(900));
  pace.isUrgent('a', 10);
  pace.begin(['a']);
  pace.found('a', at(900));
  expect(pace.isUrgent('a', 1)).toBe(true);
});

test('the distance is that of the nearest value that is not in alarm', () => {
  const reading = (target: string, value: string) => ({
    ...{ target, value: decimal(value), since: null, details: {} },
  });
  const inAlarm = { state: 'in_alarm', isTold: true, since: null } as const;
  const spend = alertOf('spend_threshold_reached', '100');
  expect(distanceOf(spend, [reading('', '70')], new Map())).toBe(30);
  expect(distanceOf(spend, [reading('', '170')], new Map([['', inAlarm]]))).toBe(Infinity);
  const balance = alertOf('low_remaining_commit_balance_reached', '100');
  expect(distanceOf(balance, [reading('', '150')], new Map())).toBe(50);
  expect(distanceOf(balance, null, new Map())).toBe(Infinity);
});
