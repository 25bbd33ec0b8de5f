/** Precedence of overrides for one unit of usage against the scoring of test/support/naive/overrides.ts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entitlementAt, overriddenRate, type PricedSubject } from '../../src/rating/rates/overrides.ts';
import { naiveApplicable, naiveEntitlement, naiveOverriddenPrice } from '../support/naive/overrides.ts';
import { naiveListPrice } from '../support/naive/rates.ts';
import { allowedUnder, override, usageRate } from '../support/override-cases.ts';

const AT = 1_000;

const overrides = fc.array(
  override({
    terms: fc.constantFrom(
      { startingAt: 0, endingBefore: null },
      { startingAt: AT, endingBefore: AT + 1 },
      { startingAt: AT + 1, endingBefore: null },
      { startingAt: 0, endingBefore: AT },
    ),
    productIds: ['p', 'q'],
    tags: ['a', 'b'],
    pricingGroupValues: [{ model: 'x' }, { model: 'y' }],
    presentationGroupValues: [{ region: 'eu' }],
    creditTypeIds: [null, 'unit'],
    withCommits: true,
  }),
  { maxLength: 8 },
);

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

/** In hundredths: from below the first to behind all tiers. */
const units = fc.array(fc.integer({ min: -50, max: 1_700 }), { minLength: 8, maxLength: 8 });

describe('overrides', () => {
  it('price every unit as the best candidate of a naive scoring does', () => {
    fc.assert(
      fc.property(
        overrides,
        fc.constantFrom('LOWEST_MULTIPLIER' as const, 'EXPLICIT' as const),
        subject,
        usageRate,
        units,
        (candidates, prioritization, who, list, sampled) => {
          const allowed = allowedUnder(prioritization, candidates);
          const result = overriddenRate({ overrides: allowed, prioritization }, who, AT, list);
          const applicable = naiveApplicable(allowed, who, AT);
          for (const unit of sampled) {
            const isExplicit = prioritization === 'EXPLICIT';
            const expected = naiveOverriddenPrice(applicable, isExplicit, who, list, unit);
            const actual =
              result === null
                ? null
                : { ...naiveListPrice(result.rate, unit), creditTypeId: result.creditTypeId };
            expect(actual).toEqual(expected);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('leave the entitlement to the last added one that speaks of it', () => {
    fc.assert(
      fc.property(overrides, subject, fc.boolean(), (candidates, who, onCard) => {
        const contract = { overrides: candidates, prioritization: 'LOWEST_MULTIPLIER' as const };
        const expected = naiveEntitlement(naiveApplicable(candidates, who, AT), onCard);
        expect(entitlementAt(contract, who, AT, onCard)).toBe(expected);
      }),
    );
  });
});
