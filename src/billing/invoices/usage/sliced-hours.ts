/**
 * The hours of the lines of an invoice whose usage is too large for memory: computed again slice by slice, when the
 * lines and so their positions are known.
 */
import { sum } from '../../../core/decimal.ts';
import { assert } from '../../../core/errors.ts';
import { isConversionLine, isUsageLine } from '../../../core/invoice.ts';
import type { Instant } from '../../../core/time.ts';
import { takenBackWindows } from '../../../rating/balances/applied-lines.ts';
import type { PaidBand } from '../../../rating/balances/paid-bands.ts';
import { type DrawnUsageInput, lineIdParts, rateKeys } from '../../../rating/invoices/rate-usage.ts';
import type { RatedConversionLine, RatedLine, UsageLine, WindowAmount } from '../../../rating/lines/types.ts';
import { conversionAmounts, createUnitWindows } from '../../../rating/usage/cpu-conversion.ts';
import type { PaidAmount } from '../../../rating/usage/segments.ts';
import { meteredUsage, type SlicedAnswer } from './usage-slices.ts';

/** The hours of one line of an invoice. */
export interface LineHours {
  /** Position of the line on the invoice. */
  readonly position: number;
  readonly hours: readonly WindowAmount[];
}

interface SlicedInvoice {
  readonly lines: readonly RatedLine[];
  /** The lines of composites, with hourly windows. */
  readonly composites: readonly UsageLine[];
  /** The units of conversions with their payers, by custom unit. */
  readonly conversions: ReadonlyMap<string, readonly PaidBand[]>;
}

/**
 * The hours of all lines, each line once, in no order. `input` has the hours as boundaries. Throws if the hours of a
 * line do not add up to it, because events were removed since it was computed.
 */
export async function* slicedHours(
  { lines, composites, conversions }: SlicedInvoice,
  input: Omit<DrawnUsageInput, 'usage'>,
  parts: AsyncIterable<{
    readonly groupKeys: readonly string[];
    readonly answers: readonly SlicedAnswer[];
  }>,
): AsyncGenerator<readonly LineHours[], void, undefined> {
  const positions = new Map<string, number>();
  for (const [position, line] of lines.entries()) {
    if (isUsageLine(line)) positions.set(lineKeyOf(line), position);
  }
  const units = createUnitWindows(input.fiatCreditTypeId);
  const hoursOf = (hourly: readonly UsageLine[]): LineHours[] => {
    const own = hourly.flatMap((line) => {
      const position = positions.get(lineKeyOf(line));
      return position === undefined ? [] : [{ position, line }];
    });
    for (const { position, line } of own) assertAddsUp(lines[position], line.windows);
    units.add(own.map(({ line }) => line));
    return own.map(({ position, line }) => ({ position, hours: line.windows }));
  };
  for await (const { groupKeys, answers } of parts) {
    const usage = meteredUsage(answers);
    const rated = rateKeys({ ...input, usage }, groupKeys).flatMap((product) => product.lines);
    yield hoursOf(rated);
  }
  yield hoursOf(composites);
  const converted = new Map(
    [...conversions].map(([unit, paid]) => [unit, conversionAmounts(units.of(unit), paid, input.boundaries)]),
  );
  yield lines.flatMap((line, position) => {
    if (isUsageLine(line)) return [];
    const hours = isConversionLine(line)
      ? conversionHours(line, converted.get(line.convertedCreditTypeId) ?? [])
      : inLastHour(line, input.boundaries);
    assertAddsUp(line, hours);
    return [{ position, hours }];
  });
}

/** The hours of the part that its payer pays. */
function conversionHours(
  { type, payer }: RatedConversionLine,
  amounts: readonly PaidAmount[],
): readonly WindowAmount[] {
  const own = amounts.find((amount) => amount.payer?.segmentId === payer?.segmentId)?.windows ?? [];
  return type === 'cpu_conversion' ? own : takenBackWindows(own);
}

/** Scheduled amounts are due when the period ends. */
function inLastHour({ quantity, total }: RatedLine, boundaries: readonly Instant[]): WindowAmount[] {
  const [start, end] = boundaries.slice(-2);
  assert(start !== undefined && end !== undefined, 'a billing period has an hour');
  return [{ window: { start, end }, quantity, total }];
}

function lineKeyOf(line: UsageLine): string {
  return JSON.stringify(lineIdParts(line));
}

function assertAddsUp(line: RatedLine | undefined, windows: readonly WindowAmount[]): void {
  const isSame =
    line?.quantity.eq(sum(windows.map(({ quantity }) => quantity))) === true &&
    line.total.eq(sum(windows.map(({ total }) => total)));
  assert(isSame, 'the hours of a line add up to it');
}
