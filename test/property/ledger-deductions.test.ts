/** Laws of ledgers with deductions, voided invoices, entries by hand and true-ups. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Decimal, decimal, sum, ZERO } from '../../src/core/decimal.ts';
import { COMMIT_TYPES, type Commit } from '../../src/core/terms/commits.ts';
import { type BalanceDeduction, LEDGER_ENTRY_KINDS, type ManualEntry } from '../../src/core/terms/ledger.ts';
import type { AccessSegment } from '../../src/core/terms/schedules.ts';
import { balanceOf, type LedgerFacts } from '../../src/rating/balances/ledger.ts';
import { commitWith } from '../unit/core/terms/fixtures.ts';

const LAST = 100;

/** A segment with deductions that it can pay for, each between its start and its end. */
const drawn = fc.record({
  start: fc.nat(LAST - 1),
  length: fc.integer({ min: 1, max: LAST }),
  taken: fc.array(fc.record({ cents: fc.nat(1_000), at: fc.nat(99), voidedAfter: fc.option(fc.nat(50)) }), {
    maxLength: 4,
  }),
  spare: fc.nat(1_000),
  added: fc.array(fc.record({ cents: fc.nat(500), at: fc.nat(2 * LAST) }), { maxLength: 3 }),
});

interface Drawn {
  readonly commit: Commit;
  readonly facts: Omit<LedgerFacts, 'now'>;
}

const hundredths = (cents: number) => decimal(String(cents)).div(decimal('100'));

const drawnCommit = fc
  .record({
    type: fc.constantFrom(...COMMIT_TYPES),
    segments: fc.array(drawn, { minLength: 1, maxLength: 4 }),
    archivedAt: fc.option(fc.nat(2 * LAST)),
    contractEnd: fc.option(fc.nat(2 * LAST)),
    rolledAt: fc.option(fc.nat(2 * LAST)),
  })
  .map(({ type, segments, archivedAt, contractEnd, rolledAt }): Drawn => {
    const deductions: BalanceDeduction[] = [];
    const manualEntries: ManualEntry[] = [];
    const schedule = segments.map(({ start, length, taken, spare, added }, index): AccessSegment => {
      const id = `s${index}`;
      const endingBefore = start + length;
      for (const [number, { cents, at, voidedAfter }] of taken.entries()) {
        const timestamp = start + Math.floor((at * length) / 99);
        deductions.push({
          commitId: 'commit',
          segmentId: id,
          invoiceId: `${id}-i${number}`,
          contractId: 'contract',
          amount: hundredths(cents),
          timestamp,
          isFinal: true,
          creditedAt: voidedAfter === null ? null : timestamp + voidedAfter,
        });
      }
      for (const [number, { cents, at }] of added.entries()) {
        const entry = { id: `${id}-m${number}`, segmentId: id, reason: 'gift', timestamp: at };
        manualEntries.push({ ...entry, amount: hundredths(cents) });
      }
      const amount = sum([hundredths(spare), ...taken.map(({ cents }) => hundredths(cents))]);
      return { id, amount, startingAt: start, endingBefore };
    });
    const rolledOver = schedule.map(({ id: segmentId, amount }) => ({
      segmentId,
      amount: amount.times(decimal('0.5')),
      newContractId: 'next',
      rolledAt: rolledAt ?? 0,
    }));
    return {
      commit: commitWith({ type, archivedAt, accessSchedule: { creditTypeId: 'usd', segments: schedule } }),
      facts: {
        contractEnd,
        contractArchivedAt: null,
        canceledPurchase: null,
        isWithheld: false,
        rolledOver: rolledAt === null ? [] : rolledOver,
        deductions,
        manualEntries,
        trueUp: null,
      },
    };
  });

const now = fc.nat(4 * LAST);

function totalOf(
  ledger: readonly { readonly amount: Decimal; readonly segmentId: string | null }[],
  id?: string,
) {
  return sum(
    ledger.filter(({ segmentId }) => id === undefined || segmentId === id).map(({ amount }) => amount),
  );
}

test('the sum of the ledger is the balance of all segments: of open ones, and of those that have not begun', () => {
  fc.assert(
    fc.property(drawnCommit, now, ({ commit, facts }, at) => {
      const { balance, bySegment, ledger } = balanceOf(commit, { ...facts, now: at });
      const open = [...bySegment].map(([id, left]) => {
        expect(left.eq(totalOf(ledger, id))).toBe(true);
        return left;
      });
      expect(sum(open).eq(balance)).toBe(true);
      const rest = commit.accessSchedule.segments.filter(({ id }) => !bySegment.has(id));
      for (const { id, startingAt } of rest) {
        // The entries of a segment that has closed add up to nothing.
        if (startingAt <= at) expect(totalOf(ledger, id).eq(ZERO)).toBe(true);
      }
      expect(sum([...open, ...rest.map(({ id }) => totalOf(ledger, id))]).eq(totalOf(ledger))).toBe(true);
    }),
  );
});

test('deductions bring no segment below 0, now or at the end', () => {
  fc.assert(
    fc.property(drawnCommit, now, ({ commit, facts }, at) => {
      const { ledger, bySegment } = balanceOf(commit, { ...facts, now: at });
      for (const { id } of commit.accessSchedule.segments) expect(totalOf(ledger, id).gte(ZERO)).toBe(true);
      for (const left of bySegment.values()) expect(left.gte(ZERO)).toBe(true);
      const over = balanceOf(commit, { ...facts, now: 10 * LAST });
      expect(over.balance.eq(ZERO)).toBe(true);
      expect(totalOf(over.ledger).eq(ZERO)).toBe(true);
    }),
  );
});

test('the order is total: facts in any order give the same ledger, by time and then by kind', () => {
  const shuffled = drawnCommit.chain((one) =>
    fc.record({
      one: fc.constant(one),
      deductions: fc.shuffledSubarray([...one.facts.deductions], { minLength: one.facts.deductions.length }),
      rolledOver: fc.shuffledSubarray([...one.facts.rolledOver], { minLength: one.facts.rolledOver.length }),
    }),
  );
  fc.assert(
    fc.property(shuffled, now, ({ one: { commit, facts }, deductions, rolledOver }, at) => {
      const { ledger } = balanceOf(commit, { ...facts, now: at });
      expect(balanceOf(commit, { ...facts, deductions, rolledOver, now: at }).ledger).toEqual(ledger);
      for (const [index, entry] of ledger.slice(1).entries()) {
        const before = ledger[index] ?? entry;
        const rank = ({ kind }: typeof entry) => LEDGER_ENTRY_KINDS.indexOf(kind);
        const isAfter =
          before.timestamp < entry.timestamp ||
          (before.timestamp === entry.timestamp && rank(before) <= rank(entry));
        expect(isAfter).toBe(true);
      }
    }),
  );
});

test('every deduction is one entry with its invoice, and every voided one a second that gives it back', () => {
  fc.assert(
    fc.property(drawnCommit, now, ({ commit, facts }, at) => {
      const { ledger } = balanceOf(commit, { ...facts, now: at });
      for (const { invoiceId, segmentId, amount, creditedAt } of facts.deductions) {
        const own = ledger.filter((entry) => entry.invoiceId === invoiceId && entry.segmentId === segmentId);
        expect(own).toHaveLength(creditedAt === null ? 1 : 2);
        expect(totalOf(own).eq(creditedAt === null ? ZERO.minus(amount) : ZERO)).toBe(true);
      }
    }),
  );
});

test('a shortfall is billed or will be: with its true-up the entries of a postpaid commit add up to 0', () => {
  const shortfall = drawnCommit.map(({ commit, facts }) => {
    const [segment] = commit.accessSchedule.segments;
    const only = { ...commit, type: 'POSTPAID' as const, archivedAt: null };
    const schedule = { ...commit.accessSchedule, segments: segment === undefined ? [] : [segment] };
    const own = facts.deductions.filter(({ segmentId }) => segmentId === segment?.id);
    const added = facts.manualEntries.filter(({ segmentId }) => segmentId === segment?.id);
    const left = sum([
      segment?.amount ?? ZERO,
      ...added.map(({ amount }) => amount),
      ...own.map(({ amount, creditedAt }) => (creditedAt === null ? ZERO.minus(amount) : ZERO)),
    ]);
    const timestamp = (segment?.endingBefore ?? 0) + 10;
    const trueUp = {
      commitId: 'commit',
      segmentId: 's0',
      invoiceId: 'up',
      contractId: 'c',
      amount: left,
      timestamp,
    };
    const known = {
      ...facts,
      deductions: own,
      manualEntries: added,
      rolledOver: [],
      contractEnd: null,
      trueUp,
    };
    return { commit: { ...only, accessSchedule: schedule }, facts: known };
  });
  fc.assert(
    fc.property(shortfall, now, ({ commit, facts }, at) => {
      const { ledger, balance } = balanceOf(commit, { ...facts, now: at });
      const isOver = facts.trueUp.timestamp <= at;
      expect(totalOf(ledger).eq(isOver ? ZERO : facts.trueUp.amount)).toBe(true);
      expect(ledger.some(({ kind }) => kind === 'EXPIRATION')).toBe(false);
      if (isOver) expect(balance.eq(ZERO)).toBe(true);
    }),
  );
});
