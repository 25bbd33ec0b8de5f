/**
 * Rollover: the part of a contract's commits and credits that moves to the renewing contract
 * (docs/explanation/contracts.md, "Transitions"). Each source commit becomes one commit of the newer contract, with one
 * segment per segment that rolls over. Pure. Ids are derived from the source, so a recomputation gives the
 * same commits.
 */
import { type Decimal, minimum, ZERO } from '../../core/decimal.ts';
import { derivedId } from '../../core/ids.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { LedgerEntry, RolledAmount } from '../../core/terms/ledger.ts';
import type { AccessSegment } from '../../core/terms/schedules.ts';

/** The newer contract. */
export type Renewal = Pick<Contract, 'id' | 'startingAt' | 'endingBefore'>;

export interface RolloverSource {
  readonly commit: Commit;
  /** The older contract, before or after the renewal ended it. */
  readonly contract: Pick<Contract, 'id' | 'endingBefore'>;
  /** Whether the amount is withheld because a payment is outstanding. */
  readonly isWithheld: boolean;
}

/**
 * The commit of the newer contract for `source`; null if nothing rolls over now and nothing did before. `earlier` is
 * the commit from an earlier computation. Only its amounts change: a segment that no longer rolls over gets amount 0.
 * An archived `earlier` does not change.
 */
export function rolledOver(source: RolloverSource, renewal: Renewal, earlier: Commit | null): Commit | null {
  if (earlier !== null && earlier.archivedAt !== null) return earlier;
  const { commit, contract } = source;
  const before = new Map(earlier?.accessSchedule.segments.map((one) => [one.id, one]));
  const moved = new Map(
    commit.accessSchedule.segments.flatMap((segment) => {
      const id = rolledSegmentId(renewal.id, segment.id);
      const known = before.get(id) ?? null;
      if (!takesPart(segment, source, renewal, known !== null)) return [];
      const amount = rolledAmount(segment.amount, commit.rolloverFraction ?? ZERO, segment.amount);
      return amount.eq(ZERO)
        ? []
        : [[id, known ? { ...known, amount } : opened(id, segment, amount, renewal)]];
    }),
  );
  const kept = [...before.values()].map((one) => moved.get(one.id) ?? { ...one, amount: ZERO });
  const segments = [...kept, ...[...moved.values()].filter(({ id }) => !before.has(id))];
  if (earlier !== null) return { ...earlier, accessSchedule: { ...earlier.accessSchedule, segments } };
  return segments.length === 0 ? null : heirOf(commit, contract.id, segments, renewal);
}

/** `granted` × `fraction`, at most `left`; exact. `fraction` is from 0 to 1. */
function rolledAmount(granted: Decimal, fraction: Decimal, left: Decimal): Decimal {
  return minimum(left, fraction.times(granted));
}

/**
 * True for segments that are open at the renewal or would open later. A segment that rolled over before was cut by that
 * renewal. Segments that closed before the renewal have expired. A recurring term that ends at the renewal grants
 * nothing after it, even if a child was created ahead.
 */
function takesPart(
  segment: AccessSegment,
  { commit, contract, isWithheld }: RolloverSource,
  { startingAt }: Renewal,
  hasMoved: boolean,
): boolean {
  if (commit.recurringCommitId !== null && segment.startingAt >= startingAt) return false;
  const isOpen = segment.endingBefore > startingAt || (hasMoved && segment.endingBefore === startingAt);
  const hasEnded = contract.endingBefore !== null && contract.endingBefore < startingAt;
  const wasArchived = commit.archivedAt !== null && commit.archivedAt < startingAt;
  return isOpen && !hasEnded && !wasArchived && !isWithheld;
}

/** Lasts as long as the newer contract, or as long as the source if that contract has no end. */
function opened(id: string, source: AccessSegment, amount: Decimal, renewal: Renewal): AccessSegment {
  const { startingAt, endingBefore } = renewal;
  const length = source.endingBefore - source.startingAt;
  return { id, amount, startingAt, endingBefore: endingBefore ?? startingAt + length };
}

/** A rollover takes name and payment from its source, and has no creator. */
function heirOf(
  source: Commit,
  contractId: string,
  segments: readonly AccessSegment[],
  renewal: Renewal,
): Commit {
  return {
    ...source,
    id: derivedId('rollover', renewal.id, source.id),
    contractId: renewal.id,
    accessSchedule: { ...source.accessSchedule, segments },
    invoiceSchedule: null,
    countsAsDiscounted: null,
    paymentGate: null,
    recurringCommitId: null,
    rolledOverFrom: { commitId: source.id, contractId },
    uniquenessKey: null,
    createdAt: renewal.startingAt,
    createdBy: null,
    archivedAt: null,
  };
}

/**
 * The commit of the newer contract with the amounts that have arrived: less than its segments state if usage took more
 * of the source. `ledger` is the ledger of the source at the start of the renewal or later.
 */
export function withArrivedAmounts(heir: Commit, ledger: readonly LedgerEntry[]): Commit {
  const left = ledger.filter(
    ({ kind, newContractId }) => kind === 'ROLLOVER' && newContractId === heir.contractId,
  );
  const arrived = new Map(
    left.map(({ segmentId, amount }) => [
      rolledSegmentId(heir.contractId ?? '', segmentId ?? ''),
      ZERO.minus(amount),
    ]),
  );
  const segments = heir.accessSchedule.segments.map((one) => ({
    ...one,
    amount: arrived.get(one.id) ?? ZERO,
  }));
  return { ...heir, accessSchedule: { ...heir.accessSchedule, segments } };
}

/**
 * The amounts that a renewal may take from `source`, itself a rollover: no more than the fraction of the amounts that
 * have arrived in it.
 */
export function limitedByArrival(source: Commit, rolled: readonly RolledAmount[]): RolledAmount[] {
  const arrived = new Map(source.accessSchedule.segments.map((one) => [one.id, one.amount]));
  const fraction = source.rolloverFraction ?? ZERO;
  return rolled.map((one) => ({
    ...one,
    amount: rolledAmount(arrived.get(one.segmentId) ?? ZERO, fraction, one.amount),
  }));
}

/** The id of the newer contract's segment for a segment of the older one. */
export function rolledSegmentId(newContractId: string, segmentId: string): string {
  return derivedId('rollover segment', newContractId, segmentId);
}

/** The amounts that `heir`, the commit of the newer contract, took from the segments of its source. */
export function rolledAmounts(source: Commit, heir: Commit, renewal: Renewal): RolledAmount[] {
  const taken = new Map(heir.accessSchedule.segments.map((one) => [one.id, one.amount]));
  return source.accessSchedule.segments.flatMap(({ id }) => {
    const amount = taken.get(rolledSegmentId(renewal.id, id));
    const { id: newContractId, startingAt: rolledAt } = renewal;
    return amount === undefined ? [] : [{ segmentId: id, amount, newContractId, rolledAt }];
  });
}
