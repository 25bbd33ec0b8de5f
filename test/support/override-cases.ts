/** Random overrides of every kind and target. Prices, sizes and multipliers are multiples of 0.01. */
import fc from 'fast-check';
import type { Rate } from '../../src/core/catalogue.ts';
import { type Decimal, decimal } from '../../src/core/decimal.ts';
import type { Override } from '../../src/core/terms/overrides.ts';
import type { Instant } from '../../src/core/time.ts';
import { fixed, tiersMode } from './rating-scenarios.ts';

/** The values that overrides are chosen from. */
export interface OverrideSubjects {
  readonly terms: fc.Arbitrary<{ readonly startingAt: Instant; readonly endingBefore: Instant | null }>;
  readonly productIds: readonly [string, ...string[]];
  readonly tags: readonly string[];
  readonly pricingGroupValues: readonly Readonly<Record<string, string>>[];
  readonly presentationGroupValues: readonly Readonly<Record<string, string>>[];
  /** Pricing units of new prices; null: that of the list price. */
  readonly creditTypeIds: readonly (string | null)[];
  /** Whether some are for usage that a commit pays, and subscriptions. */
  readonly withCommits: boolean;
}

export function override(subjects: OverrideSubjects): fc.Arbitrary<Override> {
  return fc
    .record({
      term: subjects.terms,
      entitled: fc.constantFrom(null, null, true, false),
      priority: fc.integer({ min: 1, max: 3 }).map((value) => decimal(String(value))),
      isCommitSpecific: subjects.withCommits ? fc.boolean() : fc.constant(false),
      target: fc.constantFrom('LIST_RATE' as const, 'COMMIT_RATE' as const),
      change: change(subjects.creditTypeIds),
      where: target(subjects),
    })
    .map(({ term, target: rateTarget, change: changed, where, ...rest }) => ({
      id: 'id',
      contractId: 'contract',
      createdAt: 0,
      ...term,
      ...rest,
      ...changed,
      ...where,
      // An override has to say something.
      entitled: changed.type === null ? rest.entitled === true : rest.entitled,
      target: rest.isCommitSpecific ? rateTarget : ('LIST_RATE' as const),
    }));
}

/** TIERED ones are for contracts that choose among multipliers by priority. */
export function allowedUnder(
  prioritization: 'LOWEST_MULTIPLIER' | 'EXPLICIT',
  overrides: readonly Override[],
): Override[] {
  return overrides.filter(({ type }) => type !== 'TIERED' || prioritization === 'EXPLICIT');
}

/** From 0.00 up. */
function hundredthsUpTo(max: number): fc.Arbitrary<Decimal> {
  return fc.integer({ min: 0, max }).map((value) => decimal(fixed(value, 2)));
}

const size = fc.integer({ min: 1, max: 500 }).map((value) => decimal(fixed(value, 2)));

/** FLAT, or TIERED with up to three tiers. */
export const usageRate: fc.Arbitrary<Rate> = fc.oneof(
  hundredthsUpTo(900).map((price): Rate => ({ rateType: 'FLAT', price })),
  fc
    .tuple(
      fc.array(fc.record({ size, price: hundredthsUpTo(900) }), { maxLength: 2 }),
      hundredthsUpTo(900),
      tiersMode,
    )
    .map(
      ([tiers, price, mode]): Rate => ({
        rateType: 'TIERED',
        tiers: [...tiers, { size: null, price }],
        ...mode,
      }),
    ),
);

type Change = Pick<Override, 'type' | 'multiplier' | 'overwriteRate' | 'tiers' | 'tiersMode'>;

const NO_CHANGE: Change = { type: null, multiplier: null, overwriteRate: null, tiers: [] };

function change(creditTypeIds: readonly (string | null)[]): fc.Arbitrary<Change> {
  const multiplier = hundredthsUpTo(300);
  const sized = fc.array(fc.record({ size, multiplier }), { minLength: 1, maxLength: 2 });
  const unsized = multiplier.map((one) => ({ size: null, multiplier: one }));
  return fc.oneof(
    multiplier.map((one) => ({ ...NO_CHANGE, type: 'MULTIPLIER' as const, multiplier: one })),
    fc.tuple(sized, fc.option(unsized), tiersMode).map(([tiers, last, mode]) => ({
      ...NO_CHANGE,
      ...mode,
      type: 'TIERED' as const,
      tiers: last === null ? tiers : [...tiers, last],
    })),
    fc.tuple(usageRate, fc.constantFrom(...creditTypeIds)).map(([rate, creditTypeId]) => ({
      ...NO_CHANGE,
      type: 'OVERWRITE' as const,
      overwriteRate: { rate, creditTypeId },
    })),
    fc.constant(NO_CHANGE),
  );
}

function target(subjects: OverrideSubjects) {
  const everything = { productId: null, applicableProductTags: [], specifiers: [] };
  return fc.oneof(
    fc.constant(everything),
    fc.constantFrom(...subjects.productIds).map((productId) => ({ ...everything, productId })),
    fc
      .subarray([...subjects.tags], { minLength: 1 })
      .map((applicableProductTags) => ({ ...everything, applicableProductTags })),
    fc
      .array(specifier(subjects), { minLength: 1, maxLength: 3 })
      .map((specifiers) => ({ ...everything, specifiers })),
  );
}

function specifier(subjects: OverrideSubjects): fc.Arbitrary<Override['specifiers'][number]> {
  const ids = (...names: string[]) => (subjects.withCommits ? fc.subarray(names) : fc.constant([]));
  return fc.record({
    productId: fc.constantFrom(null, null, ...subjects.productIds),
    productTags: fc.subarray([...subjects.tags]),
    pricingGroupValues: fc.constantFrom({}, {}, ...subjects.pricingGroupValues),
    presentationGroupValues: fc.constantFrom({}, {}, ...subjects.presentationGroupValues),
    exclude: exclusions(subjects.tags),
    billingFrequency: subjects.withCommits
      ? fc.constantFrom(null, null, 'MONTHLY' as const)
      : fc.constant(null),
    commitIds: ids('c'),
    recurringCommitIds: ids('r'),
    anyCommitOrCreditIds: ids('c', 'r', 'other'),
  });
}

/** Mostly nothing. */
export function exclusions(tags: readonly string[]): fc.Arbitrary<{ readonly productTags: string[] }[]> {
  const entry = fc.record({ productTags: fc.subarray([...tags], { minLength: 1 }) });
  return fc.oneof(
    { arbitrary: fc.constant<{ productTags: string[] }[]>([]), weight: 2 },
    fc.array(entry, { minLength: 1, maxLength: 2 }),
  );
}
