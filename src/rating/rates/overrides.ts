/**
 * Selects the override that applies to a price, and applies it (docs/rating.md, "Overrides").
 *
 * Rating and the rate schedule of a contract share `overriddenRate` for the price and `entitlementAt` for the
 * entitlement. Overrides do not stack. Precedence, highest first: commit-specific OVERWRITE, commit-specific
 * multipliers, contract-level OVERWRITE, contract-level multipliers.
 */
import type { BillingFrequency, Product, Rate, Tier } from '../../core/catalogue.ts';
import { type Decimal, ONE, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type {
  MultiplierPrioritization,
  Override,
  OverrideSpecifier,
  OverrideTier,
} from '../../core/terms/overrides.ts';
import { contains, type Instant } from '../../core/time.ts';
import type { GroupValues } from '../usage/group-values.ts';

/** A commit or credit that pays for the usage in question. */
interface PayingBalance {
  /** The commit or credit itself. */
  readonly id: string;
  /** The recurring commit or credit that created it. */
  readonly recurringId: string | null;
  /** True where the balance counts usage at its commit rate and the product has one. */
  readonly usesCommitRate: boolean;
}

/** The usage or subscription to price. */
export interface PricedSubject {
  readonly productId: string;
  /** The tags of the product version in force. */
  readonly productTags: readonly string[];
  readonly pricingGroupValues: GroupValues;
  readonly presentationGroupValues: GroupValues;
  readonly billingFrequency: BillingFrequency | null;
  /** Null: no balance pays for it. */
  readonly payer: PayingBalance | null;
}

export interface ContractOverrides {
  /** In the order in which they were added: the later one wins a tie. */
  readonly overrides: readonly Override[];
  readonly prioritization: MultiplierPrioritization;
}

export const NO_OVERRIDES: ContractOverrides = { overrides: [], prioritization: 'LOWEST_MULTIPLIER' };

/** A price after overrides. */
export interface OverriddenRate {
  readonly rate: Rate;
  /** Null: the unit of the rate that was overridden. */
  readonly creditTypeId: string | null;
}

/**
 * The price of `subject` at `at` after overrides; null if no override changes `listRate`. If the card has no
 * rate (`listRate` null), only an OVERWRITE sets a price.
 */
export function overriddenRate(
  { overrides, prioritization }: ContractOverrides,
  subject: PricedSubject,
  at: Instant,
  listRate: Rate | null,
): OverriddenRate | null {
  const target = subject.payer?.usesCommitRate === true ? 'COMMIT_RATE' : 'LIST_RATE';
  const candidates = overrides.filter(
    (one) => one.type !== null && one.target === target && appliesTo(one, subject, at),
  );
  for (const isCommitSpecific of [true, false]) {
    const group = candidates.filter((one) => one.isCommitSpecific === isCommitSpecific);
    const overwrite = group.findLast(({ type }) => type === 'OVERWRITE');
    if (overwrite !== undefined) return overwrittenRate(overwrite);
    const multipliers = prioritized(group, prioritization);
    if (multipliers.length > 0 && listRate !== null) {
      return { rate: multiplied(listRate, multipliers), creditTypeId: null };
    }
  }
  return null;
}

/** Whether `subject` is entitled at `at`: as set by the last added override that sets it, else by the card. */
export function entitlementAt(
  { overrides }: ContractOverrides,
  subject: PricedSubject,
  at: Instant,
  onCard: boolean,
): boolean {
  const deciding = overrides.findLast((one) => one.entitled !== null && appliesTo(one, subject, at));
  return deciding?.entitled ?? onCard;
}

/** Only the overrides that can apply to the product. A prefilter for its lines. */
export function overridesOf(product: Product, contract: ContractOverrides): ContractOverrides {
  const tags = new Set(product.versions.flatMap((version) => version.tags));
  const isOwn = (productId: string | null) => productId === null || productId === product.id;
  const overrides = contract.overrides.filter(
    (one) =>
      isOwn(one.productId) &&
      (one.applicableProductTags.length === 0 || one.applicableProductTags.some((tag) => tags.has(tag))) &&
      (one.specifiers.length === 0 || one.specifiers.some((specifier) => isOwn(specifier.productId))),
  );
  return { ...contract, overrides };
}

/** Where overrides begin and end. */
export function overrideInstants({ overrides }: ContractOverrides): Instant[] {
  return overrides.flatMap(({ startingAt, endingBefore }) =>
    endingBefore === null ? [startingAt] : [startingAt, endingBefore],
  );
}

function appliesTo(one: Override, subject: PricedSubject, at: Instant): boolean {
  return contains({ start: one.startingAt, end: one.endingBefore }, at) && targets(one, subject);
}

function targets(one: Override, subject: PricedSubject): boolean {
  if (one.isCommitSpecific && subject.payer === null) return false;
  if (one.productId !== null) return one.productId === subject.productId;
  if (one.applicableProductTags.length > 0) {
    return one.applicableProductTags.some((tag) => subject.productTags.includes(tag));
  }
  return one.specifiers.length === 0 || one.specifiers.some((specifier) => meets(specifier, subject));
}

/** All conditions of one specifier. A product without a group key meets no condition on its values. */
function meets(specifier: OverrideSpecifier, subject: PricedSubject): boolean {
  return (
    (specifier.productId === null || specifier.productId === subject.productId) &&
    specifier.productTags.every((tag) => subject.productTags.includes(tag)) &&
    holds(subject.pricingGroupValues, specifier.pricingGroupValues) &&
    holds(subject.presentationGroupValues, specifier.presentationGroupValues) &&
    (specifier.billingFrequency === null || specifier.billingFrequency === subject.billingFrequency) &&
    namesPayer(specifier, subject.payer)
  );
}

function holds(values: GroupValues, wanted: GroupValues): boolean {
  return Object.entries(wanted).every(
    ([name, value]) => Object.hasOwn(values, name) && values[name] === value,
  );
}

function namesPayer(specifier: OverrideSpecifier, payer: PayingBalance | null): boolean {
  const { commitIds, recurringCommitIds, anyCommitOrCreditIds } = specifier;
  if (commitIds.length + recurringCommitIds.length + anyCommitOrCreditIds.length === 0) return true;
  if (payer === null) return false;
  const own = payer.recurringId === null ? [payer.id] : [payer.id, payer.recurringId];
  return (
    commitIds.includes(payer.id) ||
    (payer.recurringId !== null && recurringCommitIds.includes(payer.recurringId)) ||
    anyCommitOrCreditIds.some((id) => own.includes(id))
  );
}

function overwrittenRate({ overwriteRate }: Override): OverriddenRate {
  assert(overwriteRate !== null, 'an OVERWRITE has a rate');
  return { rate: overwriteRate.rate, creditTypeId: overwriteRate.creditTypeId };
}

/** The candidate multipliers: under EXPLICIT only those with the lowest priority value. */
function prioritized(group: readonly Override[], prioritization: MultiplierPrioritization): Override[] {
  const multipliers = group.filter(({ type }) => type === 'MULTIPLIER' || type === 'TIERED');
  if (prioritization === 'LOWEST_MULTIPLIER') return multipliers;
  const first = multipliers.reduce<Decimal | null>((lowest, { priority }) => {
    assert(priority !== null, 'under EXPLICIT every multiplier has a priority');
    return lowest === null || priority.lt(lowest) ? priority : lowest;
  }, null);
  return multipliers.filter(({ priority }) => first !== null && priority?.eq(first));
}

/** Applies the smallest candidate multiplier to each range of quantities. */
function multiplied(rate: Rate, multipliers: readonly Override[]): Rate {
  const schedules = multipliers.map(multiplierTiers);
  switch (rate.rateType) {
    case 'FLAT': {
      const tiers = multipliedTiers([{ size: null, price: rate.price }], schedules);
      const [only] = tiers;
      return tiers.length === 1 && only !== undefined
        ? { rateType: 'FLAT', price: only.price }
        : { rateType: 'TIERED', tiers };
    }
    case 'TIERED':
      return { rateType: 'TIERED', tiers: multipliedTiers(rate.tiers, schedules) };
    case 'PERCENTAGE': {
      const tiers = multipliedTiers([{ size: null, price: rate.price }], schedules);
      const [only] = tiers;
      return tiers.length === 1 && only !== undefined
        ? { ...rate, price: only.price }
        : { rateType: 'TIERED_PERCENTAGE', tiers, minimum: rate.minimum };
    }
    case 'TIERED_PERCENTAGE':
      return { ...rate, tiers: multipliedTiers(rate.tiers, schedules) };
    case 'SUBSCRIPTION':
      return { ...rate, price: rate.price.times(smallestAt(schedules, ZERO)) };
  }
}

/** A MULTIPLIER is one unbounded tier. Beyond the last sized tier of a TIERED override the list price applies. */
function multiplierTiers(one: Override): readonly OverrideTier[] {
  if (one.type === 'TIERED') {
    const last = one.tiers.at(-1);
    return last?.size === null ? one.tiers : [...one.tiers, { size: null, multiplier: ONE }];
  }
  assert(one.multiplier !== null, 'a MULTIPLIER has a multiplier');
  return [{ size: null, multiplier: one.multiplier }];
}

/** Splits the tiers wherever a multiplier changes. */
function multipliedTiers(tiers: readonly Tier[], schedules: readonly (readonly OverrideTier[])[]): Tier[] {
  const bounds = ascending([...boundsOf(tiers), ...schedules.flatMap(boundsOf)]);
  const starts = [ZERO, ...bounds];
  return starts.map((start, index) => {
    const end = bounds[index] ?? null;
    return {
      size: end === null ? null : end.minus(start),
      price: tierAfter(tiers, start).price.times(smallestAt(schedules, start)),
    };
  });
}

/** The smallest multiplier for the units just above `quantity`. */
function smallestAt(schedules: readonly (readonly OverrideTier[])[], quantity: Decimal): Decimal {
  return schedules
    .map((tiers) => tierAfter(tiers, quantity).multiplier)
    .reduce((smallest, multiplier) => (multiplier.lt(smallest) ? multiplier : smallest));
}

/** The tier of the units just above `quantity`: its lower bound is at or below, its upper bound above. */
function tierAfter<T extends { readonly size: Decimal | null }>(tiers: readonly T[], quantity: Decimal): T {
  let bound = ZERO;
  for (const tier of tiers) {
    if (tier.size === null) return tier;
    bound = bound.plus(tier.size);
    if (quantity.lt(bound)) return tier;
  }
  throw new Error('the last tier has no size');
}

/** Upper bounds of the sized tiers. */
function boundsOf(tiers: readonly { readonly size: Decimal | null }[]): Decimal[] {
  const bounds: Decimal[] = [];
  let bound = ZERO;
  for (const { size } of tiers) {
    if (size === null) break;
    bound = bound.plus(size);
    bounds.push(bound);
  }
  return bounds;
}

function ascending(bounds: readonly Decimal[]): Decimal[] {
  const sorted = [...bounds].sort((a, b) => a.cmp(b));
  return sorted.filter((bound, index) => index === 0 || !bound.eq(sorted[index - 1] ?? ZERO));
}
