/** Compares the rating engine with the naive one, on whole invoices of usage. Throws where they differ. */
import { expect } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { HOUR_MS, type Instant } from '../../src/core/time.ts';
import { invoiceTotal } from '../../src/rating/invoices/breakdown.ts';
import type { BillingCase } from './billing-cases.ts';
import { type Charge, summedBy } from './naive/charges.ts';
import { naiveConversions, naiveTotal } from './naive/conversions.ts';
import { naiveCharges } from './naive/rating.ts';
import { type NaiveMeter, naiveMeter } from './naive/series.ts';
import {
  chargesOfLines,
  chargesOfWarnings,
  chargesOfWindows,
  conversionsOfLines,
  conversionsOfWindows,
  rateCase,
  scaled,
} from './rated-charges.ts';

/** The result of the naive engine for a case, and the answers of metering. */
export interface ExpectedCharges {
  readonly meter: NaiveMeter;
  readonly charges: readonly Charge[];
  /** Usage without a price. */
  readonly unpriced: readonly Charge[];
}

export function expectedCharges(given: BillingCase): ExpectedCharges {
  const meter = naiveMeter(given.metrics, given.events, given.period);
  const all = naiveCharges(given, meter);
  return {
    meter,
    charges: all.filter(({ creditTypeId }) => creditTypeId !== null),
    unpriced: all.filter(({ creditTypeId }) => creditTypeId === null),
  };
}

function checkWindows(given: BillingCase, { meter, charges }: ExpectedCharges, size: 'hour' | 'day'): void {
  const { lines, conversions } = rateCase(given, meter, size);
  const dayStart = (at: Instant) => Math.max(given.period.start, at - (at % (24 * HOUR_MS)));
  const windowOf = (at: Instant) => (size === 'hour' ? at : dayStart(at));
  expect(summedBy(chargesOfWindows(lines), windowOf)).toEqual(summedBy(charges, windowOf));
  const converted = naiveConversions(charges, given.worths);
  expect(summedBy(conversionsOfWindows(conversions), windowOf)).toEqual(summedBy(converted, windowOf));
}

function checkInvoice(given: BillingCase, { meter, charges, unpriced }: ExpectedCharges): void {
  const rated = rateCase(given, meter, 'period');
  const { lines, conversions } = rated;
  const whole = () => given.period.start;
  expect(summedBy(chargesOfLines(lines), whole)).toEqual(summedBy(charges, whole));
  expect(summedBy(chargesOfWarnings(rated), whole)).toEqual(summedBy(unpriced, whole));
  const converted = naiveConversions(charges, given.worths);
  expect(summedBy(conversionsOfLines(conversions), whole)).toEqual(summedBy(converted, whole));
  const total = invoiceTotal([...lines, ...conversions], USD_CENTS.id);
  expect(scaled(total, 8)).toBe(naiveTotal(charges, USD_CENTS.id, given.worths));
}

/** Hours, days, lines, conversions, warnings and total. */
export function checkBillingCase(given: BillingCase): void {
  const expected = expectedCharges(given);
  checkWindows(given, expected, 'hour');
  checkWindows(given, expected, 'day');
  checkInvoice(given, expected);
}
