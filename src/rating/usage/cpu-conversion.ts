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
  const units = createUnitWindows(fiatCreditTypeId);
  units.add(used);
  return [...new Set(used.map((line) => line.creditTypeId))].map((unit) => {
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
      windows: convertedWindows(units.of(unit), unitPrice),
    };
  });
}

/** What lines in custom units come to in each window, summed up as the lines come. */
export interface UnitWindows {
  add(lines: readonly UsageLine[]): void;
  of(unit: string): readonly UnitWindow[];
}

interface UnitWindow {
  readonly window: Interval;
  readonly quantity: Decimal;
}

export function createUnitWindows(fiatCreditTypeId: string): UnitWindows {
  const units = new Map<string, Map<Instant, UnitWindow>>();
  return {
    add(lines) {
      for (const { creditTypeId, windows } of lines) {
        if (creditTypeId === fiatCreditTypeId) continue;
        const own = units.get(creditTypeId) ?? new Map<Instant, UnitWindow>();
        units.set(creditTypeId, own);
        for (const { window, total } of windows) {
          const quantity = own.get(window.start)?.quantity ?? ZERO;
          own.set(window.start, { window, quantity: quantity.plus(total) });
        }
      }
    },
    of: (unit) => [...(units.get(unit)?.values() ?? [])],
  };
}

/** Leaves out windows in which the lines of the unit cancel out. */
export function convertedWindows(windows: readonly UnitWindow[], unitPrice: Decimal): WindowAmount[] {
  return windows
    .filter(({ quantity }) => !quantity.eq(ZERO))
    .sort((a, b) => a.window.start - b.window.start)
    .map(({ window, quantity }) => ({ window, quantity, total: quantity.times(unitPrice) }));
}
