/**
 * Conversion of custom pricing units to the currency of the invoice. Usage lines stay in the custom unit, and
 * one conversion line per unit bills their sum (docs/invoices.md, "Custom pricing units").
 *
 * Windows are converted one by one. The price of a unit is the same in all windows, so converted windows add
 * up to the line.
 */
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { RatedConversionLine, UsageLine, WindowAmount } from '../types.ts';

/** A custom pricing unit as the rate card converts it. */
export interface UnitConversion {
  /** Of the unit. */
  readonly name: string;
  /** Amount of the card's currency, in its own denomination, for one custom unit. */
  readonly fiatPerCustomCredit: Decimal;
}

/**
 * One line per custom unit with usage, in the order in which the units appear on the invoice. They are the last
 * lines of the invoice. A unit with zero lines only has none. Throws if the card has no conversion of a unit,
 * which is a bug: rates and overrides in such a unit are refused.
 */
export function conversionLines(
  lines: readonly UsageLine[],
  fiatCreditTypeId: string,
  conversions: ReadonlyMap<string, UnitConversion>,
  period: Interval,
): RatedConversionLine[] {
  const used = lines.filter((line) => line.creditTypeId !== fiatCreditTypeId && line.hasMoved);
  const units = new Set(used.map((line) => line.creditTypeId));
  return [...units].map((unit) => {
    const conversion = conversions.get(unit);
    assert(conversion !== undefined, `the rate card converts pricing unit ${unit}`);
    const own = used.filter((line) => line.creditTypeId === unit);
    const unitPrice = conversion.fiatPerCustomCredit;
    const quantity = sum(own.map(({ total }) => total));
    return {
      type: 'cpu_conversion',
      name: `Conversion of ${conversion.name}`,
      convertedCreditTypeId: unit,
      creditTypeId: fiatCreditTypeId,
      interval: period,
      quantity,
      unitPrice,
      total: quantity.times(unitPrice),
      windows: convertedWindows(own, unitPrice),
    };
  });
}

/** Leaves out windows in which the lines of the unit cancel out. */
function convertedWindows(lines: readonly UsageLine[], unitPrice: Decimal): WindowAmount[] {
  const outstanding = new Map<Instant, { window: Interval; quantity: Decimal }>();
  for (const { window, total } of lines.flatMap(({ windows }) => windows)) {
    const quantity = outstanding.get(window.start)?.quantity ?? ZERO;
    outstanding.set(window.start, { window, quantity: quantity.plus(total) });
  }
  return [...outstanding.values()]
    .filter(({ quantity }) => !quantity.eq(ZERO))
    .sort((a, b) => a.window.start - b.window.start)
    .map(({ window, quantity }) => ({ window, quantity, total: quantity.times(unitPrice) }));
}
