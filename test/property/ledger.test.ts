/**
 * Laws of ledgers and rollovers: the balance is the sum of the entries up to now, whatever ends a segment,
 * and what leaves one contract arrives in the next.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountsTaken, rolloversOf, withRolledSegments } from '../../src/billing/balances/rollovers.ts';
import { withEndDate } from '../../src/billing/contracts/terms/truncate-terms.ts';
import { Decimal, minimum, sum, ZERO } from '../../src/core/decimal.ts';
import { COMMIT_TYPES, type Commit } from '../../src/core/terms/commits.ts';
import type { Contract, FullContract } from '../../src/core/terms/contract.ts';
import type { Balance } from '../../src/core/terms/ledger.ts';
import { balanceOf, type LedgerFacts } from '../../src/rating/balances/ledger.ts';
import { commitWith, contractWith } from '../unit/core/terms/fixtures.ts';

const INSTANT_MAX = 100;
const instant = fc.integer({ min: 0, max: INSTANT_MAX });
const amount = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: 0, max: 12 }))
  .map(([digits, places]) => new Decimal(`${digits}e-${places}`));
const fraction = fc.integer({ min: 0, max: 1_000 }).map((part) => new Decimal(`${part}e-3`));

const segments = fc.uniqueArray(
  fc.record({
    id: fc.uuid(),
    amount,
    startingAt: fc.integer({ min: 0, max: INSTANT_MAX - 1 }),
    length: fc.integer({ min: 1, max: INSTANT_MAX }),
  }),
  { selector: ({ id }) => id, minLength: 1, maxLength: 5 },
);

const commit = fc
  .record({
    id: fc.uuid(),
    type: fc.constantFrom(...COMMIT_TYPES),
    archivedAt: fc.option(instant),
    rolloverFraction: fc.option(fraction),
    segments,
  })
  .map(({ segments: list, ...rest }): Commit => {
    const made = list.map(({ length, ...segment }) => ({
      ...segment,
      endingBefore: segment.startingAt + length,
    }));
    return commitWith({ ...rest, accessSchedule: { creditTypeId: 'usd', segments: made } });
  });

const commits = fc.uniqueArray(commit, { selector: ({ id }) => id, maxLength: 4 });

/** A commit can only be archived by now. */
function asOf(one: Commit, now: number): Commit {
  return { ...one, archivedAt: one.archivedAt !== null && one.archivedAt <= now ? one.archivedAt : null };
}

function totalUpTo({ ledger }: Balance, at: number): Decimal {
  return sum(ledger.filter(({ timestamp }) => timestamp <= at).map((entry) => entry.amount));
}

const NOTHING: Omit<LedgerFacts, 'now'> = {
  contractEnd: null,
  contractArchivedAt: null,
  canceledPurchase: null,
  isWithheld: false,
  rolledOver: [],
  deductions: [],
  manualEntries: [],
  trueUp: null,
};

test('the balance is the sum of the ledger up to now, and what is open by the schedule', () => {
  fc.assert(
    fc.property(commit, fc.option(instant), fc.nat(220), (one, contractEnd, now) => {
      const present = asOf(one, now);
      const read = balanceOf(present, { ...NOTHING, contractEnd, now });
      expect(read.balance.eq(totalUpTo(read, now))).toBe(true);
      const isOver = present.archivedAt !== null || (contractEnd !== null && contractEnd <= now);
      const open = present.accessSchedule.segments.filter(
        ({ startingAt, endingBefore }) => !isOver && startingAt <= now && now < endingBefore,
      );
      expect(read.balance.eq(sum(open.map((segment) => segment.amount)))).toBe(true);
    }),
  );
});

test('entries stay as they are while time passes: a later ledger begins with the earlier one', () => {
  fc.assert(
    fc.property(commit, fc.option(instant), fc.nat(220), fc.nat(220), (one, contractEnd, a, b) => {
      const [earlier, later] = [Math.min(a, b), Math.max(a, b)];
      const at = (now: number) =>
        balanceOf(asOf(one, now), { ...NOTHING, contractEnd, now }).ledger.filter(
          ({ timestamp }) => timestamp <= earlier,
        );
      expect(at(later)).toEqual(at(earlier));
    }),
  );
});

test('entries of a ledger are in the order of their time, and add up to 0 once the balance has ended', () => {
  fc.assert(
    fc.property(commit, fc.option(instant), (one, contractEnd) => {
      const { ledger } = balanceOf(one, { ...NOTHING, contractEnd, now: 1_000 });
      const times = ledger.map(({ timestamp }) => timestamp);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(sum(ledger.map((entry) => entry.amount)).eq(ZERO)).toBe(true);
    }),
  );
});

interface Renewed {
  readonly full: FullContract;
  readonly contract: Contract;
  readonly rollovers: readonly Commit[];
  /** The older contract after the renewal. */
  readonly ended: FullContract;
  readonly now: number;
}

const renewed = fc
  .record({
    commits,
    renewedAt: fc.integer({ min: 1, max: INSTANT_MAX }),
    oldEnd: fc.option(fc.integer({ min: 1, max: 150 })),
    newLength: fc.option(fc.integer({ min: 1, max: 150 })),
    now: fc.nat(220),
  })
  .map(({ commits: list, renewedAt, oldEnd, newLength, now }): Renewed => {
    const present = list.map((one) => asOf(one, now));
    const full = contractWith({ id: 'old', endingBefore: oldEnd }, { commits: present });
    const endingBefore = newLength === null ? null : renewedAt + newLength;
    const contract = { ...full.contract, id: 'new', startingAt: renewedAt, endingBefore };
    const rollovers = rolloversOf(full, contract, NEVER_WITHHELD);
    const isCut = oldEnd === null || oldEnd > renewedAt;
    const ended = isCut ? withRolledSegments(withEndDate(full, renewedAt, now), full, rollovers) : full;
    return { full, contract, rollovers, ended, now };
  });

const NEVER_WITHHELD = () => false;

function bySource(rollovers: readonly Commit[]): Map<string, Commit> {
  return new Map(rollovers.map((heir) => [heir.rolledOverFrom?.commitId ?? '', heir]));
}

/** Per source, what its ledger loses and what the newer contract has been granted for it. */
function checkBothSides(
  ended: FullContract,
  contract: Contract,
  heirs: Map<string, Commit>,
  now: number,
): void {
  for (const source of ended.terms.commits) {
    const rolledOver = amountsTaken(source, { contract, heirs });
    const facts = { ...NOTHING, now, contractEnd: ended.contract.endingBefore, rolledOver };
    const read = balanceOf(source, facts);
    expect(read.balance.eq(totalUpTo(read, now))).toBe(true);
    const left = sum(read.ledger.filter(({ kind }) => kind === 'ROLLOVER').map((entry) => entry.amount));
    const taken = contract.startingAt <= now ? sum(rolledOver.map((one) => one.amount)) : ZERO;
    expect(left.plus(taken).eq(ZERO)).toBe(true);
  }
}

test('a renewal takes from the older contract the amount that the newer one gets, at every instant', () => {
  fc.assert(
    fc.property(renewed, ({ full, contract, rollovers, ended, now }) => {
      const heirs = bySource(rollovers);
      checkBothSides(ended, contract, heirs, now);
      for (const source of full.terms.commits) {
        const granted = heirs.get(source.id)?.accessSchedule.segments.map((one) => one.amount) ?? [];
        expect(sum(granted).eq(expectedRollover(source, full.contract.endingBefore, contract))).toBe(true);
      }
    }),
  );
});

test('computing rollovers again changes nothing, and a new end of the older contract keeps both sides equal', () => {
  fc.assert(
    fc.property(renewed, fc.option(fc.integer({ min: 1, max: 200 })), (given, newEnd) => {
      const { contract, rollovers, ended, now } = given;
      const heirs = bySource(rollovers);
      expect(rolloversOf(ended, contract, NEVER_WITHHELD, heirs)).toEqual(rollovers);
      const moved = withEndDate(ended, newEnd, now);
      const followed = bySource(rolloversOf(moved, contract, NEVER_WITHHELD, heirs, true));
      checkBothSides(moved, contract, followed, now);
      expect([...followed.keys()]).toEqual([...heirs.keys()]);
    }),
  );
});

/** The rule once more, from the terms before the renewal. */
function expectedRollover(
  source: Commit,
  oldEnd: number | null,
  { startingAt: renewedAt }: Pick<Contract, 'startingAt'>,
): Decimal {
  if (oldEnd !== null && oldEnd < renewedAt) return ZERO;
  if (source.archivedAt !== null && source.archivedAt < renewedAt) return ZERO;
  const { segments: list } = source.accessSchedule;
  const unexpired = list.filter(({ endingBefore }) => endingBefore > renewedAt);
  const share = source.rolloverFraction ?? ZERO;
  return sum(unexpired.map((segment) => minimum(segment.amount, segment.amount.times(share))));
}
