import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RateEntry } from '../../../../src/core/catalogue.ts';
import { decimal, sum } from '../../../../src/core/decimal.ts';
import type { QuantityChange, Subscription } from '../../../../src/core/terms/subscriptions.ts';
import { addMonths, DAY_MS, HOUR_MS, type Instant, parseRfc3339 } from '../../../../src/core/time.ts';
import { NO_OVERRIDES } from '../../../../src/rating/rates/overrides.ts';
import {
  chargePrice,
  chargeTotal,
  openCharges,
  type SubscriptionCharge,
} from '../../../../src/rating/subscriptions/charges.ts';
import { type SubscriptionPrices, subscriptionPrices } from '../../../../src/rating/subscriptions/prices.ts';
import { proratedPrice } from '../../../../src/rating/subscriptions/proration.ts';
import { runs } from '../../../support/shares-of-tests.ts';
import { contractWith, subscriptionWith } from '../../core/terms/fixtures.ts';

const at = (text: string): Instant => parseRfc3339(`${text}T00:00:00Z`) ?? Number.NaN;

function pricesOf(...rates: [from: string, price: string, entitled?: boolean][]): SubscriptionPrices {
  const entries = rates.map(
    ([from, price, entitled = true], sequence): RateEntry => ({
      id: `rate ${sequence}`,
      rateCardId: 'card',
      productId: 'seats',
      pricingGroupValues: {},
      billingFrequency: 'MONTHLY',
      startingAt: at(from),
      endingBefore: null,
      entitled,
      rate: { rateType: 'FLAT', price: decimal(price) },
      commitRate: null,
      creditTypeId: 'usd',
      sequence,
    }),
  );
  const product = { id: 'seats', type: 'SUBSCRIPTION' as const, archivedAt: null, versions: [VERSION] };
  return subscriptionPrices(
    { fiatCreditTypeId: 'usd', conversions: new Map(), products: [{ product, rateEntries: entries }] },
    NO_OVERRIDES,
  );
}

const VERSION = {
  startingAt: null,
  name: 'Seats',
  tags: [],
  billableMetricId: null,
  quantityConversion: null,
  quantityRounding: null,
  sqlBreakdownGranularity: null,
  pricingGroupKey: [],
  presentationGroupKey: [],
  createdAt: 0,
  createdBy: 'tests',
};

const PRICES = pricesOf(['2025-01-01', '3100']);

function set(from: string, quantity: string): QuantityChange {
  return { startingAt: at(from), quantity: decimal(quantity), quantityDelta: null };
}

function add(from: string, quantityDelta: string): QuantityChange {
  return { startingAt: at(from), quantity: null, quantityDelta: decimal(quantityDelta) };
}

interface Case {
  readonly terms?: Partial<Subscription>;
  readonly changes: readonly QuantityChange[];
  readonly now: string;
  readonly billed?: readonly SubscriptionCharge[];
  readonly prices?: SubscriptionPrices;
  readonly billedFrom?: string;
}

function chargesOf({ terms = {}, changes, now, billed = [], prices = PRICES, billedFrom }: Case) {
  const { contract } = contractWith({ startingAt: at('2025-01-01') });
  const subscription = subscriptionWith({
    startingAt: at('2025-01-01'),
    isProrated: true,
    ...terms,
    quantityChanges: [...changes],
  });
  return openCharges({
    ...{ contract, subscription, prices, billed, now: at(now) },
    billedFrom: billedFrom === undefined ? null : at(billedFrom),
  });
}

/** `due: covered from - to, quantity x price`. */
function shown(charges: readonly SubscriptionCharge[], prices = PRICES): string[] {
  const day = (instant: Instant) => new Date(instant).toISOString().slice(0, 10);
  return charges.map((charge) => {
    const price = chargePrice(charge, prices)?.bands[0].price.toFixed();
    const { interval, quantity } = charge;
    return `${day(charge.at)}: ${day(interval.start)} - ${day(interval.end)}, ${quantity.toFixed()} x ${price}`;
  });
}

describe('in advance', () => {
  test('each period is due at its start, and the next one is known', () => {
    expect(shown(chargesOf({ changes: [set('2025-01-01', '10')], now: '2025-02-10' }))).toEqual([
      '2025-01-01: 2025-01-01 - 2025-02-01, 10 x 3100',
      '2025-02-01: 2025-02-01 - 2025-03-01, 10 x 3100',
      '2025-03-01: 2025-03-01 - 2025-04-01, 10 x 3100',
    ]);
  });

  test('a subscription in advance: before the start the first charge alone is known', () => {
    const terms = { startingAt: at('2025-05-01') };
    expect(shown(chargesOf({ terms, changes: [set('2025-05-01', '10')], now: '2025-02-10' }))).toEqual([
      '2025-05-01: 2025-05-01 - 2025-06-01, 10 x 3100',
    ]);
  });

  test('an increase is due when it takes effect, for the rest of the period', () => {
    const changes = [set('2025-01-01', '10'), add('2025-01-11', '2')];
    expect(shown(chargesOf({ changes, now: '2025-01-20' }))).toEqual([
      '2025-01-01: 2025-01-01 - 2025-02-01, 10 x 3100',
      '2025-01-11: 2025-01-11 - 2025-02-01, 2 x 2100',
      '2025-02-01: 2025-02-01 - 2025-03-01, 12 x 3100',
    ]);
  });

  test('a subscription in advance: with BILL_ON_NEXT_COLLECTION_DATE an increase is due with the next charge', () => {
    const terms = { invoiceBehavior: 'BILL_ON_NEXT_COLLECTION_DATE' as const };
    const changes = [set('2025-01-01', '10'), add('2025-01-11', '2')];
    expect(shown(chargesOf({ terms, changes, now: '2025-01-20' }))).toContain(
      '2025-02-01: 2025-01-11 - 2025-02-01, 2 x 2100',
    );
  });

  test('a subscription in advance: without proration an increase costs the full price, and so does a partial period', () => {
    const terms = { isProrated: false, startingAt: at('2025-01-15') };
    const changes = [set('2025-01-15', '1'), add('2025-01-20', '1')];
    expect(shown(chargesOf({ terms, changes, now: '2025-01-20' })).slice(0, 2)).toEqual([
      '2025-01-15: 2025-01-15 - 2025-02-01, 1 x 3100',
      '2025-01-20: 2025-01-20 - 2025-02-01, 1 x 3100',
    ]);
  });

  test('a decrease gives nothing back, and only what goes above the highest quantity is charged', () => {
    const changes = [set('2025-01-01', '10'), set('2025-01-05', '4'), set('2025-01-11', '12')];
    expect(shown(chargesOf({ changes, now: '2025-01-20' }))).toEqual([
      '2025-01-01: 2025-01-01 - 2025-02-01, 10 x 3100',
      '2025-01-11: 2025-01-11 - 2025-02-01, 2 x 2100',
      '2025-02-01: 2025-02-01 - 2025-03-01, 12 x 3100',
    ]);
  });

  test('a quantity of 0 has a charge of nothing once', () => {
    const changes = [set('2025-01-01', '0')];
    const first = chargesOf({ changes, now: '2025-01-01' });
    expect(shown(first)[0]).toBe('2025-01-01: 2025-01-01 - 2025-02-01, 0 x 3100');
    const again = chargesOf({ changes, now: '2025-01-20', billed: first.slice(0, 1) });
    expect(shown(again)).toEqual(['2025-02-01: 2025-02-01 - 2025-03-01, 0 x 3100']);
  });
});

describe('changes of the past', () => {
  const billed = chargesOf({ changes: [set('2025-01-01', '10')], now: '2025-01-31' }).slice(0, 1);

  test('an increase in a billed period charges the difference for all the time it was missed', () => {
    const changes = [set('2025-01-01', '10'), add('2025-01-11', '2')];
    expect(shown(chargesOf({ changes, now: '2025-01-31', billed }))).toEqual([
      '2025-01-11: 2025-01-11 - 2025-02-01, 2 x 2100',
      '2025-02-01: 2025-02-01 - 2025-03-01, 12 x 3100',
    ]);
  });

  test('an increase that turns out to have come earlier charges the time between', () => {
    const late = chargesOf({
      changes: [set('2025-01-01', '10'), add('2025-01-21', '2')],
      now: '2025-01-25',
      billed,
    }).slice(0, 1);
    const changes = [set('2025-01-01', '10'), add('2025-01-21', '2'), set('2025-01-11', '12')];
    const open = chargesOf({
      changes: [...changes, set('2025-01-21', '12')],
      now: '2025-01-25',
      billed: [...billed, ...late],
    });
    expect(shown(open)).toEqual([
      '2025-01-11: 2025-01-11 - 2025-01-21, 2 x 1000',
      '2025-02-01: 2025-02-01 - 2025-03-01, 12 x 3100',
    ]);
  });

  test('an increase at the start of a billed period has a separate id', () => {
    const changes = [set('2025-01-01', '10'), set('2025-01-01', '11')];
    const [open] = chargesOf({ changes, now: '2025-01-31', billed });
    expect(open?.interval).toEqual(billed[0]?.interval);
    expect(open?.quantity.toFixed()).toBe('1');
    expect(open?.id).not.toBe(billed[0]?.id);
  });

  test('a decrease and an earlier end of a billed period charge nothing', () => {
    const changes = [set('2025-01-01', '10'), set('2025-01-03', '4')];
    const terms = { endingBefore: at('2025-01-15') };
    expect(chargesOf({ terms, changes, now: '2025-01-20', billed })).toEqual([]);
  });

  test('a period that was billed in part, up to an end, is completed when the end is moved', () => {
    const terms = { endingBefore: at('2025-01-11') };
    const changes = [set('2025-01-01', '10')];
    const part = chargesOf({ terms, changes, now: '2025-01-02' });
    expect(shown(part)).toEqual(['2025-01-01: 2025-01-01 - 2025-01-11, 10 x 1000']);
    expect(shown(chargesOf({ changes, now: '2025-01-02', billed: part }))[0]).toBe(
      '2025-01-11: 2025-01-11 - 2025-02-01, 10 x 2100',
    );
  });
});

describe('in arrears', () => {
  const terms = {
    collectionSchedule: 'ARREARS' as const,
    invoiceBehavior: 'BILL_ON_NEXT_COLLECTION_DATE' as const,
  };

  test('a period and its increases are due at its end, and decreases do not count', () => {
    const changes = [set('2025-01-01', '10'), add('2025-01-11', '2'), set('2025-01-20', '1')];
    expect(shown(chargesOf({ terms, changes, now: '2025-01-31' }))).toEqual([
      '2025-02-01: 2025-01-01 - 2025-02-01, 10 x 3100',
      '2025-02-01: 2025-01-11 - 2025-02-01, 2 x 2100',
    ]);
  });

  test('the last period is prorated and due at the end of the subscription', () => {
    const changes = [set('2025-01-01', '10')];
    const ended = { ...terms, endingBefore: at('2025-01-11') };
    expect(shown(chargesOf({ terms: ended, changes, now: '2025-03-01' }))).toEqual([
      '2025-01-11: 2025-01-01 - 2025-01-11, 10 x 1000',
    ]);
  });
});

describe('prices', () => {
  test('a period has the price of its start', () => {
    const prices = pricesOf(['2025-01-01', '3100'], ['2025-01-15', '6200']);
    const changes = [set('2025-01-01', '10'), add('2025-01-21', '1')];
    expect(shown(chargesOf({ changes, prices, now: '2025-01-31' }), prices)).toEqual([
      '2025-01-01: 2025-01-01 - 2025-02-01, 10 x 3100',
      '2025-01-21: 2025-01-21 - 2025-02-01, 1 x 1100',
      '2025-02-01: 2025-02-01 - 2025-03-01, 11 x 6200',
    ]);
  });

  test('a period that is not entitled at its start is not charged', () => {
    const prices = pricesOf(['2025-01-01', '3100', false], ['2025-02-01', '3100']);
    const changes = [set('2025-01-01', '10')];
    expect(shown(chargesOf({ changes, prices, now: '2025-01-20' }), prices)).toEqual([
      '2025-02-01: 2025-02-01 - 2025-03-01, 10 x 3100',
    ]);
  });

  test.each([
    ['HALF_UP', 0, '1333'],
    ['FLOOR', 0, '1333'],
    ['CEILING', 0, '1334'],
    ['HALF_UP', 1, '1333.3'],
    ['CEILING', -2, '1400'],
    ['FLOOR', -1, '1330'],
  ] as const)('%s to %i places rounds the prorated price of one unit to %s', (method, places, price) => {
    const rounded = { prorationRounding: { roundingMethod: method, decimalPlaces: places } };
    const prices = pricesOf(['2025-01-01', '4000']);
    const changes = [set('2025-04-21', '3')];
    const terms = { ...rounded, startingAt: at('2025-04-21') };
    const [charge] = chargesOf({ terms, changes, prices, now: '2025-04-21' });
    const own = charge && chargePrice(charge, prices);
    expect(own?.bands[0].price.toFixed()).toBe(price);
    expect(charge && own && chargeTotal(charge, own).toFixed()).toBe(decimal(price).times('3').toFixed());
  });
});

test('subscriptions of an earlier version are billed from their first period that begins later', () => {
  const changes = [set('2025-01-01', '10'), set('2025-02-21', '12')];
  expect(shown(chargesOf({ changes, now: '2025-02-28', billedFrom: '2025-02-10' }))).toEqual([
    '2025-02-21: 2025-02-21 - 2025-03-01, 2 x 885.71428571428571428571',
    '2025-03-01: 2025-03-01 - 2025-04-01, 12 x 3100',
  ]);
});

const START = at('2023-11-30');
const DAYS = 200;
const END = START + DAYS * DAY_MS;

/** The days of the billing periods: month ends, and a leap day. */
const PERIODS = Array.from({ length: 8 }, (_, k) => {
  const day = (instant: Instant) => Math.min(DAYS, (instant - START) / DAY_MS);
  return { first: day(addMonths(START, k)), end: day(addMonths(START, k + 1)) };
}).filter(({ first, end }) => first < end);

const MODES = {
  arrears: { collectionSchedule: 'ARREARS', invoiceBehavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
  immediately: { collectionSchedule: 'ADVANCE', invoiceBehavior: 'BILL_IMMEDIATELY' },
  next: { collectionSchedule: 'ADVANCE', invoiceBehavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
} as const;

const history = fc.record({
  mode: fc.constantFrom('arrears' as const, 'immediately' as const, 'next' as const),
  first: fc.integer({ min: 0, max: 9 }),
  /** The day it is submitted on, the day from which it holds, and the quantity. */
  changes: fc.array(
    fc.record({
      submittedOn: fc.integer({ min: 0, max: DAYS }),
      startsOn: fc.integer({ min: 0, max: DAYS - 1 }),
      quantity: fc.integer({ min: 0, max: 9 }),
    }),
    { maxLength: 12 },
  ),
  /** The days on which everything that is due is invoiced. */
  invoicedOn: fc.uniqueArray(fc.integer({ min: 0, max: DAYS + 5 }), { maxLength: 15 }),
});
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

function inOrder({ invoicedOn, changes }: History) {
  return {
    days: invoicedOn.toSorted((a, b) => a - b),
    knownOn: (today: number) =>
      changes
        .filter(({ submittedOn }) => submittedOn <= today)
        .toSorted((a, b) => a.submittedOn - b.submittedOn),
  };
}

/** The number of units that are paid for on each day, by the rules as they are written. */
function paidByRules(one: History): number[] {
  const { days, knownOn } = inOrder(one);
  const paid = Array.from({ length: DAYS }, () => 0);
  const isCollected = new Set<number>();
  for (const today of days) {
    const quantityOn = (day: number): number =>
      knownOn(today)
        .toSorted((a, b) => a.startsOn - b.startsOn)
        .findLast(({ startsOn }) => startsOn <= day)?.quantity ?? one.first;
    for (const { first, end } of PERIODS) {
      const isOver = end <= today;
      if (today < first || (one.mode === 'arrears' && !isOver)) continue;
      if (one.mode === 'next' && !isOver && isCollected.has(first)) continue;
      isCollected.add(first);
      const lastCounted = isOver ? end : one.mode === 'next' ? first : today;
      let highest = 0;
      for (let day = first; day < end; day += 1) {
        if (day <= lastCounted) highest = Math.max(highest, quantityOn(day));
        paid[day] = Math.max(paid[day] ?? 0, highest);
      }
    }
  }
  return paid;
}

function invoicedCharges(one: History): SubscriptionCharge[] {
  const { days, knownOn } = inOrder(one);
  const invoiced: SubscriptionCharge[] = [];
  for (const today of days) {
    const changes = knownOn(today).map(({ startsOn, quantity }) => ({
      ...{ startingAt: START + startsOn * DAY_MS, quantityDelta: null },
      quantity: decimal(String(quantity)),
    }));
    const now = START + today * DAY_MS;
    const charges = openCharges({
      contract: contractWith({ startingAt: START }).contract,
      subscription: subscriptionWith({
        ...MODES[one.mode],
        ...{ isProrated: true, startingAt: START, endingBefore: END, anchorDate: START },
        quantityChanges: [
          { startingAt: START, quantity: decimal(String(one.first)), quantityDelta: null },
          ...changes,
        ],
      }),
      ...{ prices: pricesOf(['2020-01-01', '1000']), billed: invoiced, billedFrom: null, now },
    });
    invoiced.push(...charges.filter(({ at: due }) => due <= now));
  }
  return invoiced;
}

test('whatever is changed when, each day is paid for as often as the rules say', () => {
  fc.assert(
    fc.property(history, (one) => {
      const invoiced = invoicedCharges(one);
      const paid = Array.from({ length: DAYS }, (_, day) => {
        const from = START + day * DAY_MS;
        const covering = invoiced.filter(({ interval }) => interval.start <= from && from < interval.end);
        return Number(sum(covering.map(({ quantity }) => quantity)).toFixed());
      });
      expect(paid).toEqual(paidByRules(one));
      expect(new Set(invoiced.map(({ id }) => id)).size).toBe(invoiced.length);
    }),
    { numRuns: runs(600) },
  );
});

test('the prices of the parts of a period add up to its price', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 12n }),
      fc.integer({ min: 1, max: 8_784 }),
      fc.array(fc.integer({ min: 0, max: 8_784 }), { maxLength: 10 }),
      (cents, hours, cuts) => {
        const price = decimal(String(cents)).div('100');
        const bounds = [0, ...cuts.filter((cut) => cut < hours).sort((a, b) => a - b), hours];
        const parts = bounds
          .slice(1)
          .map((end, index) =>
            proratedPrice(
              price,
              { start: (bounds[index] ?? 0) * HOUR_MS, end: end * HOUR_MS },
              { start: 0, end: hours * HOUR_MS },
            ),
          );
        expect(sum(parts).toFixed()).toBe(price.toFixed());
      },
    ),
  );
});
