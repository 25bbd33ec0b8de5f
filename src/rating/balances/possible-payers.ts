/**
 * Which balances can pay for usage with some group values. Shares of seats are found by the value that they are for,
 * so that a line key does not look at the shares of all other seats. Pure.
 */
import type { GroupValues } from '../usage/group-values.ts';
import type { Bucket } from './buckets.ts';

interface Indexed {
  /** Its place in the burn-down order. */
  readonly place: number;
  readonly bucket: Bucket;
}

interface BucketIndex {
  readonly shared: readonly Indexed[];
  readonly groupKeys: readonly string[];
  /** By `seatKey`. */
  readonly bySeat: ReadonlyMap<string, readonly Indexed[]>;
}

/** Invoices ask for the same list once for each line key. */
const INDEXES = new WeakMap<readonly Bucket[], BucketIndex>();

/** In the order of `buckets`, which do not change. */
export function possiblePayers(
  buckets: readonly Bucket[],
  values: { readonly pricingGroupValues: GroupValues; readonly presentationGroupValues: GroupValues },
): readonly Bucket[] {
  const known = INDEXES.get(buckets) ?? indexOf(buckets);
  INDEXES.set(buckets, known);
  const { shared, groupKeys, bySeat } = known;
  if (bySeat.size === 0) return buckets;
  const groups = new Map(Object.entries({ ...values.presentationGroupValues, ...values.pricingGroupValues }));
  const own = groupKeys.flatMap((key) => bySeat.get(seatKey(key, groups.get(key) ?? null)) ?? []);
  return [...shared, ...own].toSorted((a, b) => a.place - b.place).map(({ bucket }) => bucket);
}

function indexOf(buckets: readonly Bucket[]): BucketIndex {
  const shared: Indexed[] = [];
  const groupKeys = new Set<string>();
  const bySeat = new Map<string, Indexed[]>();
  for (const [place, bucket] of buckets.entries()) {
    const { seat } = bucket;
    if (!seat) {
      shared.push({ place, bucket });
      continue;
    }
    groupKeys.add(seat.groupKey);
    const key = seatKey(seat.groupKey, seat.id);
    const own = bySeat.get(key) ?? [];
    own.push({ place, bucket });
    bySeat.set(key, own);
  }
  return { shared, groupKeys: [...groupKeys], bySeat };
}

function seatKey(groupKey: string, value: string | null): string {
  return JSON.stringify([groupKey, value]);
}
