/** Makes the lines of a segment: what its payers cover, each followed by the line that takes it back, and the rest. */
import { type Instant, type Interval, intersect } from '../../core/time.ts';
import type { PriceBands } from '../rates/tiers.ts';
import type { UsageLine } from '../types.ts';
import {
  bandAmounts,
  type CounterSegment,
  type Movement,
  movementOf,
  type PaidAmount,
  paidAmounts,
} from '../usage/segments.ts';
import { appliedLine } from './applied-lines.ts';
import type { PaidStretch } from './coverage.ts';

interface PricedSegment {
  readonly segment: CounterSegment;
  readonly movement: Movement;
  readonly bands: PriceBands;
}

/** `covered` are the stretches of the counter; those outside the segment have no effect. */
export function paidLines(
  { segment, movement, bands }: PricedSegment,
  covered: readonly PaidStretch[],
  boundaries: readonly Instant[],
  lineOf: (interval: Interval, amount: PaidAmount) => UsageLine,
): UsageLine[] {
  const stretches = covered.filter(({ interval }) => intersect(interval, segment.interval) !== null);
  if (stretches.length === 0) {
    return bandAmounts(segment, movement, bands, boundaries).map((amount) =>
      lineOf(segment.interval, { ...amount, payer: null }),
    );
  }
  return stretches.flatMap(({ interval, bands: paid }) => {
    const part = { interval, piece: segment.piece };
    return paidAmounts(part, movementOf(part), paid, boundaries).flatMap((amount) => {
      const line = lineOf(interval, amount);
      return amount.payer === null ? [line] : [line, appliedLine(line, amount.payer)];
    });
  });
}
