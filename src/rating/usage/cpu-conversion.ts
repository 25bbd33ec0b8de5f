/**
 * Conversion of custom pricing units to the currency of the invoice. Usage lines stay in the custom unit, and
 * one conversion line per unit bills their sum (docs/explanation/invoices.md, "Custom pricing units").
 */
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import { countsInTotal } from '../../core/invoice.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { appliedConversion, linePayer } from '../balances/applied-lines.ts';
import { type BalanceBook, NO_BALANCES } from '../balances/balance-book.ts';
import { type Bucket, isUnrestricted } from '../balances/buckets.ts';
import { type Claim, type CoveredClaim, drawDown } from '../balances/draw-down.ts';
import { type PaidBand, paidBands } from '../balances/paid-bands.ts';
import type { RatedConversionLine, RatedSubscriptionLine, UsageLine } from '../lines/types.ts';
import { oneBand, type PriceBands } from '../rates/tiers.ts';
import { movementOf, type PaidAmount, paidAmounts } from './segments.ts';

/** A custom pricing unit with its conversion by the rate card. */
export interface UnitConversion {
  /** The name of the unit. */
  readonly name: string;
  /** Amount of the card's currency, in its own denomination, for one custom unit. */
  readonly fiatPerCustomCredit: Decimal;
}

type ConvertedLine = UsageLine | RatedSubscriptionLine;

interface ConversionInput {
  /** The lines of the invoice in custom units and in the currency. */
  readonly lines: readonly ConvertedLine[];
  readonly fiatCreditTypeId: string;
  /** Conversions by custom unit. */
  readonly conversions: ReadonlyMap<string, UnitConversion>;
  readonly period: Interval;
  readonly boundaries: readonly Instant[];
  /** The balances that may pay, in burn-down order; default: none. */
  readonly buckets?: readonly Bucket[];
  readonly book?: BalanceBook;
}

export interface Conversions {
  readonly lines: readonly RatedConversionLine[];
  /** Its units with their payers, by custom unit. */
  readonly paid: ReadonlyMap<string, readonly PaidBand[]>;
  readonly covered: readonly CoveredClaim[];
}

/**
 * One line per custom unit with usage, in the order in which the units appear on the invoice. They are the last lines
 * of the invoice. A unit with only zero lines has none. Throws if the card has no conversion of a unit, which is a bug:
 * rates and overrides in such a unit are refused.
 *
 * A balance in the currency pays for a conversion if it has no restrictions and is open at some time of the period.
 */
export function conversionLines(input: ConversionInput): Conversions {
  const {
    lines,
    fiatCreditTypeId,
    conversions,
    period,
    boundaries,
    buckets = [],
    book = NO_BALANCES,
  } = input;
  const used = lines.filter((line) => line.creditTypeId !== fiatCreditTypeId && line.hasMoved);
  const windows = createUnitWindows(fiatCreditTypeId);
  windows.add(used);
  const payers = buckets.filter(
    ({ applicability, creditTypeId, seat }) =>
      !seat && isUnrestricted(applicability) && creditTypeId === fiatCreditTypeId,
  );
  const units = [...new Set(used.map((line) => line.creditTypeId))].map((unit) => {
    const conversion = conversions.get(unit);
    assert(conversion !== undefined, `the rate card converts pricing unit ${unit}`);
    const own = used.filter((line) => line.creditTypeId === unit && countsInTotal(line));
    const bands = oneBand(conversion.fiatPerCustomCredit);
    const quantity = sum(own.map(({ total }) => total));
    return {
      unit,
      conversion,
      bands,
      claim: conversionClaim(unit, conversion, quantity, { bands, payers, period }),
    };
  });
  // The order of drawdown differs from that of the lines.
  const covered = drawDown(
    units.map(({ claim }) => claim),
    book,
  );
  const converted = units.map(({ unit, conversion, bands, claim }) => {
    const paid = paidBands(bands, covered.find((one) => one.claim === claim)?.coverings ?? []);
    const lineOf = conversionLine(unit, conversion, { fiatCreditTypeId, period });
    return { unit, paid, lines: paidConversion(windows.of(unit), paid, boundaries, lineOf) };
  });
  return {
    lines: converted.flatMap((one) => one.lines),
    paid: new Map(converted.map(({ unit, paid }) => [unit, paid])),
    covered,
  };
}

function conversionClaim(
  unit: string,
  { name, fiatPerCustomCredit }: UnitConversion,
  quantity: Decimal,
  { bands, payers, period }: { bands: PriceBands; payers: readonly Bucket[]; period: Interval },
): Claim {
  return {
    key: `conversion ${unit}`,
    interval: period,
    from: ZERO,
    to: quantity,
    overshoots: false,
    productType: 'FIXED',
    unitPrice: fiatPerCustomCredit,
    name,
    groupValues: '',
    claimants: payers.map((bucket) => ({ bucket, bands })),
    list: bands,
  };
}

type ConversionLineOf = (amount: PaidAmount) => RatedConversionLine;

function conversionLine(
  unit: string,
  { name }: UnitConversion,
  { fiatCreditTypeId, period }: Pick<ConversionInput, 'fiatCreditTypeId' | 'period'>,
): ConversionLineOf {
  return ({ band, payer, quantity, total, windows }) => ({
    type: 'cpu_conversion',
    name: `Conversion of ${name}`,
    convertedCreditTypeId: unit,
    creditTypeId: fiatCreditTypeId,
    interval: period,
    quantity,
    unitPrice: band.price,
    total,
    payer: payer === null ? null : linePayer(payer),
    windows,
  });
}

/**
 * The units over time, as a counter. The customer's part always has a line, even with amount 0: hours may need it when
 * days do not, and lines are the same for both.
 */
function paidConversion(
  windows: readonly UnitWindow[],
  paid: readonly PaidBand[],
  boundaries: readonly Instant[],
  lineOf: ConversionLineOf,
): RatedConversionLine[] {
  const amounts = conversionAmounts(windows, paid, boundaries);
  const lines = amounts.flatMap((amount) => {
    const line = lineOf(amount);
    return amount.payer === null ? [line] : [line, appliedConversion(line, amount.payer)];
  });
  const rest = paid.find(({ payer }) => payer === null);
  if (rest === undefined || amounts.some(({ payer }) => payer === null)) return lines;
  return [...lines, lineOf({ band: rest.band, payer: null, quantity: ZERO, total: ZERO, windows: [] })];
}

/** Each payer's part of a conversion, with its windows. */
export function conversionAmounts(
  windows: readonly UnitWindow[],
  paid: readonly PaidBand[],
  boundaries: readonly Instant[],
): PaidAmount[] {
  let value = ZERO;
  const steps = windows
    .toSorted((a, b) => a.window.start - b.window.start)
    .map(({ window, quantity }) => {
      value = value.plus(quantity);
      return { at: window.end, value };
    });
  const [start, end] = [boundaries[0], boundaries.at(-1)];
  assert(start !== undefined && end !== undefined, 'an invoice has a period');
  const piece = { interval: { start, end }, series: { groupValues: {}, steps }, positionOf: unchanged };
  const segment = { interval: piece.interval, piece };
  return paidAmounts(segment, movementOf(segment), paid, boundaries);
}

function unchanged(value: Decimal): Decimal {
  return value;
}

/** The totals of lines in custom units in each window, summed up as the lines arrive. */
export interface UnitWindows {
  add(lines: readonly ConvertedLine[]): void;
  of(unit: string): readonly UnitWindow[];
}

export interface UnitWindow {
  readonly window: Interval;
  readonly quantity: Decimal;
}

export function createUnitWindows(fiatCreditTypeId: string): UnitWindows {
  const units = new Map<string, Map<Instant, UnitWindow>>();
  return {
    add(lines) {
      for (const line of lines) {
        const { creditTypeId, windows } = line;
        if (creditTypeId === fiatCreditTypeId || !countsInTotal(line)) continue;
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
