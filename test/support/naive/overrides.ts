/** Overrides of a contract, by scoring every candidate for one unit: the best score wins. */
import type { Rate } from '../../../src/core/catalogue.ts';
import type { Override } from '../../../src/core/terms/overrides.ts';
import type { Instant } from '../../../src/core/time.ts';
import { hundredths } from './numbers.ts';
import { type NaivePrice, naiveListPrice, tierOfUnit } from './rates.ts';

/** The usage that is priced. */
export interface NaiveSubject {
  readonly productId: string;
  readonly productTags: readonly string[];
  readonly pricingGroupValues: Readonly<Record<string, string>>;
  readonly presentationGroupValues: Readonly<Record<string, string>>;
  readonly billingFrequency: string | null;
  /** The commit or credit that pays. */
  readonly payer: {
    readonly id: string;
    readonly recurringId: string | null;
    readonly usesCommitRate: boolean;
  } | null;
}

export interface NaiveOverridden extends NaivePrice {
  /** Null: the unit of the list rate. */
  readonly creditTypeId: string | null;
}

/** Those that concern the subject at `at`, in the order in which they were added. */
export function naiveApplicable(overrides: readonly Override[], who: NaiveSubject, at: Instant): Override[] {
  return overrides.filter((one) => applies(one, who, at));
}

/** The entitlement by the last override that states one, else that of the card. */
export function naiveEntitlement(applicable: readonly Override[], onCard: boolean): boolean {
  let entitled = onCard;
  for (const one of applicable) entitled = one.entitled ?? entitled;
  return entitled;
}

/**
 * The price of unit number `unit` under the applicable overrides; null where none changes it. Without a list
 * rate only an OVERWRITE has a price to give.
 */
export function naiveOverriddenPrice(
  applicable: readonly Override[],
  isExplicit: boolean,
  who: NaiveSubject,
  list: Rate | null,
  unit: number,
): NaiveOverridden | null {
  const wanted = who.payer?.usesCommitRate ? 'COMMIT_RATE' : 'LIST_RATE';
  let best: Override | null = null;
  let bestScore: number[] = [];
  for (const one of applicable) {
    if (one.type === null || one.target !== wanted) continue;
    if (list === null && one.type !== 'OVERWRITE') continue;
    const score = scoreOf(one, isExplicit, unit);
    // The later of two equal ones wins.
    if (best === null || !isSmaller(bestScore, score)) [best, bestScore] = [one, score];
  }
  if (best === null) return null;
  if (best.overwriteRate !== null) {
    const { rate, creditTypeId } = best.overwriteRate;
    return { ...naiveListPrice(rate, unit), creditTypeId };
  }
  if (list === null) return null;
  const winner = best;
  const elected = applicable.filter((one) => stands(one, winner, isExplicit, wanted));
  const { price } = naiveListPrice(list, unit);
  return {
    price: (price / 100) * multiplierOf(winner, unit),
    level: levelOf(list, elected, unit),
    isVolume: [list, ...elected].some((one) => 'tiersMode' in one && one.tiersMode === 'volume'),
    creditTypeId: null,
  };
}

/** Smaller is better: commit-specific ones, OVERWRITE, priority, multiplier. */
function scoreOf(one: Override, isExplicit: boolean, unit: number): number[] {
  const isOverwrite = one.type === 'OVERWRITE';
  return [
    one.isCommitSpecific ? 0 : 1,
    isOverwrite ? 0 : 1,
    isOverwrite || !isExplicit ? 0 : hundredths(one.priority ?? '0'),
    isOverwrite ? 0 : multiplierOf(one, unit),
  ];
}

function isSmaller(a: readonly number[], b: readonly number[]): boolean {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? 0;
    if (part !== other) return part < other;
  }
  return false;
}

/** In hundredths. After the last tier of an override the list price holds. */
function multiplierOf(one: Override, unit: number): number {
  if (one.type === 'MULTIPLIER') return hundredths(one.multiplier ?? '1');
  return hundredths(tierOfUnit(one.tiers, unit).tier?.multiplier ?? '1');
}

/** Multipliers of the winner's class: their bounds cut the tiers, even where they lose. */
function stands(one: Override, winner: Override, isExplicit: boolean, wanted: Override['target']): boolean {
  return (
    (one.type === 'MULTIPLIER' || one.type === 'TIERED') &&
    one.target === wanted &&
    one.isCommitSpecific === winner.isCommitSpecific &&
    (!isExplicit || hundredths(one.priority ?? '0') === hundredths(winner.priority ?? '0'))
  );
}

/** 1 and one more for every bound below the unit; 0 for a flat price that nothing cuts. */
function levelOf(list: Rate, elected: readonly Override[], unit: number): number {
  const tierLists = [...('tiers' in list ? [list.tiers] : []), ...elected.map(({ tiers }) => tiers)];
  const bounds = new Set<number>();
  for (const tiers of tierLists) {
    let bound = 0;
    for (const { size } of tiers) {
      if (size === null) break;
      bound += hundredths(size);
      bounds.add(bound);
    }
  }
  if (!('tiers' in list) && bounds.size === 0) return 0;
  return 1 + [...bounds].filter((bound) => bound < unit).length;
}

function applies(one: Override, who: NaiveSubject, at: Instant): boolean {
  if (at < one.startingAt) return false;
  if (one.endingBefore !== null && at >= one.endingBefore) return false;
  if (one.isCommitSpecific && who.payer === null) return false;
  if (one.productId !== null && one.productId !== who.productId) return false;
  const tags = new Set(who.productTags);
  if (one.applicableProductTags.length > 0 && !one.applicableProductTags.some((tag) => tags.has(tag)))
    return false;
  if (one.specifiers.length === 0) return true;
  for (const specifier of one.specifiers) {
    if (specifier.productId !== null && specifier.productId !== who.productId) continue;
    if (!specifier.productTags.every((tag) => tags.has(tag))) continue;
    if (specifier.exclude.some(({ productTags }) => productTags.every((tag) => tags.has(tag)))) continue;
    if (!hasAll(who.pricingGroupValues, specifier.pricingGroupValues)) continue;
    if (!hasAll(who.presentationGroupValues, specifier.presentationGroupValues)) continue;
    if (specifier.billingFrequency !== null && specifier.billingFrequency !== who.billingFrequency) continue;
    if (namesPayer(specifier, who.payer)) return true;
  }
  return false;
}

function hasAll(values: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  for (const [name, value] of Object.entries(wanted)) if (values[name] !== value) return false;
  return true;
}

function namesPayer(specifier: Override['specifiers'][number], payer: NaiveSubject['payer']): boolean {
  const { commitIds, recurringCommitIds, anyCommitOrCreditIds } = specifier;
  if (commitIds.length + recurringCommitIds.length + anyCommitOrCreditIds.length === 0) return true;
  if (payer === null) return false;
  if (commitIds.includes(payer.id) || anyCommitOrCreditIds.includes(payer.id)) return true;
  if (payer.recurringId === null) return false;
  return [...recurringCommitIds, ...anyCommitOrCreditIds].includes(payer.recurringId);
}
