/**
 * What of a contract's commits and credits moves to the contract that renews it (docs/contracts.md,
 * "Transitions"): one commit of the newer contract for each source, with a segment for each segment that
 * takes part. Pure. Ids are derived from those of the source: computing it again gives the same commits.
 */
import { type Decimal, minimum, ZERO } from '../../core/decimal.ts';
import { derivedId } from '../../core/ids.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { RolledAmount } from '../../core/terms/ledger.ts';
import type { AccessSegment } from '../../core/terms/schedules.ts';

/** The newer contract. */
export type Renewal = Pick<Contract, 'id' | 'startingAt' | 'endingBefore'>;

export interface RolloverSource {
  readonly commit: Commit;
  /** The older contract, before the renewal has ended it or after. */
  readonly contract: Pick<Contract, 'id' | 'endingBefore'>;
  /** Whether a payment that has not come in yet withholds the amount. */
  readonly isWithheld: boolean;
}

/**
 * The commit that the source becomes, or stays, in the newer contract; null where nothing moves and
 * nothing has moved before. `earlier` is what the source has become already: it keeps all that the newer
 * contract shows of it but its amounts, and a segment that does not take part any more is left with 0. An
 * archived one stays as it is.
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

/** A fraction of what was granted, as far as it is left; exact. `fraction` is from 0 to 1. */
function rolledAmount(granted: Decimal, fraction: Decimal, left: Decimal): Decimal {
  return minimum(left, fraction.times(granted));
}

/**
 * Segments that are open at the renewal, and those that would open later. One that has moved before has
 * been cut at the renewal since then. What closed before the renewal, with its contract for one, has expired.
 */
function takesPart(
  segment: AccessSegment,
  { commit, contract, isWithheld }: RolloverSource,
  { startingAt }: Renewal,
  hasMoved: boolean,
): boolean {
  const isOpen = segment.endingBefore > startingAt || (hasMoved && segment.endingBefore === startingAt);
  const hasEnded = contract.endingBefore !== null && contract.endingBefore < startingAt;
  const wasArchived = commit.archivedAt !== null && commit.archivedAt < startingAt;
  return isOpen && !hasEnded && !wasArchived && !isWithheld;
}

/** As long as the newer contract, or as long as the source where that has no end. */
function opened(id: string, source: AccessSegment, amount: Decimal, renewal: Renewal): AccessSegment {
  const { startingAt, endingBefore } = renewal;
  const length = source.endingBefore - source.startingAt;
  return { id, amount, startingAt, endingBefore: endingBefore ?? startingAt + length };
}

/** What a rollover is paid for and named after is its source; nobody made it. */
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

/** Which segment of the newer contract a segment of the older one has moved to. */
function rolledSegmentId(newContractId: string, segmentId: string): string {
  return derivedId('rollover segment', newContractId, segmentId);
}

/** What the commit in the newer contract, `heir`, has taken from the segments of its source. */
export function rolledAmounts(source: Commit, heir: Commit, renewal: Renewal): RolledAmount[] {
  const taken = new Map(heir.accessSchedule.segments.map((one) => [one.id, one.amount]));
  return source.accessSchedule.segments.flatMap(({ id }) => {
    const amount = taken.get(rolledSegmentId(renewal.id, id));
    const { id: newContractId, startingAt: rolledAt } = renewal;
    return amount === undefined ? [] : [{ segmentId: id, amount, newContractId, rolledAt }];
  });
}
