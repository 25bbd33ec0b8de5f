/**
 * Compares the usage that an invoice is rated from with the usage API: V at the end of the period, which is built from
 * the values of hours, against one aggregate over the whole period. They are two queries with nothing in common but
 * the choice of events.
 */
import type { Decimal } from '../../../core/decimal.ts';
import { afterOtherWork, eachInChunks } from '../../../core/in-chunks.ts';
import type { InvoiceLine } from '../../../core/invoice.ts';
import type { UsageGroupCursor } from '../../../metering/query/group-cursor.ts';
import type { UsageSource } from '../../../metering/usage/usage-source.ts';
import { groupValuesKey } from '../../../rating/quantities/group-values.ts';
import { needKey } from '../../../rating/quantities/product-spans.ts';
import type { UsageNeed } from '../../../rating/quantities/usage-need.ts';
import { type InvoiceContext, needsOf, termsOf, type UsageTarget } from '../terms/invoice-context.ts';
import type { UsageAnswers } from '../usage/usage-answers.ts';
import { type Difference, differencesOf } from './difference.ts';

interface Compared {
  readonly id: string;
  readonly contractId: string;
  readonly lines: readonly InvoiceLine[];
}

/**
 * Streaming metrics only: a SQL metric is one query in both places. A usage filter on a property that the lines are
 * not grouped by has no counterpart in the usage API.
 */
export async function checkUsage(
  usageSource: UsageSource,
  invoice: Compared,
  target: UsageTarget,
  context: InvoiceContext,
  usage: UsageAnswers,
): Promise<Difference[]> {
  const needs = new Map(needsOf(context, target).map((need) => [needKey(need), need]));
  const found: Difference[] = [];
  for (const need of needs.values()) {
    const { customerId } = target.contract;
    const answer = usage.answerOf({ need, period: target.period, customerId });
    // Undefined without usage, null with more values than are compared in memory.
    if (answer === null || answer === undefined) continue;
    const rated = new Map(
      answer.series.map(({ groupValues, steps }) => [groupValuesKey(groupValues), steps.at(-1)?.value]),
    );
    const whole = await wholeValues(usageSource, need, target, context, usage.ingestedUpTo);
    await afterOtherWork();
    if (whole !== null) found.push(...differing(invoice, need, rated, whole, context));
  }
  return found;
}

function differing(
  invoice: Compared,
  need: UsageNeed,
  rated: ReadonlyMap<string, Decimal | undefined>,
  whole: ReadonlyMap<string, Decimal>,
  { metrics }: InvoiceContext,
): Difference[] {
  const difference = differencesOf(invoice);
  const name = metrics.get(need.billableMetricId)?.name ?? need.billableMetricId;
  return [...new Set([...rated.keys(), ...whole.keys()])].flatMap((key) => {
    const [found = null, expected = null] = [rated.get(key), whole.get(key)];
    if (found !== null && expected !== null && found.eq(expected)) return [];
    const message = `${JSON.stringify(name)} ${key} is rated with another value than the usage API has`;
    return [difference('usage', message, { field: 'value', expected, found })];
  });
}

const ROWS_PER_PAGE = 10_000;

/** The value of the whole period by group values; null if the usage API cannot answer for it. */
async function wholeValues(
  usageSource: UsageSource,
  { billableMetricId, groupKeys, usageFilter }: UsageNeed,
  { contract, period }: UsageTarget,
  context: InvoiceContext,
  ingestedUpTo: string,
): Promise<Map<string, Decimal> | null> {
  const metric = context.metrics.get(billableMetricId);
  if (metric?.kind !== 'streaming') return null;
  if (usageFilter !== null && !groupKeys.includes(usageFilter.property)) return null;
  const values = new Map<string, Decimal>();
  let cursor: UsageGroupCursor | null = null;
  do {
    const page = await usageSource.groups({
      metric,
      refs: termsOf(context, contract).customerRefs,
      range: { start: period.countedFrom, end: period.end },
      windowSize: 'NONE',
      groupKey: groupKeys.length === 0 ? null : groupKeys,
      groupFilters: usageFilter === null ? {} : { [usageFilter.property]: usageFilter.values },
      limit: ROWS_PER_PAGE,
      cursor,
      ingestedUpTo,
    });
    await eachInChunks(page.rows, ({ group, value }) => {
      const entries = Object.entries(group).flatMap(([key, text]) => (text === null ? [] : [[key, text]]));
      // Events that lack a property belong to no line.
      if (value !== null && entries.length === groupKeys.length)
        values.set(groupValuesKey(Object.fromEntries(entries)), value);
    });
    cursor = page.next;
  } while (cursor !== null);
  return values;
}
