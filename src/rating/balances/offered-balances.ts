/** The balances that an invoice finds before it draws on them. Pure. */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { OfferedBalance } from '../../core/invoice-balances.ts';
import { type BalanceBook, createBalanceBook } from './balance-book.ts';
import type { Bucket } from './buckets.ts';
import { decidingCriterion } from './burn-down-order.ts';

/** `buckets` are in burn-down order. One whose rank is not known has no criterion. */
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
 * The balances as they were when they were offered, for an invoice that is computed again. The amount of `taken` for a
 * segment is taken already.
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
