/**
 * The balances that the invoices of one customer draw down, one after the other. It begins with the amounts left by
 * issued invoices, and every computed invoice takes from the amounts left by those before it.
 */
import { type Decimal, maximum, minimum, sum, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import { type Interval, intersect } from '../../core/time.ts';
import type { Bucket } from './buckets.ts';

/** A bucket with the amount that it had to give. */
export interface BookedBucket extends Bucket {
  /** The contracts whose charges it pays for; null: all contracts of the customer. */
  readonly contractIds: readonly string[] | null;
  /** Its amount with manual entries, without what issued invoices took. */
  readonly left: Decimal;
  /**
   * Set for a rollover: the segment it was created from. When the newer contract begins, the rollover receives the
   * amount left in that segment, `amount` at most. A rollover of a rollover receives no more than `fraction` of the
   * amount that has arrived in the first.
   */
  readonly source: {
    readonly segmentId: string;
    readonly amount: Decimal;
    readonly fraction: Decimal;
  } | null;
}

/** The amount that one invoice took from one bucket. */
export interface Deduction {
  readonly bucket: Bucket;
  /** Above 0. */
  readonly amount: Decimal;
}

export interface BalanceBook {
  /** The buckets that may pay for charges of the contract in this time, in burn-down order. */
  bucketsOf(contractId: string, period: Interval): readonly Bucket[];
  /** The same without shares of seats, which pay for usage only. */
  sharedBucketsOf(contractId: string, period: Interval): readonly Bucket[];
  /** The remaining amount of the bucket, never negative, without the part that rollovers have used. */
  leftOf(bucket: Bucket): Decimal;
  take(bucket: Bucket, amount: Decimal): void;
}

/** `buckets` are in burn-down order. Sources of rollovers are among them. */
export function createBalanceBook(buckets: readonly BookedBucket[]): BalanceBook {
  const bySegment = new Map(buckets.map((bucket) => [bucket.segmentId, bucket]));
  const taken = new Map<string, Decimal>();
  const arrivedIn = ({ segmentId, amount, fraction }: NonNullable<BookedBucket['source']>): Decimal => {
    const rolled = minimum(leftOfSegment(segmentId), amount);
    const before = bySegment.get(segmentId)?.source ?? null;
    return before === null ? rolled : minimum(rolled, fraction.times(arrivedIn(before)));
  };
  const leftOfSegment = (segmentId: string): Decimal => {
    const bucket = bySegment.get(segmentId);
    if (bucket === undefined) return ZERO;
    const { source } = bucket;
    const used = taken.get(segmentId);
    const left = used === undefined ? bucket.left : bucket.left.minus(used);
    const rest = source === null ? left : left.minus(source.amount).plus(arrivedIn(source));
    return rest.lt(ZERO) ? ZERO : rest;
  };
  const heirsOf = groupBy(
    buckets.filter(({ source }) => source !== null),
    ({ source }) => source?.segmentId,
  );
  /** The amount that invoices have used of a rollover, without manual entries: this amount has to arrive in it. */
  const usedOf = ({ segmentId, left, source }: BookedBucket): Decimal =>
    maximum((source?.amount ?? ZERO).minus(left).plus(taken.get(segmentId) ?? ZERO), ZERO);
  const isUsedBehind = (segmentId: string): boolean =>
    (heirsOf.get(segmentId) ?? []).some((heir) => usedOf(heir).gt(ZERO) || isUsedBehind(heir.segmentId));
  /**
   * Charges may follow those of the newer contract: charges of other contracts, and of invoices that are regenerated.
   */
  const leftForCharges = (segmentId: string): Decimal => {
    const left = leftOfSegment(segmentId);
    const heirs = heirsOf.get(segmentId);
    if (heirs === undefined) return left;
    // The amount of a rollover of a rollover depends on two fractions: once it is used, nothing more is given.
    if (heirs.some(({ segmentId: heir }) => isUsedBehind(heir))) return ZERO;
    return maximum(left.minus(sum(heirs.map(usedOf))), ZERO);
  };
  const shared = buckets.filter(({ seat }) => !seat);
  return {
    bucketsOf: (contractId, period) => bucketsFor(buckets, contractId, period),
    sharedBucketsOf: (contractId, period) => bucketsFor(shared, contractId, period),
    leftOf: ({ segmentId }) => leftForCharges(segmentId),
    take(bucket, amount) {
      assert(amount.lte(leftForCharges(bucket.segmentId)), 'an invoice takes what a balance has');
      const before = taken.get(bucket.segmentId);
      taken.set(bucket.segmentId, before === undefined ? amount : before.plus(amount));
    },
  };
}

function bucketsFor(buckets: readonly BookedBucket[], contractId: string, period: Interval): BookedBucket[] {
  return buckets.filter(
    ({ contractIds, access }) =>
      (contractIds === null || contractIds.includes(contractId)) && intersect(access, period) !== null,
  );
}

/** The book of a customer without commits and credits. */
export const NO_BALANCES: BalanceBook = createBalanceBook([]);
