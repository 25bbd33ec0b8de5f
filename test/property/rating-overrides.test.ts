/** Precedence of overrides for one unit of usage against the scoring of test/support/naive/overrides.ts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexOverrides, prepareIndex } from '../../src/rating/rates/override-index.ts';
import type { PricedSubject } from '../../src/rating/rates/override-targets.ts';
import { overriddenRate } from '../../src/rating/rates/overrides.ts';
import { naiveApplicable, naiveEntitlement, naiveOverriddenPrice } from '../support/naive/overrides.ts';
import { naiveListPrice } from '../support/naive/rates.ts';
import { allowedUnder, override, usageRate } from '../support/override-cases.ts';
import { runs } from '../support/shares-of-tests.ts';

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

const HOURS = 12;

/** In force at any hours, some of them never. */
const datedOverrides = fc.array(
  override({
    terms: fc
      .tuple(fc.integer({ min: 0, max: HOURS }), fc.option(fc.integer({ min: 0, max: 4 })))
      .map(([startingAt, length]) => ({
        startingAt,
        endingBefore: length === null ? null : startingAt + length,
      })),
    productIds: ['p', 'q'],
    tags: ['a', 'b'],
    pricingGroupValues: [{ model: 'x' }, { model: 'x', size: 's' }, { model: 'y' }],
    presentationGroupValues: [{ region: 'eu' }],
    creditTypeIds: [null, 'unit'],
    withCommits: true,
  }),
  { maxLength: 25 },
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

/** In hundredths: from below the first tier to above the last one. */
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
          const result = overriddenRate(
            indexOverrides({ overrides: allowed, prioritization }).of(who).decisionAt(AT),
            list,
          );
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
      { numRuns: runs(2_000) },
    );
  });

  it('overrides are decided for all times at once as for each time alone', () => {
    const prioritizations = fc.constantFrom('LOWEST_MULTIPLIER' as const, 'EXPLICIT' as const);
    fc.assert(
      fc.property(
        datedOverrides,
        prioritizations,
        subject,
        usageRate,
        (candidates, prioritization, who, list) => {
          const allowed = allowedUnder(prioritization, candidates);
          const own = indexOverrides({ overrides: allowed, prioritization }).of(who);
          const decidedAt = (at: number) => {
            const { entitled } = own.decisionAt(at);
            const rate = overriddenRate(own.decisionAt(at), list);
            return [entitled, rate && { ...naiveListPrice(rate.rate, 700), creditTypeId: rate.creditTypeId }];
          };
          const expectedAt = (at: number) => {
            const applicable = naiveApplicable(allowed, who, at);
            const onCard = naiveEntitlement(applicable, true);
            const entitled = onCard === naiveEntitlement(applicable, false) ? onCard : null;
            return [
              entitled,
              naiveOverriddenPrice(applicable, prioritization === 'EXPLICIT', who, list, 700),
            ];
          };
          for (let at = -1; at <= HOURS + 5; at += 1) {
            expect(decidedAt(at)).toEqual(expectedAt(at));
            const isNew = JSON.stringify(expectedAt(at)) !== JSON.stringify(expectedAt(at - 1));
            if (isNew) expect([own.nextChange(at - 1), own.previousChange(at)]).toEqual([at, at]);
          }
        },
      ),
      { numRuns: runs(1_000) },
    );
  });

  it('overrides are decided by an index prepared in parts as by one built at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        datedOverrides,
        fc.constantFrom('LOWEST_MULTIPLIER' as const, 'EXPLICIT' as const),
        fc.array(subject, { minLength: 1, maxLength: 5 }),
        async (candidates, prioritization, subjects) => {
          const overrides = allowedUnder(prioritization, candidates);
          // Groups of more than 20 have their lanes built in parts.
          const several = overrides.flatMap((one) =>
            Array.from({ length: 11 }, (_, shift) => ({ ...one, startingAt: one.startingAt + (shift % 4) })),
          );
          const atOnce = { overrides: several, prioritization };
          const prepared = { overrides: Object.freeze([...several]), prioritization };
          await prepareIndex(prepared);
          for (const who of subjects) {
            const [expected, actual] = [indexOverrides(atOnce).of(who), indexOverrides(prepared).of(who)];
            for (let at = -1; at <= HOURS + 5; at += 1) {
              expect(actual.decisionAt(at)).toEqual(expected.decisionAt(at));
              expect(actual.nextChange(at)).toBe(expected.nextChange(at));
              expect(actual.previousChange(at)).toBe(expected.previousChange(at));
            }
          }
        },
      ),
    );
  });

  it('overrides are indexed once where they cannot change, and the index is the prepared one', async () => {
    for (const prioritization of ['LOWEST_MULTIPLIER', 'EXPLICIT'] as const) {
      const contract = { overrides: Object.freeze([]), prioritization };
      await prepareIndex(contract);
      const prepared = indexOverrides(contract);
      await prepareIndex(contract);
      expect(indexOverrides(contract)).toBe(prepared);
    }
  });

  it('overrides leave the entitlement to the last added one that speaks of it', () => {
    fc.assert(
      fc.property(overrides, subject, fc.boolean(), (candidates, who, onCard) => {
        const contract = { overrides: candidates, prioritization: 'LOWEST_MULTIPLIER' as const };
        const expected = naiveEntitlement(naiveApplicable(candidates, who, AT), onCard);
        const { entitled } = indexOverrides(contract).of(who).decisionAt(AT);
        expect(entitled ?? onCard).toBe(expected);
      }),
    );
  });
});
