/** A balance and what rolls over from it are one amount, in whichever order invoices draw on them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { type Decimal, decimal, maximum, minimum, sum, ZERO } from '../../src/core/decimal.ts';
import { ANY_USAGE } from '../../src/core/terms/applicability.ts';
import { type BookedBucket, createBalanceBook } from '../../src/rating/balances/balance-book.ts';

/** A balance of an older contract, of the one that renews it, and of the one that renews that. */
const SEGMENTS = ['oldest', 'newer', 'newest'] as const;

const fractions = fc.constantFrom('0.1', '0.3', '0.5', '1').map(decimal);
const chain = fc.record({
  amount: fc.integer({ min: 1, max: 1_000 }).map((value) => decimal(`${value}`)),
  fractions: fc.tuple(fractions, fractions),
  /** How many of them have issued invoices already, in order. */
  draws: fc.array(
    fc.record({ place: fc.nat(2), part: fc.constantFrom('0.01', '0.4', '0.999', '1').map(decimal) }),
    { maxLength: 12 },
  ),
});

function bucketOf(
  place: number,
  amount: Decimal,
  used: Decimal,
  source: BookedBucket['source'],
): BookedBucket {
  const segmentId = SEGMENTS[place] ?? '';
  return {
    ...{ id: segmentId, recurringId: null, segmentId, name: segmentId, commitType: 'PREPAID' },
    ...{ rateType: 'LIST_RATE', creditTypeId: USD_CENTS.id, applicability: ANY_USAGE, contractIds: null },
    ...{ access: { start: 0, end: 1 }, left: amount.minus(used), source },
  };
}

/** As they are loaded after issued invoices have used so much. */
function bookAfter(
  amounts: readonly Decimal[],
  [, fraction]: readonly [Decimal, Decimal],
  used: readonly Decimal[],
) {
  const [first = ZERO, second = ZERO, third = ZERO] = amounts;
  const [one = ZERO, two = ZERO, three = ZERO] = used;
  const buckets = [
    bucketOf(0, first, one, null),
    bucketOf(1, second, two, { segmentId: 'oldest', amount: second, fraction: decimal('1') }),
    bucketOf(2, third, three, { segmentId: 'newer', amount: third, fraction }),
  ];
  return { buckets, book: createBalanceBook(buckets) };
}

test('no order of draws takes more than there was, nor more of a rollover than arrives in it', () => {
  fc.assert(
    fc.property(chain, fc.boolean(), ({ amount, fractions: [one, other], draws }, isIssuedEachTime) => {
      const amounts = [amount, amount.times(one), amount.times(one).times(other)];
      const used = [ZERO, ZERO, ZERO];
      let { book, buckets } = bookAfter(amounts, [one, other], used);
      for (const { place, part } of draws) {
        const bucket = buckets[place];
        if (bucket === undefined) throw new Error('there are three');
        const taken = book.leftOf(bucket).times(part);
        book.take(bucket, taken);
        used[place] = (used[place] ?? ZERO).plus(taken);
        const [first = ZERO, second = ZERO, third = ZERO] = used;
        const [, mostOfSecond = ZERO, mostOfThird = ZERO] = amounts;
        const arrived = minimum(amount.minus(first), mostOfSecond);
        const passedOn = minimum(minimum(arrived.minus(second), mostOfThird), other.times(arrived));
        expect(sum(used).lte(amount)).toBe(true);
        expect(second.lte(arrived)).toBe(true);
        expect(third.lte(maximum(passedOn, ZERO))).toBe(true);
        if (isIssuedEachTime) ({ book, buckets } = bookAfter(amounts, [one, other], used));
      }
    }),
    { numRuns: 2_000 },
  );
});
