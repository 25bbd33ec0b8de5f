/** The balances that are available to an invoice before it draws on them. Pure. */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { OfferedBalance } from '../../core/invoice-balances.ts';
import { type BalanceBook, createBalanceBook } from './balance-book.ts';
import type { Bucket } from './buckets.ts';
import { decidingCriterion } from './burn-down-order.ts';

/** `buckets` are in burn-down order. A bucket without a known rank has no criterion. */
export function offeredBalances(
  buckets: readonly Bucket[],
  book: Pick<BalanceBook, 'leftOf'>,
): OfferedBalance[] {
  return buckets.map((bucket, index) => {
    const [rank, before] = [bucket.rank, buckets[index - 1]?.rank];
    return {
      id: bucket.id,
      recurringId: bucket.recurringId,
      segmentId: bucket.segmentId,
      seat: bucket.seat ?? null,
      commitType: bucket.commitType,
      name: bucket.name,
      creditTypeId: bucket.creditTypeId,
      rateType: bucket.rateType,
      applicability: bucket.applicability,
      access: bucket.access,
      left: book.leftOf(bucket),
      decidedBy: rank === undefined || before === undefined ? null : decidingCriterion(before, rank),
    };
  });
}

/**
 * The balances as they were offered, for an invoice that is computed again. `taken`: the amount already deducted, by
 * segment.
 */
export function bookOfOffered(
  balances: readonly OfferedBalance[],
  taken: (segmentId: string) => Decimal = () => ZERO,
): BalanceBook {
  return createBalanceBook(
    balances.map((one) => ({
      ...one,
      left: one.left.minus(taken(one.segmentId)),
      contractIds: null,
      source: null,
    })),
  );
}
