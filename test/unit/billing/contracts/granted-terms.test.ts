import { expect, test } from 'vitest';
import {
  grantingOf,
  lastGrantsIn,
  missingGrants,
  nextGrantAt,
  upcomingGrants,
  withGrants,
} from '../../../../src/billing/contracts/grants/granted-terms.ts';
import { decimal } from '../../../../src/core/decimal.ts';
import type { FullContract } from '../../../../src/core/terms/contract.ts';
import type { RecurringCommit } from '../../../../src/core/terms/recurring-commits.ts';
import { contractWith, recurringWith } from '../../core/terms/fixtures.ts';

const day = (text: string) => Date.parse(`2026-${text}T00:00:00Z`);
const NONE: ReadonlySet<string> = new Set();

function termWith(change: Partial<RecurringCommit> = {}): RecurringCommit {
  return recurringWith({ startingAt: day('01-01'), proration: 'FIRST_AND_LAST', ...change });
}

/** A contract from 1 January, with the children of the terms at `now`. */
function granted(recurringCommits: RecurringCommit[], now: number): FullContract {
  const after = contractWith({ startingAt: day('01-01') }, { recurringCommits });
  return withGrants({ before: null, after }, NONE, now);
}

/** The first term of the contract changed, and settled. */
function changed(
  before: FullContract,
  change: Partial<RecurringCommit>,
  now: number,
  bought = NONE,
): FullContract {
  const [first, ...others] = before.terms.recurringCommits;
  const recurringCommits = [{ ...first, ...change } as RecurringCommit, ...others];
  return withGrants(
    { before, after: { ...before, terms: { ...before.terms, recurringCommits } } },
    bought,
    now,
  );
}

const amounts = ({ terms }: FullContract) =>
  terms.commits.map(({ accessSchedule }) => accessSchedule.segments[0]?.amount.toString() ?? 'none');

const priced = (price: string) => ({
  accessAmount: { unitPrice: decimal(price), quantity: decimal('1'), creditTypeId: 'usd' },
});

test('children of several terms are in the order of their periods', () => {
  const terms = [termWith({ id: 'a' }), termWith({ id: 'b', startingAt: day('01-15') })];
  const { terms: now } = granted(terms, day('02-10'));
  expect(
    now.commits.map((one) => [one.recurringCommitId, new Date(one.createdAt).toISOString().slice(5, 10)]),
  ).toEqual([
    ['a', '01-01'],
    ['b', '01-15'],
    ['a', '02-01'],
    ['b', '02-01'],
    ['a', '03-01'],
    ['b', '03-01'],
  ]);
});

test('no more are created at once than allowed: the others come next, in the same order', () => {
  const terms = [termWith({ id: 'a' }), termWith({ id: 'b' })];
  const { contract } = contractWith({ startingAt: day('01-01') });
  const now = day('04-10');
  const granting = { contract, recurring: terms, subscriptions: [] };
  const all = missingGrants(granting, new Map(), { now, max: 100 });
  const found = [];
  const last = new Map<string, number>();
  for (;;) {
    const some = missingGrants(granting, last, { now, max: 3 });
    expect(nextGrantAt(granting, last, now)).toBeLessThanOrEqual(some.length === 0 ? day('05-01') : now);
    if (some.length === 0) break;
    for (const one of some) last.set(one.recurringCommitId ?? '', one.createdAt);
    found.push(...some);
  }
  expect(found).toEqual(all);
  expect(nextGrantAt(granting, last, now)).toBe(day('05-01'));
});

test('the next child is due when the last one begins, and there is none after the last', () => {
  const full = granted([termWith({ endingBefore: day('03-01') })], day('01-10'));
  const nextOf = (last: ReadonlyMap<string, number>) => nextGrantAt(grantingOf(full), last, day('01-10'));
  expect(nextOf(lastGrantsIn(full))).toBe(null);
  expect(nextOf(new Map([['recurring', day('01-01')]]))).toBe(day('01-01'));
  expect(nextOf(new Map())).toBe(day('01-01'));
  const archived = { ...full, contract: { ...full.contract, archivedAt: 1 } };
  expect(nextGrantAt(grantingOf(archived), new Map(), 0)).toBe(null);
});

test('a change of the term reaches the children whose access has not started', () => {
  const before = granted([termWith(priced('5'))], day('02-01'));
  const after = changed(before, { ...priced('7'), rateType: 'COMMIT_RATE' }, day('02-01'));
  expect(amounts(after)).toEqual(['5', '5', '7']);
  expect(after.terms.commits.map((one) => one.rateType)).toEqual(['LIST_RATE', 'LIST_RATE', 'COMMIT_RATE']);
});

test('a child that is on an issued invoice stays as it was bought', () => {
  const before = granted([termWith(priced('5'))], day('02-01'));
  const bought = new Set(upcomingGrants(before, day('02-01')).map(({ id }) => id));
  expect(bought.size).toBe(1);
  expect(amounts(changed(before, priced('7'), day('02-01'), bought))).toEqual(['5', '5', '5']);
});

test('an archived child stays as it is', () => {
  const before = granted([termWith(priced('5'))], day('01-01'));
  const commits = before.terms.commits.map((one) => ({ ...one, archivedAt: 5 }));
  const archived = { ...before, terms: { ...before.terms, commits } };
  expect(amounts(changed(archived, priced('7'), day('01-01')))).toEqual(['5', '5']);
});

test('an end before the next child takes it away, one inside its period cuts it, and no end brings it back', () => {
  const now = day('01-10');
  const before = granted([termWith(priced('28'))], now);
  const ended = changed(before, { endingBefore: day('02-01') }, now);
  expect(amounts(ended)).toEqual(['28', 'none']);
  expect(amounts(changed(ended, { endingBefore: day('02-15') }, now))).toEqual(['28', '14']);
  expect(changed(ended, { endingBefore: null }, now)).toEqual(before);
});

test('a contract that does not change stays the same', () => {
  const before = granted([termWith()], day('01-10'));
  expect(withGrants({ before, after: before }, NONE, day('01-10'))).toEqual(before);
});
