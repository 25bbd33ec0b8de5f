/**
 * Precedence of overrides against a naive model that scores every candidate for one unit of usage and
 * sorts them. It shares nothing with src/rating but the types.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Rate } from '../../src/core/catalogue.ts';
import { type Decimal, decimal } from '../../src/core/decimal.ts';
import type { Override } from '../../src/core/terms/overrides.ts';
import { entitlementAt, overriddenRate, type PricedSubject } from '../../src/rating/rates/overrides.ts';

const AT = 1_000;

const NO_SPECIFIER = {
  productId: null,
  productTags: [],
  pricingGroupValues: {},
  presentationGroupValues: {},
  billingFrequency: null,
  commitIds: [],
  recurringCommitIds: [],
  anyCommitOrCreditIds: [],
};

const wholeNumber = (max: number) => fc.integer({ min: 0, max }).map((value) => decimal(String(value)));

const specifier = fc.record({
  productId: fc.constantFrom(null, null, 'p', 'q'),
  productTags: fc.subarray(['a', 'b']),
  pricingGroupValues: fc.constantFrom<Record<string, string>>({}, {}, { model: 'x' }, { model: 'y' }),
  presentationGroupValues: fc.constantFrom<Record<string, string>>({}, {}, { region: 'eu' }),
  billingFrequency: fc.constantFrom(null, null, 'MONTHLY' as const),
  commitIds: fc.subarray(['c']),
  recurringCommitIds: fc.subarray(['r']),
  anyCommitOrCreditIds: fc.subarray(['c', 'r', 'other']),
});

const target = fc.oneof(
  fc.constant({ productId: null, applicableProductTags: [], specifiers: [] }),
  fc.constantFrom('p', 'q').map((productId) => ({ productId, applicableProductTags: [], specifiers: [] })),
  fc
    .subarray(['a', 'b'], { minLength: 1 })
    .map((tags) => ({ productId: null, applicableProductTags: tags, specifiers: [] })),
  fc
    .array(specifier, { minLength: 1, maxLength: 3 })
    .map((specifiers) => ({ productId: null, applicableProductTags: [], specifiers })),
);

const price = fc.oneof(
  fc.record({
    type: fc.constant('MULTIPLIER' as const),
    multiplier: wholeNumber(5),
    overwriteRate: fc.constant(null),
    tiers: fc.constant([]),
  }),
  fc.record({
    type: fc.constant('TIERED' as const),
    multiplier: fc.constant(null),
    overwriteRate: fc.constant(null),
    tiers: fc.array(fc.record({ size: wholeNumber(4).map((n) => n.plus('1')), multiplier: wholeNumber(5) }), {
      minLength: 1,
      maxLength: 3,
    }),
  }),
  fc.record({
    type: fc.constant('OVERWRITE' as const),
    multiplier: fc.constant(null),
    overwriteRate: wholeNumber(50).map((value) => ({
      rate: { rateType: 'FLAT' as const, price: value },
      creditTypeId: null,
    })),
    tiers: fc.constant([]),
  }),
  fc.constant({ type: null, multiplier: null, overwriteRate: null, tiers: [] }),
);

const override: fc.Arbitrary<Override> = fc
  .record({
    term: fc.constantFrom(
      { startingAt: 0, endingBefore: null },
      { startingAt: AT, endingBefore: AT + 1 },
      {
        startingAt: AT + 1,
        endingBefore: null,
      },
      { startingAt: 0, endingBefore: AT },
    ),
    entitled: fc.constantFrom(null, true, false),
    priority: fc.integer({ min: 1, max: 3 }).map((value) => decimal(String(value))),
    isCommitSpecific: fc.boolean(),
    target: fc.constantFrom('LIST_RATE' as const, 'COMMIT_RATE' as const),
    price,
    where: target,
  })
  .map(({ term, price: priced, where, target: rateTarget, ...rest }) => ({
    id: 'id',
    contractId: 'contract',
    createdAt: 0,
    ...term,
    ...rest,
    ...priced,
    ...where,
    target: rest.isCommitSpecific ? rateTarget : ('LIST_RATE' as const),
  }));

const subject: fc.Arbitrary<PricedSubject> = fc.record({
  productId: fc.constantFrom('p', 'q'),
  productTags: fc.subarray(['a', 'b']),
  pricingGroupValues: fc.constantFrom<Record<string, string>>({}, { model: 'x' }, { model: 'x', size: 's' }),
  presentationGroupValues: fc.constantFrom<Record<string, string>>({}, { region: 'eu' }),
  billingFrequency: fc.constantFrom(null, 'MONTHLY' as const),
  payer: fc.option(
    fc.record({
      id: fc.constantFrom('c', 'd'),
      recurringId: fc.constantFrom(null, 'r'),
      usesCommitRate: fc.boolean(),
    }),
  ),
});

const listRate: fc.Arbitrary<Rate> = fc.oneof(
  wholeNumber(20).map((value) => ({ rateType: 'FLAT' as const, price: value })),
  fc
    .tuple(
      wholeNumber(4).map((n) => n.plus('1')),
      wholeNumber(20),
      wholeNumber(20),
    )
    .map(([size, first, rest]) => ({
      rateType: 'TIERED' as const,
      tiers: [
        { size, price: first },
        { size: null, price: rest },
      ],
    })),
);

function contained(wanted: Record<string, string>, has: Record<string, string>): boolean {
  return Object.keys(wanted).filter((name) => has[name] !== wanted[name]).length === 0;
}

function naiveApplies(one: Override, who: PricedSubject): boolean {
  if (AT < one.startingAt) return false;
  if (one.endingBefore !== null && AT >= one.endingBefore) return false;
  if (one.isCommitSpecific && who.payer === null) return false;
  if (one.productId !== null && one.productId !== who.productId) return false;
  const tags = new Set(who.productTags);
  if (one.applicableProductTags.length > 0 && !one.applicableProductTags.some((tag) => tags.has(tag)))
    return false;
  if (one.specifiers.length === 0) return true;
  for (const each of one.specifiers) {
    const { productId, productTags, billingFrequency } = { ...NO_SPECIFIER, ...each };
    if (productId !== null && productId !== who.productId) continue;
    if (!productTags.every((tag) => tags.has(tag))) continue;
    if (!contained({ ...each.pricingGroupValues }, { ...who.pricingGroupValues })) continue;
    if (!contained({ ...each.presentationGroupValues }, { ...who.presentationGroupValues })) continue;
    if (billingFrequency !== null && billingFrequency !== who.billingFrequency) continue;
    const names = [...each.commitIds, ...each.recurringCommitIds, ...each.anyCommitOrCreditIds];
    if (names.length === 0) return true;
    const { payer } = who;
    if (payer === null) continue;
    if (each.commitIds.includes(payer.id) || each.anyCommitOrCreditIds.includes(payer.id)) return true;
    const parent = payer.recurringId;
    if (parent !== null && [...each.recurringCommitIds, ...each.anyCommitOrCreditIds].includes(parent))
      return true;
  }
  return false;
}

/** Price of the unit number `unit`, counted from 1, by whole units. */
function unitPrice(rate: Rate, unit: number): Decimal {
  if (rate.rateType === 'FLAT') return rate.price;
  if (rate.rateType !== 'TIERED') throw new Error('not in this test');
  let upTo = 0;
  for (const tier of rate.tiers) {
    upTo = tier.size === null ? Number.POSITIVE_INFINITY : upTo + Number(tier.size.toFixed());
    if (unit <= upTo) return tier.price;
  }
  throw new Error('no last tier');
}

function unitMultiplier(one: Override, unit: number): number {
  if (one.type === 'MULTIPLIER') return Number(one.multiplier?.toFixed());
  let upTo = 0;
  for (const tier of one.tiers) {
    upTo = tier.size === null ? Number.POSITIVE_INFINITY : upTo + Number(tier.size.toFixed());
    if (unit <= upTo) return Number(tier.multiplier.toFixed());
  }
  return 1;
}

/** Scores every candidate for this unit; the smallest score wins. */
function naivePrice(
  overrides: readonly Override[],
  isExplicit: boolean,
  who: PricedSubject,
  list: Rate,
  unit: number,
) {
  const wanted = who.payer?.usesCommitRate ? 'COMMIT_RATE' : 'LIST_RATE';
  const scored = overrides
    .map((one, index) => ({ one, index }))
    .filter(({ one }) => one.type !== null && one.target === wanted && naiveApplies(one, who))
    .map(({ one, index }) => {
      const isOverwrite = one.type === 'OVERWRITE';
      return {
        one,
        score: [
          one.isCommitSpecific ? 0 : 1,
          isOverwrite ? 0 : 1,
          isOverwrite || !isExplicit ? 0 : Number(one.priority?.toFixed()),
          isOverwrite ? 0 : unitMultiplier(one, unit),
          -index,
        ],
      };
    })
    .sort(
      (a, b) =>
        a.score.map((part, i) => part - (b.score[i] ?? 0)).find((difference) => difference !== 0) ?? 0,
    );
  const winner = scored[0]?.one;
  if (winner === undefined) return null;
  if (winner.type === 'OVERWRITE' && winner.overwriteRate)
    return unitPrice(winner.overwriteRate.rate as Rate, unit);
  return unitPrice(list, unit).times(String(unitMultiplier(winner, unit)));
}

describe('overrides', () => {
  it('price every unit as the best candidate of a naive scoring does', () => {
    fc.assert(
      fc.property(
        fc.array(override, { maxLength: 8 }),
        fc.boolean(),
        subject,
        listRate,
        (candidates, isExplicit, who, list) => {
          const overrides = isExplicit ? candidates : candidates.filter(({ type }) => type !== 'TIERED');
          const prioritization = isExplicit ? 'EXPLICIT' : 'LOWEST_MULTIPLIER';
          const result = overriddenRate({ overrides, prioritization }, who, AT, list);
          for (let unit = 1; unit <= 24; unit += 1) {
            const expected = naivePrice(overrides, isExplicit, who, list, unit);
            const actual = result === null ? null : unitPrice(result.rate, unit);
            expect(actual?.toFixed() ?? null).toBe(expected?.toFixed() ?? null);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('leave the entitlement to the last added one that speaks of it', () => {
    fc.assert(
      fc.property(fc.array(override, { maxLength: 6 }), subject, fc.boolean(), (overrides, who, onCard) => {
        let expected = onCard;
        for (const one of overrides) {
          if (one.entitled !== null && naiveApplies(one, who)) expected = one.entitled;
        }
        const contract = { overrides, prioritization: 'LOWEST_MULTIPLIER' as const };
        expect(entitlementAt(contract, who, AT, onCard)).toBe(expected);
      }),
    );
  });
});
