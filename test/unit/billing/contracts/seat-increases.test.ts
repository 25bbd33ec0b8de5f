/** The effects of changes of a subscription's quantities on pooled credits of the present period. */
import { expect, test } from 'vitest';
import { withGrants } from '../../../../src/billing/contracts/grants/granted-terms.ts';
import { decimal } from '../../../../src/core/decimal.ts';
import type { Commit } from '../../../../src/core/terms/commits.ts';
import type { FullContract } from '../../../../src/core/terms/contract.ts';
import { balanceOf } from '../../../../src/rating/balances/ledger.ts';
import { contractWith, recurringWith, subscriptionWith } from '../../core/terms/fixtures.ts';

const day = (text: string) => Date.parse(`2026-${text}T00:00:00Z`);

function startedWith(quantity: string, isProrated = false): FullContract {
  const subscription = subscriptionWith({ startingAt: day('01-01') });
  const recurring = recurringWith({
    startingAt: day('01-01'),
    kind: 'CREDIT',
    accessAmount: { unitPrice: decimal('31'), quantity: null, creditTypeId: 'usd' },
    subscription: { subscriptionId: subscription.id, allocation: 'POOLED', prorateSeatIncreases: isProrated },
  });
  const terms = { recurringCommits: [recurring], subscriptions: [subscription] };
  const before = contractWith({ startingAt: day('01-01') }, terms);
  return withGrants({ before: null, after: changedTo(before, '01-01', quantity) }, new Set(), day('01-01'));
}

function changedTo(full: FullContract, at: string, quantity: string): FullContract {
  const change = { startingAt: day(at), quantity: decimal(quantity), quantityDelta: null };
  const subscriptions = full.terms.subscriptions.map((one) => ({
    ...one,
    quantityChanges: [...one.quantityChanges, change],
  }));
  return { ...full, terms: { ...full.terms, subscriptions } };
}

/** Settles changes `[made on, from, quantity]` one after the other. */
function after(before: FullContract, changes: readonly (readonly [string, string, string])[]): FullContract {
  return changes.reduce(
    (full, [madeOn, from, quantity]) =>
      withGrants({ before: full, after: changedTo(full, from, quantity) }, new Set(), day(madeOn)),
    before,
  );
}

const segments = ({ terms }: FullContract) =>
  (terms.commits[0]?.accessSchedule.segments ?? []).map(
    ({ startingAt, amount }) => `${new Date(startingAt).toISOString().slice(5, 10)} ${amount.toString()}`,
  );

test.each<[string, [string, string, string][], string[]]>([
  ['an increase adds from its time on', [['01-11', '01-11', '7']], ['01-01 155', '01-11 62']],
  ['a decrease takes nothing back', [['01-11', '01-11', '2']], ['01-01 155']],
  [
    'down and up again is not granted twice',
    [
      ['01-11', '01-11', '2'],
      ['01-12', '01-12', '6'],
    ],
    ['01-01 155', '01-12 31'],
  ],
  [
    'an increase that lies ahead can be taken back',
    [
      ['01-05', '01-20', '9'],
      ['01-06', '01-20', '5'],
    ],
    ['01-01 155'],
  ],
  [
    'one that has been granted cannot, and is not granted again',
    [
      ['01-20', '01-20', '8'],
      ['01-21', '01-20', '5'],
      ['01-22', '01-22', '9'],
    ],
    ['01-01 155', '01-20 93', '01-22 31'],
  ],
  ['a change of the past adds from then on', [['01-20', '01-10', '6']], ['01-01 155', '01-10 31']],
  ['one from the start of the period belongs to its amount', [['01-20', '01-01', '6']], ['01-01 186']],
])('%s', (_, changes, expected) => {
  expect(segments(after(startedWith('5'), changes))).toEqual(expected);
});

test('an increase that is moved into the past adds the time that it missed', () => {
  const changes = [
    ['01-22', '01-22', '6'],
    ['01-23', '01-12', '6'],
  ] as const;
  expect(segments(after(startedWith('5', true), changes))).toEqual(['01-01 155', '01-22 10', '01-12 10']);
});

test('the child of the next period follows the quantity when it starts', () => {
  const { terms } = after(startedWith('5'), [['01-11', '01-11', '2']]);
  expect(terms.commits[1]?.accessSchedule.segments.map(({ amount }) => amount.toString())).toEqual(['62']);
});

function ledgerOf(commit: Commit, now: number) {
  const nothing = { isWithheld: false, rolledOver: [], deductions: [], manualEntries: [] };
  const alone = { contractEnd: null, contractArchivedAt: null, trueUp: null, canceledPurchase: null };
  const { balance, ledger } = balanceOf(commit, { now, ...nothing, ...alone });
  return {
    balance: balance.toString(),
    ledger: ledger.map(({ kind, amount }) => `${kind} ${amount.toString()}`),
  };
}

test('the amount of an increase is an adjustment in the ledger, and counts from its time on', () => {
  const [credit] = after(startedWith('5'), [['01-05', '01-11', '7']]).terms.commits;
  expect(credit === undefined ? null : ledgerOf(credit, day('01-10'))).toEqual({
    balance: '155',
    ledger: ['SEGMENT_START 155', 'SEAT_BASED_ADJUSTMENT 62'],
  });
  expect(credit === undefined ? null : ledgerOf(credit, day('01-11')).balance).toBe('217');
});
