/** Creates the lines of a segment: the part of each payer, followed by its applied line, and the rest. */
import { type Instant, type Interval, intersect } from '../../core/time.ts';
import { appliedLine } from '../balances/applied-lines.ts';
import type { Bucket } from '../balances/buckets.ts';
import type { PaidStretch } from '../balances/coverage.ts';
import type { UsageLine } from '../lines/types.ts';
import type { PriceBands } from '../rates/tiers.ts';
import {
  type BandAmount,
  bandAmounts,
  type CounterSegment,
  type Movement,
  movementOf,
  paidAmounts,
} from './segments.ts';

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
  lineOf: (interval: Interval, amount: BandAmount, payer: Bucket | null) => UsageLine,
): UsageLine[] {
  const { piece, interval: whole } = segment;
  const stretches = covered.filter(({ interval }) => intersect(interval, whole) !== null);
  if (stretches.length === 0) {
    return bandAmounts(segment, movement, bands, boundaries).map((amount) => lineOf(whole, amount, null));
  }
  const lines: UsageLine[] = [];
  for (const { interval, bands: paid } of stretches) {
    const part = { interval, piece };
    const isWhole = interval.start === whole.start && interval.end === whole.end;
    for (const amount of paidAmounts(part, isWhole ? movement : movementOf(part), paid, boundaries)) {
      const { payer } = amount;
      const line = lineOf(interval, amount, payer);
      lines.push(line);
      if (payer !== null) lines.push(appliedLine(line, payer));
    }
  }
  return lines;
}
