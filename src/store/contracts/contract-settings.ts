/** Thresholds, spend trackers and usage filters of contracts. */
import { and, asc, eq, gt, inArray, isNull, or } from 'drizzle-orm';
import { groupBy } from '../../core/group-by.ts';
import type { UsageFilter } from '../../core/terms/contract.ts';
import { paymentGate } from '../../core/terms/payment-gate.ts';
import {
  type PrepaidBalanceThreshold,
  prepaidBalanceThreshold,
  type SpendThreshold,
  type SpendTracker,
  spendTracker,
  type ThresholdDiscount,
} from '../../core/terms/thresholds.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { allOrNone, applicabilityFromColumns, applicabilityToColumns } from './applicability.ts';
import { prepaidBalanceThresholds, spendThresholds, spendTrackers } from './contract-settings.tables.ts';
import { contracts, contractUsageFilters } from './contracts.tables.ts';

/** Sets the contract's threshold, replacing an existing one; null removes it. */
export async function putSpendThreshold(
  tx: Transaction,
  contractId: string,
  threshold: SpendThreshold | null,
): Promise<void> {
  await tx.delete(spendThresholds).where(eq(spendThresholds.contractId, contractId));
  if (threshold !== null) {
    await tx.insert(spendThresholds).values({ contractId, ...thresholdToColumns(threshold) });
  }
}

export async function loadSpendThresholds(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, SpendThreshold>> {
  if (contractIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(spendThresholds)
    .where(isOneOf(spendThresholds.contractId, contractIds));
  return new Map(rows.map((row) => [row.contractId, thresholdFromColumns(row)]));
}

/** Sets the contract's threshold, replacing an existing one; null removes it. */
export async function putPrepaidBalanceThreshold(
  tx: Transaction,
  contractId: string,
  threshold: PrepaidBalanceThreshold | null,
): Promise<void> {
  await tx.delete(prepaidBalanceThresholds).where(eq(prepaidBalanceThresholds.contractId, contractId));
  if (threshold === null) return;
  const { rechargeToAmount, customCreditTypeId, balanceSpecifiers, countHolds, commit } = threshold;
  await tx.insert(prepaidBalanceThresholds).values({
    contractId,
    ...thresholdToColumns(threshold),
    ...applicabilityToColumns(commit.applicability),
    rechargeToAmount,
    customCreditTypeId,
    balanceSpecifiers,
    countHolds,
  });
}

const { balanceSpecifiers: balanceSpecifiersColumn } = prepaidBalanceThreshold.unwrap().shape;

export async function loadPrepaidBalanceThresholds(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, PrepaidBalanceThreshold>> {
  if (contractIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(prepaidBalanceThresholds)
    .where(isOneOf(prepaidBalanceThresholds.contractId, contractIds));
  return new Map(
    rows.map((row) => {
      const common = thresholdFromColumns(row);
      const { rechargeToAmount, customCreditTypeId, countHolds } = row;
      return [
        row.contractId,
        {
          ...common,
          commit: { ...common.commit, applicability: applicabilityFromColumns(row) },
          rechargeToAmount,
          customCreditTypeId,
          countHolds,
          balanceSpecifiers: balanceSpecifiersColumn.parse(row.balanceSpecifiers),
        },
      ];
    }),
  );
}

type ThresholdRow = typeof spendThresholds.$inferSelect;

function thresholdToColumns(from: Omit<SpendThreshold, 'commit'> & Pick<SpendThreshold, 'commit'>) {
  return {
    isEnabled: from.isEnabled,
    thresholdAmount: from.thresholdAmount,
    commitProductId: from.commit.productId,
    commitName: from.commit.name,
    commitDescription: from.commit.description,
    commitPriority: from.commit.priority,
    paymentGate: from.paymentGate,
    discountPaymentFraction: from.discount?.paymentFraction ?? null,
    discountCapTrackerAlias: from.discount?.cap?.spendTrackerAlias ?? null,
    discountCapAmount: from.discount?.cap?.amount ?? null,
  };
}

function thresholdFromColumns(row: ThresholdRow): SpendThreshold {
  return {
    isEnabled: row.isEnabled,
    thresholdAmount: row.thresholdAmount,
    commit: {
      productId: row.commitProductId,
      name: row.commitName,
      description: row.commitDescription,
      priority: row.commitPriority,
    },
    paymentGate: paymentGate.parse(row.paymentGate),
    discount: discountOf(row),
  };
}

function discountOf(row: ThresholdRow): ThresholdDiscount | null {
  const { discountPaymentFraction, discountCapTrackerAlias, discountCapAmount } = row;
  if (discountPaymentFraction === null) return null;
  return {
    paymentFraction: discountPaymentFraction,
    cap: allOrNone({ spendTrackerAlias: discountCapTrackerAlias, amount: discountCapAmount }),
  };
}

/** Adds trackers. A second tracker with an alias in use violates `spend_trackers_alias_unique`. */
export async function insertSpendTrackers(
  tx: Transaction,
  contractId: string,
  added: readonly SpendTracker[],
): Promise<void> {
  if (added.length === 0) return;
  await tx
    .insert(spendTrackers)
    .values(
      added.map(({ alias, creditTypeId, specifiers }) => ({ contractId, alias, creditTypeId, specifiers })),
    );
}

/** Archives the trackers with these aliases; the aliases are free again. */
export async function archiveSpendTrackers(
  tx: Transaction,
  contractId: string,
  aliases: readonly string[],
  at: Instant,
): Promise<void> {
  if (aliases.length === 0) return;
  await tx
    .update(spendTrackers)
    .set({ archivedAt: at })
    .where(
      and(
        eq(spendTrackers.contractId, contractId),
        inArray(spendTrackers.alias, [...aliases]),
        isNull(spendTrackers.archivedAt),
      ),
    );
}

const { specifiers: trackerSpecifiersColumn } = spendTracker.unwrap().shape;

/** The trackers of each contract that are not archived, in the order of addition. */
export async function loadSpendTrackers(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, SpendTracker[]>> {
  if (contractIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(spendTrackers)
    .where(and(isOneOf(spendTrackers.contractId, contractIds), isNull(spendTrackers.archivedAt)))
    .orderBy(asc(spendTrackers.sequence));
  const trackers = new Map<string, SpendTracker[]>();
  for (const [contractId, group] of groupBy(rows, (row) => row.contractId)) {
    trackers.set(
      contractId,
      group.map(({ alias, creditTypeId, specifiers }) => ({
        alias,
        creditTypeId,
        resetFrequency: 'BILLING_PERIOD',
        specifiers: trackerSpecifiersColumn.parse(specifiers),
      })),
    );
  }
  return trackers;
}

export async function insertUsageFilters(
  tx: Transaction,
  contractId: string,
  added: readonly UsageFilter[],
): Promise<void> {
  if (added.length === 0) return;
  await tx
    .insert(contractUsageFilters)
    .values(added.map((filter) => ({ ...filter, groupValues: [...filter.groupValues], contractId })));
}

/** Contracts on the cards that have usage filters and bill usage after `at`, by id. */
export async function filteredContracts(
  db: Database | Transaction,
  rateCardIds: readonly string[],
  at: Instant,
): Promise<
  { readonly id: string; readonly rateCardId: string | null; readonly endingBefore: Instant | null }[]
> {
  if (rateCardIds.length === 0) return [];
  return db
    .selectDistinct({
      id: contracts.id,
      rateCardId: contracts.rateCardId,
      endingBefore: contracts.endingBefore,
    })
    .from(contracts)
    .innerJoin(contractUsageFilters, eq(contractUsageFilters.contractId, contracts.id))
    .where(
      and(
        inArray(contracts.rateCardId, [...rateCardIds]),
        isNull(contracts.archivedAt),
        or(isNull(contracts.endingBefore), gt(contracts.endingBefore, at)),
      ),
    )
    .orderBy(asc(contracts.id));
}

/** The filters of each contract by start; of two filters with the same start only the one added last. */
export async function loadUsageFilters(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, UsageFilter[]>> {
  if (contractIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(contractUsageFilters)
    .where(inArray(contractUsageFilters.contractId, [...contractIds]))
    .orderBy(asc(contractUsageFilters.startingAt), asc(contractUsageFilters.sequence));
  const filters = new Map<string, UsageFilter[]>();
  for (const [contractId, group] of groupBy(rows, (row) => row.contractId)) {
    const byStart = new Map(
      group.map(({ groupKey, groupValues, startingAt }) => [
        startingAt,
        { groupKey, groupValues, startingAt },
      ]),
    );
    filters.set(contractId, [...byStart.values()]);
  }
  return filters;
}
