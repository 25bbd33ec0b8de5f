/**
 * The law of holds (docs/explanation/holds.md, "The law"), on random customers whose balances have priorities and are
 * limited to some products. The judge is the drawdown of invoices, which is asked about every part of the holds that
 * may be settled.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { type Decimal, decimal, sum, ZERO } from '../../src/core/decimal.ts';
import { type BookedBucket, createBalanceBook } from '../../src/rating/balances/balance-book.ts';
import { type Claim, coveredAmount, drawDown } from '../../src/rating/balances/draw-down.ts';
import type { SlotTerms } from '../../src/rating/holds/charged-slot.ts';
import { claimPlace } from '../../src/rating/holds/claim-place.ts';
import type { DrawnClaim } from '../../src/rating/holds/drawn-runs.ts';
import { HoldBook, type HoldPart } from '../../src/rating/holds/hold-book.ts';
import { draftCharge } from '../../src/rating/holds/price-event.ts';
import { wholePeriod } from '../../src/rating/periods/billing-periods.ts';
import { oneBand } from '../../src/rating/rates/tiers.ts';
import { runs } from '../support/shares-of-tests.ts';

const PERIOD = wholePeriod({ start: 0, end: 1000 });
const DRAFT = { contractId: 'contract', period: PERIOD };
const PRODUCTS = [0, 1, 2, 3] as const;

/** The terms of the usage of a product; `start`: of its segment. */
interface Charged {
  readonly name: string;
  readonly price: number;
  readonly start: number;
  readonly used: number;
}

interface Given {
  /** In burn-down order, with the products that each may pay for. */
  readonly balances: readonly { readonly left: number; readonly products: readonly number[] }[];
  readonly products: readonly Charged[];
  readonly asked: readonly { readonly product: number; readonly units: number }[];
  readonly ids: readonly number[];
}

const charged = (names: readonly string[]) =>
  fc.record({
    name: fc.constantFrom(...names),
    price: fc.constantFrom(50, 100, 150),
    start: fc.constantFrom(0, 500),
    used: fc.constantFrom(0, 0, 1, 2, 5),
  });

/** `names`: of the products; equal ones may have the same place. */
function givenWith(products: fc.Arbitrary<readonly Charged[]>): fc.Arbitrary<Given> {
  return fc.record({
    balances: fc.array(
      fc.record({
        left: fc.integer({ min: 0, max: 12 }).map((count) => count * 50),
        products: fc.oneof(fc.constant([...PRODUCTS]), fc.subarray([...PRODUCTS], { minLength: 1 })),
      }),
      { minLength: 1, maxLength: 5 },
    ),
    products,
    asked: fc.array(
      fc.record({ product: fc.constantFrom(...PRODUCTS), units: fc.integer({ min: 0, max: 5 }) }),
      { minLength: 1, maxLength: 6 },
    ),
    ids: fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8], { minLength: 9, maxLength: 9 }),
  });
}

const anyGiven = givenWith(fc.tuple(charged(['a']), charged(['b']), charged(['c']), charged(['d'])));
/** Two may differ by their ids alone. */
const alikeGiven = givenWith(
  fc.tuple(...PRODUCTS.map(() => charged(['a', 'b']).map((one) => ({ ...one, used: 0, start: 0 })))),
);

function bucketsOf({ balances, ids }: Given): BookedBucket[] {
  return balances.map(
    ({ left }, index): BookedBucket => ({
      ...{ id: `commit ${ids[index]}`, recurringId: null, segmentId: `segment ${ids[index]}` },
      ...{ commitType: 'PREPAID', name: 'Prepaid', creditTypeId: USD_CENTS.id, rateType: 'LIST_RATE' },
      applicability: { productIds: [], productTags: [], specifiers: [] },
      ...{ access: PERIOD, contractIds: null, left: decimal(String(left)), source: null },
    }),
  );
}

function payersOf(given: Given, product: number): BookedBucket[] {
  return bucketsOf(given).filter((_, index) => given.balances[index]?.products.includes(product));
}

function claimOf(given: Given, product: number, units: number): Claim {
  const { name = '', price = 0, start = 0 } = given.products[product] ?? {};
  const unitPrice = decimal(String(price));
  return {
    ...{ key: `product ${given.ids[product + 5]}`, interval: { start, end: 1000 }, productType: 'USAGE' },
    ...{ from: ZERO, to: decimal(String(units)), overshoots: false, unitPrice, name, groupValues: '' },
    claimants: payersOf(given, product).map((bucket) => ({ bucket, bands: oneBand(unitPrice) })),
    list: oneBand(unitPrice),
  };
}

function slotOf(given: Given, product: number): SlotTerms {
  const { used = 0 } = given.products[product] ?? {};
  const claim = claimOf(given, product, used);
  return {
    key: claim.key,
    charge: draftCharge(
      DRAFT,
      USD_CENTS.id,
      claim.claimants.map(({ bucket }) => bucket.segmentId),
    ),
    place: claimPlace(0, claim),
    priceLists: [oneBand(claim.unitPrice)],
    ...{ growth: 'sum', value: claim.to, positionOf: (value) => value, factor: null, laterPerUnit: null },
    billing: { prices: 'alike', claim },
  };
}

/** The charges of products that some balance may pay, beyond what balances pay. */
function chargedBeyond(given: Given, held: Given['asked']): Decimal {
  const claims = PRODUCTS.map((product) => {
    const own = held.filter((one) => one.product === product).map(({ units }) => units);
    const { used = 0 } = given.products[product] ?? {};
    return claimOf(
      given,
      product,
      own.reduce((total, units) => total + units, used),
    );
  }).filter(({ claimants }) => claimants.length > 0);
  const covered = drawDown(claims, createBalanceBook(bucketsOf(given)));
  const paid = sum(covered.map(({ coverings }) => coveredAmount(coverings)));
  return sum(claims.map(({ unitPrice, to }) => unitPrice.times(to))).minus(paid);
}

/** As an evaluation finds it. */
function bookOf(given: Given): HoldBook {
  const claims = PRODUCTS.map((product) => claimOf(given, product, given.products[product]?.used ?? 0));
  const drawn = drawDown(claims, createBalanceBook(bucketsOf(given))).map(
    ({ claim, coverings }): DrawnClaim => {
      const ids = claim.claimants.map(({ bucket }) => bucket.segmentId);
      const charge = draftCharge(DRAFT, USD_CENTS.id, ids);
      return { place: claimPlace(0, claim), claim, charge, amount: coveredAmount(coverings) };
    },
  );
  return new HoldBook(bucketsOf(given), [], drawn);
}

function partOf(given: Given, { product, units }: Given['asked'][number]): HoldPart[] {
  return [{ slot: slotOf(given, product), value: decimal(String(units)) }];
}

function subsetsOf<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: 2 ** items.length }, (_, bits) =>
    items.filter((_item, index) => Math.floor(bits / 2 ** index) % 2 === 1),
  );
}

function isBroken(given: Given, held: Given['asked']): boolean {
  const before = chargedBeyond(given, []);
  return subsetsOf(held).some((settled) => chargedBeyond(given, settled).gt(before));
}

/** Asks one after the other; what is granted stays held. */
function answersOf(given: Given) {
  const book = bookOf(given);
  return given.asked.map((one, index) => {
    const { remaining, amount } = book.standing('asked', partOf(given, one));
    const answer = book.reserve(`hold ${index}`, partOf(given, one));
    return { one, granted: answer.granted, remaining, amount, left: answer.remaining };
  });
}

test('whatever part of the holds is settled, balances pay for all of it, and a hold is refused only if they would not', () => {
  let refusals = 0;
  fc.assert(
    fc.property(anyGiven, (given) => {
      const held: Given['asked'][number][] = [];
      for (const { one, granted } of answersOf(given)) {
        if (payersOf(given, one.product).length === 0) {
          expect(granted).toBe(true);
          continue;
        }
        expect(granted).toBe(!isBroken(given, [...held, one]));
        if (granted) held.push(one);
        else refusals += 1;
      }
    }),
    { numRuns: runs(900) },
  );
  expect(refusals).toBeGreaterThan(20);
});

test('what remains is what the next hold may cost, and no more', () => {
  fc.assert(
    fc.property(anyGiven, (given) => {
      for (const { granted, remaining, amount } of answersOf(given)) {
        if (remaining === null || amount.lte(ZERO)) expect(granted).toBe(true);
        else expect(granted).toBe(amount.lte(remaining));
      }
    }),
    { numRuns: runs(300) },
  );
});

test('holds that are settled and counted by an evaluation leave those that are active as much room as before', () => {
  fc.assert(
    fc.property(anyGiven, fc.infiniteStream(fc.boolean()), (given, settles) => {
      const held = answersOf(given).flatMap(({ one, granted }) => (granted ? [one] : []));
      const settled = held.filter(() => settles.next().value);
      const active = held.filter((one) => !settled.includes(one));
      const products = given.products.map((one, product) => ({
        ...one,
        used: settled.reduce(
          (used, { product: own, units }) => used + (own === product ? units : 0),
          one.used,
        ),
      }));
      const later = { ...given, products, asked: active };
      expect(answersOf(later).filter(({ granted }) => !granted)).toEqual([]);
    }),
    { numRuns: runs(300) },
  );
});

test('equal terms give equal answers, whatever the ids, and are kept also if ids alone decide what is paid first', () => {
  fc.assert(
    fc.property(alikeGiven, (given) => {
      const answers = answersOf(given);
      const again = answersOf({ ...given, ids: given.ids.toReversed() });
      const shown = (list: typeof answers) =>
        list.map(({ granted, remaining, left }) => [granted, remaining?.toFixed(), left?.toFixed()]);
      expect(shown(again)).toEqual(shown(answers));
      const held = answers.flatMap(({ one, granted }) => (granted ? [one] : []));
      for (const ids of [given.ids, given.ids.toReversed()])
        expect(isBroken({ ...given, ids }, held)).toBe(false);
    }),
    { numRuns: runs(300) },
  );
});

test('an amount whose event is not known has room wherever its event is paid', () => {
  let granted = 0;
  fc.assert(
    fc.property(anyGiven, fc.integer({ min: 1, max: 8 }), fc.nat(5), (given, count, at) => {
      const free = given.balances.flatMap(({ products }, index) => (products.length === 4 ? [index] : []));
      if (free.length === 0) return;
      const ids = free.map((index) => `segment ${given.ids[index]}`);
      const charge = { ...draftCharge(DRAFT, USD_CENTS.id, ids), key: 'amount' };
      const book = bookOf(given);
      const held: Given['asked'][number][] = [];
      const amount = decimal(String(count * 50));
      let isHeld = false;
      for (const [index, one] of given.asked.entries()) {
        if (index === Math.min(at, given.asked.length - 1))
          isHeld = book.reserve('amount', [{ charge, amount }]).granted;
        if (
          payersOf(given, one.product).length > 0 &&
          book.reserve(`hold ${index}`, partOf(given, one)).granted
        )
          held.push(one);
      }
      if (!isHeld) return;
      granted += 1;
      // As an event of each of the products, at its place, and before and after all others.
      for (const product of PRODUCTS) {
        const { price = 50 } = given.products[product] ?? {};
        const units = (count * 50) / price;
        if (!Number.isInteger(units)) continue;
        const before = chargedBeyond(given, []);
        for (const settled of subsetsOf(held)) {
          const beyond = chargedBeyond(given, [...settled, { product, units }]);
          expect(beyond.lte(before)).toBe(true);
        }
      }
    }),
    { numRuns: runs(300) },
  );
  expect(granted).toBeGreaterThan(20);
});
