/** The month of an invoice in the console. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { monthOfInvoice } from '../../../console/src/format/time.ts';
import { naiveMonth } from '../../support/naive/months.ts';

const day = (at: number) => new Date(at).toISOString();
const DAY_MS = 86_400_000;
const START = Date.parse('2026-01-01');

const invoice = fc
  .record({
    isScheduled: fc.boolean(),
    start: fc.nat({ max: 60 }),
    days: fc.integer({ min: 1, max: 92 }),
  })
  .map(({ isScheduled, start, days }) => {
    const from = START + start * DAY_MS;
    return { issued_at: day(from), ...(isScheduled ? {} : { end_timestamp: day(from + days * DAY_MS) }) };
  });

it('the month of an invoice is the same in the console and in the naive engine', () => {
  fc.assert(
    fc.property(invoice, (one) => {
      expect(monthOfInvoice(one)).toBe(naiveMonth(one));
    }),
  );
});
