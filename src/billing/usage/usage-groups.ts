/**
 * Usage of one customer and one metric in windows, optionally by group (docs/explanation/metering.md, "Usage").
 * Every window is aggregated separately, independent of contracts, prices and entitlements.
 */
import type { Decimal } from '../../core/decimal.ts';
import { invalid, notFound, words } from '../../core/errors.ts';
import type { BillableMetric } from '../../core/metric.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { UsageGroupCursor } from '../../metering/query/group-cursor.ts';
import type { UsageGroupRow } from '../../metering/query/usage-groups.ts';
import type { UsageWindowSize } from '../../metering/query/usage-windows.ts';
import { type EvaluationCost, evaluationCost } from '../../metering/sql/run/evaluation-cost.ts';
import { groupKeyProblem } from '../../metering/usage/metric-usage.ts';
import { periodContaining } from '../../rating/periods/billing-periods.ts';
import type { Database } from '../../store/base/database.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import { customerRefs } from '../../store/customers/customers.ts';
import { findMetric } from '../../store/metrics/billable-metrics.ts';
import type { BillingContext, RowContext } from '../billing-context.ts';
import { checkDefinition, type MetricDefinition } from '../metrics/metric-definition.ts';
import { checkUsageRange } from './usage-range.ts';

/** The options of a request and the start of its next page, for readers of requests. */
export { usageGroupCursor } from '../../metering/query/group-cursor.ts';
export { USAGE_WINDOW_SIZES } from '../../metering/query/usage-windows.ts';

/** The fields as the client sent them; null if it sent none. */
export interface UsageGroupsInput extends PageRequest<UsageGroupCursor> {
  readonly customerId: string;
  readonly billableMetricId: string;
  readonly windowSize: UsageWindowSize;
  readonly startingOn: Instant | null;
  readonly endingBefore: Instant | null;
  readonly currentPeriod: boolean;
  readonly groupKey: readonly string[] | null;
  readonly groupFilters: Readonly<Record<string, readonly string[]>> | null;
  /** Deprecated: one simple group key with its values. */
  readonly groupBy: { readonly key: string; readonly values: readonly string[] } | null;
}

export type UsageGroups = Page<UsageGroupView, UsageGroupCursor>;

export interface UsageGroupView {
  readonly window: Interval;
  /** Null without a group key; a value is null for events that lack the property. */
  readonly group: Readonly<Record<string, string | null>> | null;
  /** The name and value of a simple group key; null for compound ones and without any. */
  readonly single: { readonly key: string; readonly value: string | null } | null;
  readonly value: Decimal | null;
}

interface Grouping {
  readonly key: readonly string[] | null;
  readonly filters: Readonly<Record<string, readonly string[]>>;
}

/** Refuses an unknown customer or metric (`not_found`) and fields that contradict each other (`invalid`). */
export async function usageGroups(context: BillingContext, input: UsageGroupsInput): Promise<UsageGroups> {
  const { customerId, billableMetricId } = input;
  const grouping = checkFields(input);
  const [refs, metric] = await Promise.all([
    refsOf(context.db, customerId),
    findMetric(context.db, billableMetricId),
  ]);
  if (refs === null) throw notFound('customer', customerId);
  if (metric === null) throw notFound('billable metric', billableMetricId);
  const { page } = await measure(context, input, { grouping, refs, metric });
  return page;
}

/** The facts that a preview states besides the usage; null for a streaming metric. */
export interface PreviewedUsage extends UsageGroups {
  readonly evaluation: (EvaluationCost & { readonly milliseconds: number }) | null;
}

/**
 * Previews `usageGroups` for a metric that is not stored. Refuses the same as `usageGroups`, an invalid definition, and
 * a query that exceeds the time limit of analyses. It runs with the limits of analysts' queries and does not delay
 * other work.
 */
export async function previewUsage(
  context: BillingContext,
  definition: MetricDefinition,
  input: Omit<UsageGroupsInput, 'billableMetricId'>,
): Promise<PreviewedUsage> {
  // Queries of SQL metrics are analyses wherever they are read for the usage API.
  const usageSource = definition.kind === 'sql' ? context.usageSource : context.usageSource.forAnalysis();
  const grouping = checkFields(input);
  const refs = await refsOf(context.db, input.customerId);
  if (refs === null) throw notFound('customer', input.customerId);
  await checkDefinition(context.clickhouse, definition);
  const metric = { ...definition, id: '', name: 'preview', archivedAt: null };
  const { page, range, milliseconds } = await measure({ ...context, usageSource }, input, {
    grouping,
    refs,
    metric,
  });
  if (definition.kind !== 'sql') return { ...page, evaluation: null };
  const cost = await evaluationCost(context.clickhouse, definition.sql, refs, range);
  return { ...page, evaluation: { ...cost, milliseconds } };
}

interface Measured {
  readonly page: UsageGroups;
  readonly range: Interval;
  /** How long the evaluation took. */
  readonly milliseconds: number;
}

type MeasureInput = Omit<UsageGroupsInput, 'billableMetricId'>;

/** The measured metric, and the grouping of its rows. */
interface Subject {
  readonly grouping: Grouping;
  readonly refs: readonly string[];
  readonly metric: BillableMetric;
}

/** Refuses (`invalid`) fields that contradict each other, before anything is read. */
function checkFields(input: MeasureInput): Grouping {
  const grouping = groupingOf(input);
  checkRange(input);
  return grouping;
}

/** Null for an unknown customer. */
async function refsOf(db: Database, customerId: string): Promise<readonly string[] | null> {
  return (await customerRefs(db, [customerId])).get(customerId) ?? null;
}

async function measure(
  context: BillingContext,
  input: MeasureInput,
  { grouping, refs, metric }: Subject,
): Promise<Measured> {
  await checkDeclared(metric, grouping.key, input);
  const range = await rangeOf(context, input);
  const begun = performance.now();
  const { rows, next } = await context.usageSource.groups({
    metric,
    refs,
    range,
    windowSize: input.windowSize,
    groupKey: grouping.key,
    groupFilters: grouping.filters,
    limit: input.limit,
    cursor: input.after,
  });
  const milliseconds = Math.round(performance.now() - begun);
  return { page: { rows: rows.map((row) => viewOf(row, grouping.key)), next }, range, milliseconds };
}

function groupingOf({ groupKey, groupFilters, groupBy }: MeasureInput): Grouping {
  if (groupBy !== null) {
    if (groupKey !== null) throw invalid(['groupBy'], words`cannot be combined with ${['groupKey']}`);
    if (groupFilters !== null) throw invalid(['groupBy'], words`cannot be combined with ${['groupFilters']}`);
    return { key: [groupBy.key], filters: { [groupBy.key]: groupBy.values } };
  }
  for (const [index, name] of (groupKey ?? []).entries()) {
    if (groupKey?.indexOf(name) !== index) throw invalid(['groupKey', index], `repeats ${name}`);
  }
  for (const name of Object.keys(groupFilters ?? {})) {
    if (!groupKey?.includes(name))
      throw invalid(['groupFilters', name], words`must be one of the ${['groupKey']} names`);
  }
  return { key: groupKey, filters: groupFilters ?? {} };
}

/** The whole of a declared group key has to be named; the order does not matter. */
async function checkDeclared(
  metric: BillableMetric,
  key: Grouping['key'],
  input: MeasureInput,
): Promise<void> {
  if (key === null) return;
  const problem = await groupKeyProblem(metric, key);
  if (problem !== null) throw invalid(input.groupBy === null ? ['groupKey'] : ['groupBy', 'key'], problem);
}

function checkRange({ startingOn, endingBefore, currentPeriod, windowSize }: MeasureInput): void {
  if (currentPeriod) {
    if (startingOn !== null || endingBefore !== null) {
      throw invalid(
        ['currentPeriod'],
        words`cannot be combined with ${['startingOn']} and ${['endingBefore']}`,
      );
    }
    return;
  }
  if (startingOn === null)
    throw invalid(['startingOn'], words`is required unless ${['currentPeriod']} is true`);
  if (endingBefore === null)
    throw invalid(['endingBefore'], words`is required unless ${['currentPeriod']} is true`);
  checkUsageRange(windowSize, { start: startingOn, end: endingBefore });
}

async function rangeOf(context: BillingContext, input: MeasureInput): Promise<Interval> {
  const { startingOn, endingBefore, customerId } = input;
  if (startingOn !== null && endingBefore !== null) return { start: startingOn, end: endingBefore };
  return currentUsagePeriod(context, customerId);
}

function viewOf(row: UsageGroupRow, key: Grouping['key']): UsageGroupView {
  const [name, ...others] = key ?? [];
  const isSimple = name !== undefined && others.length === 0;
  return {
    window: { start: row.startingOn, end: row.endingBefore },
    group: key === null ? null : row.group,
    single: isSimple ? { key: name, value: row.group[name] ?? null } : null,
    value: row.value,
  };
}

/**
 * The current usage period of the customer's contracts. Refuses (`invalid`) a customer without an active contract, and
 * one whose contracts are in different periods.
 */
async function currentUsagePeriod(context: RowContext, customerId: string): Promise<Interval> {
  const now = context.clock.now();
  const contracts = await loadContracts(context.db, { customerIds: [customerId], coveringDate: now });
  const periods = contracts.flatMap((contract) => {
    const { statementSchedule: schedule, startingAt: start, endingBefore: end } = contract;
    return periodContaining({ schedule, contract: { start, end } }, now) ?? [];
  });
  const [period] = periods;
  if (period === undefined) {
    throw invalid(['currentPeriod'], `customer ${customerId} has no contract in force`);
  }
  if (periods.some(({ start, end }) => start !== period.start || end !== period.end)) {
    throw invalid(
      ['currentPeriod'],
      words`the contracts of customer ${customerId} are in different billing periods: give ${['startingOn']} and ${['endingBefore']}`,
    );
  }
  return period;
}
