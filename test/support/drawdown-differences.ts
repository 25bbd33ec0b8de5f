/** Where the rating engine and the naive one differ about who pays for what. */

import type { Instant } from '../../src/core/time.ts';
import { type DrawdownCase, hasVolumePrices } from './drawdown-cases.ts';
import { type ChargedLine, type DrawnCase, drawnInvoice, paidWindows } from './drawn-invoices.ts';
import { type NaiveDrawdown, naiveDrawdown, type PaidHour } from './naive/drawdown.ts';
import { type Fraction, fraction, isPositive, minus, NOTHING, negated, plus } from './naive/fractions.ts';

/**
 * A quotient of the engine has 20 places, and the naive engine has all: sums of a few of them differ below this.
 */
const TOLERANCE = fraction({ toFixed: () => '0.000000000001' });

/** The differences of all hours, the deductions and the total. */
export function drawdownDifferences(given: DrawdownCase): string[] {
  return differencesBetween(given, naiveDrawdown(given), drawnInvoice(given));
}

export function differencesBetween(
  given: DrawdownCase,
  expected: NaiveDrawdown,
  drawn: DrawnCase<ChargedLine>,
): string[] {
  // The naive drawdown has the price in the end for each hour, and the engine what each hour added to the total.
  const at = hasVolumePrices(given) ? () => 0 : (hour: Instant) => hour;
  const hours = differences(expected.paid, paidWindows(drawn), at);
  const segments = given.buckets.flatMap(({ segmentId }): string[] => {
    const wanted = expected.deductions.get(segmentId) ?? NOTHING;
    const found = drawn.deductions.get(segmentId);
    const taken = found === undefined ? NOTHING : fraction(found);
    return isSmall(minus(wanted, taken))
      ? []
      : [`${segmentId}: ${number(taken)} instead of ${number(wanted)}`];
  });
  const total = fraction(drawn.total);
  const isTotal = isSmall(minus(expected.total, total));
  return [
    ...hours,
    ...segments,
    ...(isTotal ? [] : [`total: ${number(total)} instead of ${number(expected.total)}`]),
  ];
}

/** A sorted text for every line, payer and hour that differs. */
function differences(
  expected: readonly PaidHour[],
  actual: readonly PaidHour[],
  windowOf: (at: Instant) => Instant,
): string[] {
  const sums = new Map<string, { quantity: Fraction; total: Fraction; expected: Fraction }>();
  const add = ({ line, segmentId, creditTypeId, at, quantity, total }: PaidHour, isExpected: boolean) => {
    const key = `${new Date(windowOf(at)).toISOString()} ${line} ${creditTypeId} by ${segmentId ?? 'the customer'}`;
    const sum = sums.get(key) ?? { quantity: NOTHING, total: NOTHING, expected: NOTHING };
    sums.set(key, {
      quantity: isExpected ? plus(sum.quantity, quantity) : minus(sum.quantity, quantity),
      total: isExpected ? plus(sum.total, total) : minus(sum.total, total),
      expected: isExpected ? plus(sum.expected, total) : sum.expected,
    });
  };
  for (const one of expected) add(one, true);
  for (const one of actual) add(one, false);
  return [...sums]
    .flatMap(([key, { quantity, total, expected: wanted }]) =>
      isSmall(quantity) && isSmall(total)
        ? []
        : [`${key}: ${number(minus(wanted, total))} instead of ${number(wanted)}`],
    )
    .sort();
}

function isSmall(value: Fraction): boolean {
  return !isPositive(minus(value, TOLERANCE)) && !isPositive(minus(negated(value), TOLERANCE));
}

function number({ over, under }: Fraction): number {
  return Number((over * 10n ** 12n) / under) / 1e12;
}
