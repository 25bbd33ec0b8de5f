/** Compares composite products with the naive engine, on whole invoices. Throws where they differ. */
import { expect } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import type { Decimal } from '../../src/core/decimal.ts';
import { DAY_MS, type Instant } from '../../src/core/time.ts';
import {
  breakdownWindows,
  invoiceTotal,
  lineWindows,
  type WindowSize,
} from '../../src/rating/invoices/breakdown.ts';
import type { UsageLine } from '../../src/rating/lines/types.ts';
import type { CompositeCase } from './composite-cases.ts';
import type { Charge } from './naive/charges.ts';
import { type NaiveCompositeCharge, naiveCompositeCharges, naiveFees } from './naive/composites.ts';
import { naiveCharges } from './naive/rating.ts';
import { type NaiveMeter, naiveMeter } from './naive/series.ts';
import { rateCase } from './rated-charges.ts';
import {
  atoms,
  CONVERSION_LINE,
  conversionsOfShares,
  lineText,
  type Share,
  sharesOfCharges,
  sharesOfComposites,
  summedShares,
  totalOfShares,
} from './shares.ts';

interface ExpectedComposites {
  readonly meter: NaiveMeter;
  readonly usage: readonly Charge[];
  readonly composites: readonly NaiveCompositeCharge[];
}

export function expectedComposites(given: CompositeCase): ExpectedComposites {
  const meter = naiveMeter(given.metrics, given.events, given.period);
  const usage = naiveCharges(given, meter);
  return { meter, usage, composites: naiveCompositeCharges(given, [...usage, ...naiveFees(given)]) };
}

function shareOf(line: UsageLine, at: Instant, quantity: Decimal, total: Decimal): Share {
  const { productId, creditTypeId, type, tier } = line;
  const text = lineText(productId, type === 'minimum' ? null : (tier?.level ?? 0));
  return { line: text, creditTypeId, at, quantity: atoms(quantity), total: atoms(total) };
}

export const summedComposites = (
  composites: readonly NaiveCompositeCharge[],
  windowOf: (at: Instant) => Instant,
) => summedShares(sharesOfComposites(composites), windowOf);

export function isComposite({ productType }: UsageLine): boolean {
  return productType === 'COMPOSITE';
}

function checkWindows(
  given: CompositeCase,
  { meter, composites }: ExpectedComposites,
  size: WindowSize,
): void {
  const { lines } = rateCase(given, meter, size);
  const windows = breakdownWindows(lines, lineWindows(lines), size, given.period);
  const shares = windows.flatMap(({ window, lines: own }) =>
    own
      .filter(({ line }) => isComposite(line))
      .map(({ line, quantity, total }) => shareOf(line, window.start, quantity, total)),
  );
  const dayStart = (at: Instant) => Math.max(given.period.start, at - (at % DAY_MS));
  const windowOf = (at: Instant) => (size === 'hour' ? at : dayStart(at));
  expect(summedShares(shares, windowOf)).toEqual(summedComposites(composites, windowOf));
}

function checkInvoice(given: CompositeCase, { meter, usage, composites }: ExpectedComposites): void {
  const { lines, conversions } = rateCase(given, meter, 'period');
  const whole = () => given.period.start;
  const ofComposites = lines
    .filter(isComposite)
    .map((line) => shareOf(line, line.interval.start, line.quantity, line.total));
  expect(summedShares(ofComposites, whole)).toEqual(summedComposites(composites, whole));
  for (const { quantity, unitPrice, total } of lines) {
    expect(quantity.times(unitPrice).toString()).toBe(total.toString());
  }
  const shares = [...sharesOfCharges(usage), ...sharesOfComposites(composites)];
  const converted = conversionsOfShares(shares, given.worths);
  expect(
    summedShares(
      conversions.map(({ convertedCreditTypeId: creditTypeId, interval, quantity, total }) => ({
        ...{ line: CONVERSION_LINE, creditTypeId, at: interval.start },
        quantity: atoms(quantity),
        total: atoms(total),
      })),
      whole,
    ),
  ).toEqual(summedShares(converted, whole));
  const total = totalOfShares([...shares, ...converted], USD_CENTS.id);
  expect(atoms(invoiceTotal([...lines, ...conversions], USD_CENTS.id))).toBe(total);
}

/** Hours, days, lines, conversions and total. */
export function checkCompositeCase(given: CompositeCase): void {
  const expected = expectedComposites(given);
  checkWindows(given, expected, 'hour');
  checkWindows(given, expected, 'day');
  checkInvoice(given, expected);
}
