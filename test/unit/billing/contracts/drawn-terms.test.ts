import { describe, expect, test } from 'vitest';
import {
  drawnProblem,
  lostBalances,
  loweredProblem,
} from '../../../../src/billing/contracts/edits/drawn-terms.ts';
import { decimal } from '../../../../src/core/decimal.ts';
import type { BalanceDeduction } from '../../../../src/core/terms/ledger.ts';
import { accessWith, commitWith } from '../../core/terms/fixtures.ts';

const BEFORE = commitWith({ accessSchedule: accessWith(['a', '1', 0, 10], ['b', '1', 10, 20]) });
const WITHOUT_B = commitWith({ accessSchedule: accessWith(['a', '1', 0, 10]) });
const ARCHIVED = { ...BEFORE, archivedAt: 5 };

const DEDUCTION: BalanceDeduction = {
  commitId: 'commit',
  segmentId: 'b',
  invoiceId: 'invoice',
  contractId: 'contract',
  amount: decimal('1'),
  timestamp: 15,
  isFinal: true,
  creditedAt: null,
};

const advice = 'invoice invoice, which is finalized, draws it down: void the invoice first';
const removed = `segment b of commit or credit commit cannot be removed: ${advice}`;
const archived = `commit or credit commit cannot be archived: ${advice}`;

test.each([
  ['a drawn segment is removed', WITHOUT_B, null, {}, removed],
  ['the invoice was voided', WITHOUT_B, null, { creditedAt: 17 }, null],
  ['the invoice is a draft', WITHOUT_B, null, { isFinal: false }, null],
  ['another segment is drawn', WITHOUT_B, null, { segmentId: 'a' }, null],
  ['the contract now ends before the segment', WITHOUT_B, 10, {}, null],
  ['the contract now ends within the segment', WITHOUT_B, 11, {}, removed],
  ['a drawn commit is archived', ARCHIVED, null, { segmentId: 'a' }, archived],
  ['an archived commit stays archived', ARCHIVED, null, { commitId: 'other' }, null],
  ['nothing is lost', BEFORE, null, {}, null],
])('%s', (_, after, contractEnd, deduction, problem) => {
  const lost = lostBalances([BEFORE], [after], contractEnd);
  expect(drawnProblem(lost, [{ ...DEDUCTION, ...deduction }])).toBe(problem);
});

test('deductions are looked up only for what loses something', () => {
  const untouched = commitWith({ id: 'untouched', accessSchedule: accessWith(['c', '1', 0, 10]) });
  expect(lostBalances([BEFORE, untouched], [WITHOUT_B, untouched], null).commits).toEqual([BEFORE]);
  expect(lostBalances([ARCHIVED], [ARCHIVED], null).commits).toEqual([]);
});

describe('a segment that is lowered', () => {
  const amountOfB = (amount: string) =>
    commitWith({ accessSchedule: accessWith(['a', '1', 0, 10], ['b', amount, 10, 20]) });
  const drawn = (amount: string) => ({ ...DEDUCTION, amount: decimal(amount) });
  const byHand = (amount: string) => [{ segmentId: 'b', amount: decimal(amount) }];
  const refused = (to: string, used: string) =>
    `segment b of commit or credit commit cannot be lowered to ${to}: finalized invoices, such as invoice, ` +
    `have drawn ${used} from it: void them first`;

  test.each([
    ['to what was drawn', '10', '7', [drawn('4'), drawn('3')], [], null],
    ['below what was drawn', '10', '6.9', [drawn('4'), drawn('3')], [], refused('6.9', '7')],
    ['below what was drawn, with enough by hand', '10', '6', [drawn('7')], byHand('1'), null],
    [
      'to what was drawn, of which an entry by hand took some',
      '10',
      '7',
      [drawn('7')],
      byHand('-1'),
      refused('7', '7'),
    ],
    ['below what voided invoices drew', '10', '1', [{ ...drawn('7'), creditedAt: 17 }], [], null],
    ['below what another segment lost', '10', '1', [{ ...drawn('7'), segmentId: 'a' }], [], null],
    ['not at all: it is raised', '10', '11', [drawn('12')], [], null],
  ])('%s', (_, from, to, deductions, entries, problem) => {
    const lost = lostBalances([amountOfB(from)], [amountOfB(to)], null);
    expect(loweredProblem(lost, deductions, entries)).toBe(problem);
  });
});
