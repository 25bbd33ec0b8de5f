import { expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alerts.ts';
import { decimal } from '../../../src/core/decimal.ts';
import type { Reading } from '../../../src/rating/alerts/readings.ts';
import { type AlertStates, advance } from '../../../src/rating/alerts/states.ts';
import { alertOf, NO_FILTERS } from '../../support/alert-cases.ts';

const NOVEMBER = Date.UTC(2026, 10, 1);
const DECEMBER = Date.UTC(2026, 11, 1);

function reading(value: string, target = '', since: number | null = null): Reading {
  return { target, value: decimal(value), since, details: {} };
}

/** The messages of evaluation after evaluation. */
function told(alert: Alert, evaluations: readonly (readonly Reading[])[], isNew = false): string[][] {
  let states: AlertStates = new Map();
  return evaluations.map((readings) => {
    const next = advance(alert, states, readings, isNew);
    states = next.states;
    return next.turns.map((turn) => `${turn.kind} ${turn.reading.target}${turn.reading.value.toFixed()}`);
  });
}

const spend = alertOf('spend_threshold_reached', '100.5');
const balance = alertOf('low_remaining_commit_balance_reached', '100.5');

test('exactly at the threshold is past it, in either direction, to the last digit', () => {
  expect(told(spend, [[reading('100.499999999999999999')], [reading('100.5')]])).toEqual([
    [],
    ['reached 100.5'],
  ]);
  expect(told(balance, [[reading('100.500000000000000001')], [reading('100.5')]])).toEqual([
    [],
    ['reached 100.5'],
  ]);
});

test('an alarm is reported once until it has recovered, and its end is reported', () => {
  expect(told(spend, [[reading('101')], [reading('102')], [reading('100')], [reading('101')]])).toEqual([
    ['reached 101'],
    [],
    ['resolved 100'],
    ['reached 101'],
  ]);
});

test('a new period starts at zero, even past the threshold', () => {
  expect(told(spend, [[reading('101', '', NOVEMBER)], [reading('200', '', DECEMBER)]])).toEqual([
    ['reached 101'],
    ['resolved 200', 'reached 200'],
  ]);
});

test('without evaluate_on_create, who is past it already must recover first, but not who came later', () => {
  const quiet = { ...spend, evaluateOnCreate: false };
  const values = [[reading('101')], [reading('102')], [reading('1')], [reading('101')]];
  expect(told(quiet, values)).toEqual([[], [], [], ['reached 101']]);
  expect(told(quiet, [[reading('1')], [reading('101')]])).toEqual([[], ['reached 101']]);
  expect(told(quiet, [[reading('101')]], true)).toEqual([['reached 101']]);
});

test('of a custom field with an alarm for each value, the first alarm and the end of the last are reported without value too', () => {
  const customFieldFilters = [{ entity: 'Commit' as const, key: 'team', value: null }];
  const keyed = alertOf('low_remaining_contract_credit_and_commit_balance_reached', '10', {
    filters: { ...NO_FILTERS, specifiers: [{ customFieldFilters, exclude: [] }] },
  });
  expect(
    told(keyed, [
      [reading('5', '=a'), reading('20', '=b')],
      [reading('5', '=a'), reading('10', '=b')],
      [reading('11', '=a'), reading('10', '=b')],
      [reading('11', '=a'), reading('12', '=b')],
    ]),
  ).toEqual([
    ['reached =a5', 'reached 5'],
    ['reached =b10'],
    ['resolved =a11'],
    ['resolved =b12', 'resolved 12'],
  ]);
});
