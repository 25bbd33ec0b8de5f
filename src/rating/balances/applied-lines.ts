/** The lines that deduct the amounts that balances pay (docs/explanation/drawdown.md, "Lines"). Pure. */
import { ZERO } from '../../core/decimal.ts';
import type { LinePayer } from '../../core/invoice.ts';
import type { RatedConversionLine, UsageLine, WindowAmount } from '../lines/types.ts';
import { type Bucket, scheduleSegmentId } from './buckets.ts';

export function linePayer(bucket: Bucket): LinePayer {
  const { id, commitType } = bucket;
  return { commitId: id, segmentId: scheduleSegmentId(bucket), commitType };
}

/** The line that follows a covered line and deducts its amount. */
export function appliedLine(covered: UsageLine, payer: Bucket): UsageLine {
  return { ...covered, type: 'applied', ...takenBack(covered, payer) };
}

/** The applied line of a conversion. */
export function appliedConversion(covered: RatedConversionLine, payer: Bucket): RatedConversionLine {
  return { ...covered, type: 'applied_conversion', ...takenBack(covered, payer) };
}

/** The members of the covered line with the opposite sign. */
export function takenBack({ total, windows }: Pick<UsageLine, 'total' | 'windows'>, { name }: Bucket) {
  const [only, ...others] = windows;
  const amount = ZERO.minus(total);
  const isWhole = only?.total === total && others.length === 0;
  return {
    name: `${name} applied`,
    quantity: ZERO,
    unitPrice: ZERO,
    total: amount,
    windows: isWhole ? [{ window: only.window, quantity: ZERO, total: amount }] : takenBackWindows(windows),
  };
}

export function takenBackWindows(windows: readonly WindowAmount[]): WindowAmount[] {
  return windows.map(({ window, total }) => ({ window, quantity: ZERO, total: ZERO.minus(total) }));
}
