/**
 * The amounts that a change of a subscription's quantities adds to commits and credits whose period has begun
 * (docs/explanation/subscriptions.md, "Credits for seats"). Pure.
 */
import { type Decimal, sum, ZERO } from '../../../core/decimal.ts';
import { groupBy } from '../../../core/group-by.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import type { FullContract } from '../../../core/terms/contract.ts';
import type { RecurringCommit } from '../../../core/terms/recurring-commits.ts';
import type { AccessSegment } from '../../../core/terms/schedules.ts';
import type { Subscription } from '../../../core/terms/subscriptions.ts';
import type { Instant } from '../../../core/time.ts';
import { grantSegmentId, grantStart, recurringGrants } from '../../../rating/balances/recurring-grants.ts';
import { isSeatAdjustment } from '../../../rating/balances/seat-adjustments.ts';

interface QuantityChange {
  /** Null for a new contract. */
  readonly before: FullContract | null;
  readonly after: FullContract;
}

/**
 * The children among `commits` whose segments change, with the new ones. Only changes of quantities have this effect:
 * other changes of a term apply to children whose access has not started.
 */
export function withSeatIncreases(
  commits: readonly Commit[],
  { before, after }: QuantityChange,
  now: Instant,
): Commit[] {
  if (before === null || after.contract.archivedAt !== null) return [];
  const children = groupBy(
    commits.filter(({ archivedAt }) => archivedAt === null),
    ({ recurringCommitId }) => recurringCommitId,
  );
  return after.terms.recurringCommits.flatMap((term) => {
    const own = children.get(term.id) ?? [];
    const was = linkedSubscription(term, before);
    const is = linkedSubscription(term, after);
    if (own.length === 0 || was === undefined || is === undefined || hasSameQuantities(was, is)) return [];
    const grantsWith = grantsOf(term, after, Math.max(...own.map(grantStart)));
    const known = grantsWith(was);
    const wanted = grantsWith(is);
    return own.flatMap((child) => {
      const then = known.get(child.id);
      const is = wanted.get(child.id);
      return then === undefined || is === undefined ? [] : withSegments(child, { then, is }, now);
    });
  });
}

function linkedSubscription(
  { subscription }: RecurringCommit,
  { terms }: FullContract,
): Subscription | undefined {
  return terms.subscriptions.find(({ id }) => id === subscription?.subscriptionId);
}

/** Changes are only appended. */
function hasSameQuantities(was: Subscription, is: Subscription): boolean {
  return (
    was.quantityChanges.length === is.quantityChanges.length &&
    was.seatChanges.length === is.seatChanges.length &&
    was.startingAt === is.startingAt &&
    was.endingBefore === is.endingBefore
  );
}

/** The segments of the children up to the one that starts at `last`, by child, for this state of the subscription. */
function grantsOf(term: RecurringCommit, { contract }: FullContract, last: Instant) {
  return (subscription: Subscription): ReadonlyMap<string, readonly AccessSegment[]> =>
    new Map(
      recurringGrants(term, contract, [subscription], { at: last, after: null }).map(
        ({ id, accessSchedule }) => [id, accessSchedule.segments],
      ),
    );
}

/**
 * The child with segments such that at each increase all grants together equal the total of its quantities, and no
 * segment that has begun is reduced. Empty if nothing changes.
 */
function withSegments(
  child: Commit,
  { then, is }: { readonly then: readonly AccessSegment[]; readonly is: readonly AccessSegment[] },
  now: Instant,
): Commit[] {
  const { segments } = child.accessSchedule;
  const first = segments.find(({ id }) => id === grantSegmentId(child.id));
  // The contract's end or a client has removed it.
  if (first === undefined) return [];
  const isFree = (one: AccessSegment) => one.startingAt > now && isSeatAdjustment(child, one);
  const kept = new Map(segments.filter((one) => !isFree(one)).map((one) => [one.id, one]));
  const isGrant = (one: AccessSegment) => one.id === first.id || isSeatAdjustment(child, one);
  let granted = sum([...kept.values()].filter(isGrant).map(({ amount }) => amount));
  let due: Decimal = ZERO;
  for (const segment of is) {
    if (segment.startingAt >= first.endingBefore) continue;
    const own = kept.get(segment.id);
    const earlier = then.find(({ id }) => id === segment.id);
    // Unchanged parts are kept, even if a client has edited them.
    const isSame = own !== undefined && earlier?.amount.eq(segment.amount) === true;
    due = due.plus(isSame ? own.amount : segment.amount);
    const missing = due.minus(granted);
    if (missing.lte(ZERO)) continue;
    const amount = missing.plus(own?.amount ?? ZERO);
    kept.set(segment.id, { ...segment, endingBefore: first.endingBefore, ...own, amount });
    granted = due;
  }
  const changed = [...kept.values()];
  const isUnchanged = JSON.stringify(changed) === JSON.stringify(segments);
  return isUnchanged ? [] : [{ ...child, accessSchedule: { ...child.accessSchedule, segments: changed } }];
}
