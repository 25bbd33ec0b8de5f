import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimal, minimum, ONE, ZERO } from '../../../../src/core/decimal.ts';
import { discountedPrice } from '../../../../src/rating/thresholds/discounted-price.ts';

test.each([
  // full price, fraction, room, total, discounted
  ['1000', null, null, '1000', '0'],
  ['1000', '0.85', null, '850', '850'],
  ['1000', '0.85', '850', '850', '850'],
  ['1000', '0.5', '100', '900', '100'],
  ['1000', '0.5', '0', '1000', '0'],
  ['1000', '0.5', '-20', '1000', '0'],
  ['1000', '1', '300', '1000', '300'],
  // 100 buys 333.33333333333333333333 at 30 %.
  ['1000', '0.3', '100', '766.66666666666666666667', '100'],
])(
  'a price of %s at %s with room for %s is %s, %s of it discounted',
  (full, fraction, room, total, discounted) => {
    const discount = fraction === null ? null : { paymentFraction: decimal(fraction) };
    const price = discountedPrice(decimal(full), discount, room === null ? null : decimal(room));
    expect([price.total.toFixed(), price.discounted.toFixed()]).toEqual([total, discounted]);
  },
);

test('the paid amount lies between the discounted and the full price, and the discount never applies beyond the cap', () => {
  const cents = fc.integer({ min: 0, max: 10 ** 9 }).map((n) => decimal(String(n)));
  const fractions = fc.integer({ min: 1, max: 1000 }).map((n) => decimal(String(n)).div(decimal('1000')));
  fc.assert(
    fc.property(fc.array(cents, { maxLength: 6 }), fractions, cents, (charges, paymentFraction, cap) => {
      let counted = ZERO;
      for (const full of charges) {
        const price = discountedPrice(full, { paymentFraction }, cap.minus(counted));
        counted = counted.plus(price.discounted);
        expect(price.total.gte(full.times(paymentFraction))).toBe(true);
        expect(price.total.lte(full)).toBe(true);
        // The discounted part is worth its amount ÷ the fraction, the rest is paid in full.
        const worth = price.discounted.div(paymentFraction).plus(price.total.minus(price.discounted));
        expect(worth.minus(full).abs().lte(decimal('1e-15'))).toBe(true);
      }
      const all = charges.reduce((total, full) => total.plus(full.times(paymentFraction)), ZERO);
      expect(counted.eq(minimum(all, cap))).toBe(true);
      expect(paymentFraction.lte(ONE)).toBe(true);
    }),
  );
});
