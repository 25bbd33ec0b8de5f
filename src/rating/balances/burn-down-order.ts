/**
 * The order in which balances are drawn down (docs/explanation/drawdown.md, "Burn-down order"). Pure.
 *
 * A balance is one access segment of a commit or credit. Two balances are compared criterion by criterion, and
 * the first that differs decides. The last criteria are ids, so that the order is total.
 */
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import type { BurnDownCriterion } from '../../core/invoice-balances.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { AccessSegment } from '../../core/terms/schedules.ts';
import type { Instant } from '../../core/time.ts';
import { compareText } from '../quantities/group-values.ts';
import { carriesAll, isExcluded } from '../quantities/specifiers.ts';

/** Classes in the order in which they are drawn down. */
const BALANCE_CLASSES = ['ROLLED_OVER_POSTPAID', 'ROLLED_OVER', 'PREPAID_OR_CREDIT', 'POSTPAID'] as const;
export type BalanceClass = (typeof BALANCE_CLASSES)[number];

/** An access segment with all criteria of its place in the order. */
export interface RankedBalance {
  readonly commitId: string;
  readonly segmentId: string;
  readonly balanceClass: BalanceClass;
  /** A lower priority is drawn down first. */
  readonly priority: Decimal;
  /** Whether the balance was free of charge. */
  readonly isFree: boolean;
  /** The number of products that it can pay for; infinite without a limit. */
  readonly productCount: number;
  /** The number of its specifiers with group values and no product; infinite if there is none. */
  readonly usageSpecifierCount: number;
  readonly startingAt: Instant;
  /** The end of its access: the end of the segment, or of the contract if that is earlier. */
  readonly endingBefore: Instant;
  /** The number of contracts it applies to; infinite if it applies to all contracts of its customer. */
  readonly contractCount: number;
  readonly isOfContract: boolean;
  readonly createdAt: Instant;
}

type Compare = (a: RankedBalance, b: RankedBalance) => number;

const COMPARE: Readonly<Record<BurnDownCriterion, Compare>> = {
  CLASS: (a, b) => BALANCE_CLASSES.indexOf(a.balanceClass) - BALANCE_CLASSES.indexOf(b.balanceClass),
  PRIORITY: (a, b) => a.priority.cmp(b.priority),
  COST_BASIS: (a, b) => Number(b.isFree) - Number(a.isFree),
  PRODUCT_APPLICABILITY: (a, b) => compareNumbers(a.productCount, b.productCount),
  USAGE_APPLICABILITY: (a, b) => compareNumbers(a.usageSpecifierCount, b.usageSpecifierCount),
  ACCESS_END: (a, b) => a.endingBefore - b.endingBefore,
  ACCESS_START: (a, b) => a.startingAt - b.startingAt,
  CONTRACT_COUNT: (a, b) => compareNumbers(a.contractCount, b.contractCount),
  CONTRACT_LEVEL: (a, b) => Number(b.isOfContract) - Number(a.isOfContract),
  CREATED_AT: (a, b) => a.createdAt - b.createdAt,
  ID: (a, b) => compareText(a.commitId, b.commitId) || compareText(a.segmentId, b.segmentId),
};

const APPLICABILITY = ['PRODUCT_APPLICABILITY', 'USAGE_APPLICABILITY'] as const;
const SCOPE = ['ACCESS_END', 'ACCESS_START', 'CONTRACT_COUNT', 'CONTRACT_LEVEL'] as const;
const TIES = ['CREATED_AT', 'ID'] as const;

const ROLLED_OVER: readonly BurnDownCriterion[] = ['PRIORITY', ...APPLICABILITY, 'ACCESS_END', ...TIES];

/** The criteria between balances of one class. */
const CRITERIA: Readonly<Record<BalanceClass, readonly BurnDownCriterion[]>> = {
  ROLLED_OVER_POSTPAID: ROLLED_OVER,
  ROLLED_OVER,
  PREPAID_OR_CREDIT: ['PRIORITY', 'COST_BASIS', ...APPLICABILITY, ...SCOPE, ...TIES],
  POSTPAID: ['PRIORITY', ...APPLICABILITY, ...SCOPE, ...TIES],
};

/** Negative if `a` is drawn down before `b`. 0 only for the same segment of the same commit. */
export function compareBalances(a: RankedBalance, b: RankedBalance): number {
  const criterion = decidingCriterion(a, b);
  return criterion === null ? 0 : COMPARE[criterion](a, b);
}

/** The first criterion in which they differ; null for a balance and itself. */
export function decidingCriterion(a: RankedBalance, b: RankedBalance): BurnDownCriterion | null {
  // The shares of seats in one segment share one rank object.
  if (a === b) return null;
  if (a.balanceClass !== b.balanceClass) return 'CLASS';
  return CRITERIA[a.balanceClass].find((criterion) => COMPARE[criterion](a, b) !== 0) ?? null;
}

/** Facts besides its own terms that decide the place of a balance. */
export interface RankingContext {
  /** The end of the contract that the commit belongs to; null without an end, and for commits of a customer. */
  readonly contractEnd: Instant | null;
  /**
   * The current tags of products that are not archived, by id: all products with a tag that the commit names or
   * excludes.
   */
  readonly productTags: ReadonlyMap<string, readonly string[]>;
}

/** The balance of `segment`, one of the segments of `commit`. */
export function rankedBalance(
  commit: Commit,
  segment: AccessSegment,
  { contractEnd, productTags }: RankingContext,
): RankedBalance {
  return {
    commitId: commit.id,
    segmentId: segment.id,
    balanceClass: classOf(commit),
    priority: commit.priority,
    isFree: isFree(commit),
    productCount: productCount(commit, productTags),
    usageSpecifierCount: usageSpecifierCount(commit),
    startingAt: segment.startingAt,
    endingBefore: Math.min(segment.endingBefore, contractEnd ?? segment.endingBefore),
    contractCount: contractCount(commit),
    isOfContract: commit.contractId !== null,
    createdAt: commit.createdAt,
  };
}

function classOf({ type, rolledOverFrom }: Commit): BalanceClass {
  if (rolledOverFrom !== null) return type === 'POSTPAID' ? 'ROLLED_OVER_POSTPAID' : 'ROLLED_OVER';
  return type === 'POSTPAID' ? 'POSTPAID' : 'PREPAID_OR_CREDIT';
}

/** True if the cost basis is 0, whatever the units of the amounts are. */
function isFree({ invoiceSchedule }: Commit): boolean {
  return sum((invoiceSchedule?.items ?? []).map((item) => item.amount)).eq(ZERO);
}

/** Distinct products named by id or by tag. A specifier with group values alone has no limit. */
function productCount({ applicability }: Commit, tagsOf: RankingContext['productTags']): number {
  const { productIds, productTags, specifiers } = applicability;
  const isUnlimited = productIds.length === 0 && productTags.length === 0 && specifiers.length === 0;
  if (isUnlimited || specifiers.some((one) => one.productId === null && one.productTags.length === 0)) {
    return Number.POSITIVE_INFINITY;
  }
  const found = new Set(productIds);
  for (const [id, tags] of tagsOf) if (productTags.some((tag) => tags.includes(tag))) found.add(id);
  for (const specifier of specifiers) for (const id of productsOf(specifier, tagsOf)) found.add(id);
  return found.size;
}

function productsOf(
  { productId, productTags, exclude }: Commit['applicability']['specifiers'][number],
  tagsOf: RankingContext['productTags'],
): string[] {
  const candidates = productId === null ? [...tagsOf.keys()] : [productId];
  return candidates.filter((id) => {
    const tags = tagsOf.get(id) ?? [];
    return carriesAll(tags, productTags) && !isExcluded(exclude, tags);
  });
}

function usageSpecifierCount({ applicability }: Commit): number {
  const ofGroups = applicability.specifiers.filter(
    ({ productId, pricingGroupValues, presentationGroupValues }) =>
      productId === null && Object.keys({ ...pricingGroupValues, ...presentationGroupValues }).length > 0,
  );
  return ofGroups.length === 0 ? Number.POSITIVE_INFINITY : ofGroups.length;
}

function contractCount({ contractId, applicableContractIds }: Commit): number {
  if (contractId !== null) return 1;
  return applicableContractIds.length === 0 ? Number.POSITIVE_INFINITY : new Set(applicableContractIds).size;
}

/** Equal infinite numbers compare as equal. */
function compareNumbers(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
