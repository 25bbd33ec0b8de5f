/** Deviations of one contract from its rate card. */
import { z } from 'zod';
import { BILLING_FREQUENCIES, TIERS_MODES, type TiersMode } from '../catalogue.ts';
import type { Decimal } from '../decimal.ts';
import { usageConditions } from './applicability.ts';
import { exactText, instantValue, listOf, type MayBeGiven, objectOf } from './values.ts';

export const OVERRIDE_TYPES = ['OVERWRITE', 'MULTIPLIER', 'TIERED'] as const;
export const MULTIPLIER_PRIORITIZATIONS = ['LOWEST_MULTIPLIER', 'EXPLICIT'] as const;
export type MultiplierPrioritization = (typeof MULTIPLIER_PRIORITIZATIONS)[number];

/** Conditions that a line must all meet. Null or empty: no condition. */
const overrideSpecifier = objectOf({
  ...usageConditions,
  billingFrequency: z.enum(BILLING_FREQUENCIES).nullable(),
  /** Commit-specific overrides only; a match in any of the three lists is enough. */
  commitIds: listOf(z.string()),
  recurringCommitIds: listOf(z.string()),
  anyCommitOrCreditIds: listOf(z.string()),
});
export type OverrideSpecifier = z.output<typeof overrideSpecifier>;

const tier = objectOf({ size: exactText.nullable(), price: exactText });

const flatRate = z.object({ rateType: z.literal('FLAT'), price: exactText });
/** Absent, as in everything that was stored before there were modes: graduated. */
const tiersMode = z.enum(TIERS_MODES).optional();
const tieredRate = z.object({ rateType: z.literal('TIERED'), tiers: listOf(tier), tiersMode });

/** A `UsageRate` of core/catalogue.ts. */
export const usageRate = z.discriminatedUnion('rateType', [flatRate, tieredRate]);

/** The price that replaces the card's: a `Rate` of core/catalogue.ts. */
export const overwriteRate = z.discriminatedUnion('rateType', [
  flatRate,
  z.object({ rateType: z.literal('PERCENTAGE'), price: exactText, minimum: exactText.nullable() }),
  tieredRate,
  z.object({
    rateType: z.literal('TIERED_PERCENTAGE'),
    tiers: listOf(tier),
    tiersMode,
    minimum: exactText.nullable(),
  }),
  z.object({
    rateType: z.literal('SUBSCRIPTION'),
    price: exactText,
    quantity: exactText.nullable(),
    isProrated: z.boolean().nullable(),
  }),
]);
type OverwriteRate = Readonly<z.output<typeof overwriteRate>>;

/** Multiplies the list price of the units in a range; without a size: of all following units. */
export const overrideTier = objectOf({ size: exactText.nullable(), multiplier: exactText });
export type OverrideTier = z.output<typeof overrideTier>;

export const override = objectOf({
  id: z.string(),
  contractId: z.string(),
  startingAt: instantValue,
  /** Equal to the start: never in force. */
  endingBefore: instantValue.nullable(),
  /** Null: does not change the entitlement. */
  entitled: z.boolean().nullable(),
  /** Null: changes the entitlement only. */
  type: z.enum(OVERRIDE_TYPES).nullable(),
  /** With MULTIPLIER only. */
  multiplier: exactText.nullable(),
  priority: exactText.nullable(),
  /** With OVERWRITE only. `creditTypeId` null: the unit of the card's rate. */
  overwriteRate: objectOf({ rate: overwriteRate, creditTypeId: z.string().nullable() }).nullable(),
  /** With TIERED only, else empty. */
  tiers: listOf(overrideTier),
  /** With TIERED only. Absent: graduated. */
  tiersMode,
  productId: z.string().nullable(),
  /** The product must carry one of them. */
  applicableProductTags: listOf(z.string()),
  /** ORed. Mutually exclusive with `productId` and `applicableProductTags`. */
  specifiers: listOf(overrideSpecifier),
  isCommitSpecific: z.boolean(),
  /** The changed price; other than LIST_RATE with commit-specific overrides only. */
  target: z.enum(['LIST_RATE', 'COMMIT_RATE']),
  createdAt: instantValue,
});
/** Overrides are stored and listed in the order in which they were added, because a later one can win a tie. */
export type Override = z.output<typeof override>;

/** A price as a client describes it; null: omitted. */
export interface OverwriteRateInput {
  readonly rateType: OverwriteRate['rateType'] | 'CUSTOM';
  readonly price: Decimal | null;
  readonly tiers: readonly { readonly size: Decimal | null; readonly price: Decimal }[] | null;
  readonly tiersMode?: TiersMode | null | undefined;
  readonly minimum: Decimal | null;
  readonly quantity: Decimal | null;
  readonly isProrated: boolean | null;
  readonly creditTypeId: string | null;
}

/** An override as a client describes it. Null: omitted. Ids in specifiers may be temporary ids. */
export type OverrideInput = Omit<
  Override,
  'id' | 'contractId' | 'overwriteRate' | 'tiers' | 'tiersMode' | 'target' | 'createdAt'
> &
  MayBeGiven<Override, 'tiers' | 'target'> & {
    readonly overwriteRate: OverwriteRateInput | null;
    readonly tiersMode?: TiersMode | null | undefined;
  };

/** The input for an OVERWRITE with all members omitted. */
export const NO_RATE: Omit<OverwriteRateInput, 'rateType'> = {
  price: null,
  tiers: null,
  tiersMode: null,
  minimum: null,
  quantity: null,
  isProrated: null,
  creditTypeId: null,
};

/** The price as a client would describe it. */
export function describedRate({
  rate,
  creditTypeId,
}: NonNullable<Override['overwriteRate']>): OverwriteRateInput {
  return { ...NO_RATE, ...rate, creditTypeId };
}
