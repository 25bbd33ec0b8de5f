/**
 * Which overrides apply to a price, at any time. An override applies if one of its targets does; overrides with equal
 * conditions share one group, and groups are indexed by the values in their condition.
 */
import type { BillingFrequency } from '../../core/catalogue.ts';
import type { Override, OverrideSpecifier } from '../../core/terms/overrides.ts';
import { type GroupValues, sortedKeys } from '../quantities/group-values.ts';
import { meetsSpecifier } from '../quantities/specifiers.ts';
import type { PlacedOverride } from './override-lanes.ts';

/** A commit or credit that pays for the usage in question. */
export interface PayingBalance {
  /** The commit or credit itself. */
  readonly id: string;
  /** The recurring commit or credit that created it. */
  readonly recurringId: string | null;
  /** True if the balance pays at commit rates and the product has one. */
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

/** The conditions of one target; all must hold. Null or empty: no condition. */
type TargetCondition = OverrideSpecifier;

/** Overrides with the same condition, in the order of addition. */
export interface TargetGroup {
  readonly condition: TargetCondition;
  /** Holds only for usage that a commit or credit pays for. */
  readonly isCommitSpecific: boolean;
  readonly members: readonly PlacedOverride[];
}

/** Finds the groups whose condition a subject meets. An override with several targets may be in several groups. */
export interface TargetIndex<Group extends TargetGroup> {
  readonly byFeature: ReadonlyMap<string, readonly Group[]>;
  /** Groups whose condition is empty. */
  readonly unconditional: readonly Group[];
}

/** The groups of `overrides`, which are in the order of addition. Yields after each override. */
export function* targetGroups(overrides: readonly Override[]): Generator<void, TargetGroup[], undefined> {
  const groups = new Map<string, TargetGroup & { readonly members: PlacedOverride[] }>();
  for (const [position, override] of overrides.entries()) {
    const { isCommitSpecific } = override;
    for (const condition of conditionsOf(override)) {
      const key = `${isCommitSpecific} ${conditionKey(condition)}`;
      const group = groups.get(key);
      if (group === undefined)
        groups.set(key, { condition, isCommitSpecific, members: [{ override, position }] });
      else group.members.push({ override, position });
    }
    yield;
  }
  return [...groups.values()];
}

/**
 * Files each group under the rarest feature of its condition, so that a lookup tests few others. Yields after each
 * group.
 */
export function* targetIndex<Group extends TargetGroup>(
  groups: readonly Group[],
): Generator<void, TargetIndex<Group>, undefined> {
  const features: string[][] = [];
  const counts = new Map<string, number>();
  for (const { condition } of groups) {
    const named = featuresOf(condition);
    features.push(named);
    for (const feature of named) counts.set(feature, (counts.get(feature) ?? 0) + 1);
    yield;
  }
  const rarer = (a: string, b: string) => ((counts.get(b) ?? 0) < (counts.get(a) ?? 0) ? b : a);
  const byFeature = new Map<string, Group[]>();
  const unconditional: Group[] = [];
  for (const [index, group] of groups.entries()) {
    const [first, ...others] = features[index] ?? [];
    const rarest = first === undefined ? undefined : others.reduce(rarer, first);
    const filed = rarest === undefined ? unconditional : byFeature.get(rarest);
    if (filed !== undefined) filed.push(group);
    else if (rarest !== undefined) byFeature.set(rarest, [group]);
    yield;
  }
  return { byFeature, unconditional };
}

export function groupsOf<Group extends TargetGroup>(
  { byFeature, unconditional }: TargetIndex<Group>,
  subject: PricedSubject,
): Group[] {
  const { productId, productTags, pricingGroupValues, presentationGroupValues } = subject;
  const features = featuresOf({ productId, productTags, pricingGroupValues, presentationGroupValues });
  return [...unconditional, ...features.flatMap((feature) => byFeature.get(feature) ?? [])].filter(
    (group) => (!group.isCommitSpecific || subject.payer !== null) && meets(group.condition, subject),
  );
}

/** The condition of an override for everything. */
export const NO_CONDITION: OverrideSpecifier = {
  productId: null,
  productTags: [],
  pricingGroupValues: {},
  presentationGroupValues: {},
  exclude: [],
  billingFrequency: null,
  commitIds: [],
  recurringCommitIds: [],
  anyCommitOrCreditIds: [],
};

/** An override without a target applies to everything. */
function conditionsOf({
  productId,
  applicableProductTags,
  specifiers,
}: Override): readonly TargetCondition[] {
  if (productId !== null) return [{ ...NO_CONDITION, productId }];
  if (applicableProductTags.length > 0) {
    return applicableProductTags.map((tag) => ({ ...NO_CONDITION, productTags: [tag] }));
  }
  return specifiers.length === 0 ? [NO_CONDITION] : specifiers;
}

/**
 * One text per condition. Built by hand, because a contract may have thousands; every text in it is preceded by its
 * length, so that different conditions have different keys.
 */
function conditionKey(condition: TargetCondition): string {
  let key = `${condition.productId} ${condition.billingFrequency}`;
  for (const list of [
    condition.productTags,
    condition.commitIds,
    condition.recurringCommitIds,
    condition.anyCommitOrCreditIds,
    ...condition.exclude.map(({ productTags }) => productTags),
  ]) {
    key += ' ,';
    for (const name of list.length < 2 ? list : sortedKeys(list)) key += `${name.length}:${name}`;
  }
  for (const values of [condition.pricingGroupValues, condition.presentationGroupValues]) {
    key += ' ;';
    const names = Object.keys(values);
    for (const name of names.length < 2 ? names : names.sort()) {
      const value = values[name] ?? '';
      key += `${name.length}:${name}${value.length}:${value}`;
    }
  }
  return key;
}

/** The values that a condition names, and the values of a subject. */
function featuresOf(
  named: Pick<
    TargetCondition,
    'productId' | 'productTags' | 'pricingGroupValues' | 'presentationGroupValues'
  >,
): string[] {
  const {
    productId,
    productTags,
    pricingGroupValues: pricing,
    presentationGroupValues: presentation,
  } = named;
  const features = productId === null ? [] : [`product ${productId}`];
  for (const tag of productTags) features.push(`tag ${tag}`);
  for (const name of Object.keys(pricing)) features.push(`pricing ${name} ${pricing[name]}`);
  for (const name of Object.keys(presentation)) features.push(`presentation ${name} ${presentation[name]}`);
  return features;
}

function meets(condition: TargetCondition, subject: PricedSubject): boolean {
  return (
    meetsSpecifier(condition, subject) &&
    (condition.billingFrequency === null || condition.billingFrequency === subject.billingFrequency) &&
    namesPayer(condition, subject.payer)
  );
}

function namesPayer(condition: TargetCondition, payer: PayingBalance | null): boolean {
  const { commitIds, recurringCommitIds, anyCommitOrCreditIds } = condition;
  if (commitIds.length + recurringCommitIds.length + anyCommitOrCreditIds.length === 0) return true;
  if (payer === null) return false;
  const own = payer.recurringId === null ? [payer.id] : [payer.id, payer.recurringId];
  return (
    commitIds.includes(payer.id) ||
    (payer.recurringId !== null && recurringCommitIds.includes(payer.recurringId)) ||
    anyCommitOrCreditIds.some((id) => own.includes(id))
  );
}
