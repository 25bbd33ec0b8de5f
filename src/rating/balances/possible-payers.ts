/**
 * Which balances can pay for usage with given group values. Shares of seats are indexed by the value of their seat, so
 * a line key does not scan the shares of all other seats. Pure.
 */
import { ownValue } from '../../core/own-value.ts';
import { perObject } from '../../core/per-object.ts';
import type { GroupValues } from '../quantities/group-values.ts';
import type { Bucket } from './buckets.ts';

interface Indexed {
  /** The place in the burn-down order. */
  readonly place: number;
  readonly bucket: Bucket;
}

interface Values {
  readonly pricingGroupValues: GroupValues;
  readonly presentationGroupValues: GroupValues;
}

interface BucketIndex {
  readonly shared: readonly Indexed[];
  /** Shares by group key, then by value. */
  readonly byGroupKey: ReadonlyMap<string, ReadonlyMap<string, readonly Indexed[]>>;
}

/** Invoices ask for the same list once for each line key. */
const indexFor = perObject(indexOf);

/** The payers in the order of `buckets`, which must not change. */
export function possiblePayers(
  buckets: readonly Bucket[],
  { pricingGroupValues, presentationGroupValues }: Values,
): readonly Bucket[] {
  const { shared, byGroupKey } = indexFor(buckets);
  if (byGroupKey.size === 0) return buckets;
  const found = [...shared];
  for (const [key, byValue] of byGroupKey) {
    const value = ownValue(pricingGroupValues, key) ?? ownValue(presentationGroupValues, key);
    for (const share of (value === undefined ? undefined : byValue.get(value)) ?? []) found.push(share);
  }
  return found.sort((a, b) => a.place - b.place).map(({ bucket }) => bucket);
}

function indexOf(buckets: readonly Bucket[]): BucketIndex {
  const shared: Indexed[] = [];
  const byGroupKey = new Map<string, Map<string, Indexed[]>>();
  for (const [place, bucket] of buckets.entries()) {
    const { seat } = bucket;
    if (!seat) {
      shared.push({ place, bucket });
      continue;
    }
    const byValue = byGroupKey.get(seat.groupKey) ?? new Map<string, Indexed[]>();
    byGroupKey.set(seat.groupKey, byValue);
    const own = byValue.get(seat.id) ?? [];
    own.push({ place, bucket });
    byValue.set(seat.id, own);
  }
  return { shared, byGroupKey };
}
