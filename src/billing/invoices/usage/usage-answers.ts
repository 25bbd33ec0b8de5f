/**
 * Reads the metered usage of any number of invoices, with one request per metric, grouping and period for all
 * customers together. Usage with more values than are held in memory is not read here, but by `usage-slices.ts`.
 */

import { assert } from '../../../core/errors.ts';
import { groupBy as groupItems } from '../../../core/group-by.ts';
import type { BilledPeriod } from '../../../core/invoice.ts';
import { countByMemory } from '../../../core/process-memory.ts';
import type { UsageOwner } from '../../../metering/query/series-sql.ts';
import type { MeteredSeries } from '../../../metering/query/usage-series.ts';
import type { MetricSeriesRequest } from '../../../metering/usage/metric-usage.ts';
import type { UsageSource } from '../../../metering/usage/usage-source.ts';
import { needKey } from '../../../rating/quantities/product-spans.ts';
import type { UsageNeed } from '../../../rating/quantities/usage-need.ts';
import { countMemory } from '../../../runtime/answer-memory.ts';
import type { UsageRoom } from '../../billing-context.ts';
import { type InvoiceContext, needsOf, termsOf, type UsageTarget } from '../terms/invoice-context.ts';
import { readThatFit, type UsageByCustomer } from './usage-reading.ts';

/** The moment of the last event if there is none. */
export const NO_EVENT = '0';

interface UsageQuestion {
  readonly need: UsageNeed;
  /** V is read from the start of the counters to the end of the billed period. */
  readonly period: Pick<BilledPeriod, 'countedFrom' | 'end'>;
  readonly customerId: string;
}

interface Question extends UsageQuestion {
  /** The names under which the customer's events come. */
  readonly refs: readonly string[];
}

export interface UsageAnswers {
  /** Events that were ingested later do not count: epoch microseconds. */
  readonly ingestedUpTo: string;
  /** How much of the room for values is taken, of all or of a question's share; above 1: there were too many. */
  readonly fullness: number;
  /** Null if there are too many values to be read at once. Undefined if the question was not asked. */
  answerOf(question: UsageQuestion): MeteredSeries | null | undefined;
}

/** The memory of a value of usage, with the lines that are rated from it. */
const VALUE_BYTES = 200;

const VALUES_MAX = countByMemory(8_192, { least: 50_000, most: 1_000_000 });
const VALUES_OF_QUESTION_MIN = 50_000;

/** `countedUpTo`: later events do not count, in epoch microseconds; null for the last stored event. */
export async function readUsageAnswers(
  usageSource: UsageSource,
  targets: readonly UsageTarget[],
  context: InvoiceContext,
  countedUpTo: string | null = null,
  { valuesMax = VALUES_MAX, valuesOfQuestionMin = VALUES_OF_QUESTION_MIN }: UsageRoom = {},
): Promise<UsageAnswers> {
  const questions = targets.flatMap((target) => {
    const { contract, period } = target;
    const { customerId } = contract;
    const { customerRefs: refs } = termsOf(context, contract);
    return needsOrNone(context, target).map((need) => ({ need, period, customerId, refs }));
  });
  const ingestedUpTo = countedUpTo ?? (await momentOf(usageSource, questions));
  const groups = [...groupItems(questions, questionKey)];
  const share = Math.max(valuesOfQuestionMin, Math.floor(valuesMax / Math.max(1, groups.length)));
  const requests = groups.map(([key, group]) => {
    return [key, requestOf(group, context, { ingestedUpTo, rowsMax: share })] as const;
  });
  const byQuestion = await readThatFit(usageSource, new Map(requests));
  countMemory(heldValues(byQuestion) * VALUE_BYTES);
  const counts = [...byQuestion.values()].map(valueCount);
  return {
    ingestedUpTo,
    fullness: counts.reduce(
      (fullest, count) => Math.max(fullest, count / share),
      counts.reduce((total, count) => total + count, 0) / valuesMax,
    ),
    answerOf: unpackedAnswers(byQuestion),
  };
}

/**
 * Unpacks the requested answers. The answers of one customer at a time are cached, because invoices are rated one after
 * the other.
 */
function unpackedAnswers(byQuestion: ReadonlyMap<string, UsageByCustomer>): UsageAnswers['answerOf'] {
  let ownerId = '';
  let own = new Map<string, MeteredSeries>();
  return (question) => {
    const { customerId } = question;
    const key = questionKey(question);
    const packed = byQuestion.get(key)?.get(customerId);
    if (packed === null || packed === undefined) return packed;
    if (customerId !== ownerId) {
      ownerId = customerId;
      own = new Map();
    }
    const answer = own.get(key) ?? packed.unpack();
    own.set(key, answer);
    return answer;
  };
}

/** Values of the customers that have not too many. */
function heldValues(byQuestion: ReadonlyMap<string, UsageByCustomer>): number {
  let count = 0;
  for (const usage of byQuestion.values()) {
    for (const packed of usage.values()) count += packed?.valueCount ?? 0;
  }
  return count;
}

/** Infinity if there are too many. */
function valueCount(usage: UsageByCustomer): number {
  let count = 0;
  for (const packed of usage.values()) count += packed?.valueCount ?? Number.POSITIVE_INFINITY;
  return count;
}

/** Terms that cannot be rated fail when their invoice is rated, not here, where others are read too. */
function needsOrNone(context: InvoiceContext, target: UsageTarget): UsageNeed[] {
  try {
    return needsOf(context, target);
  } catch {
    return [];
  }
}

/** Ingestion time of the last event that any of the questions can count. All questions count up to it. */
async function momentOf(usageSource: UsageSource, questions: readonly Question[]): Promise<string> {
  const refs = [...new Set(questions.flatMap((question) => question.refs))];
  if (refs.length === 0) return NO_EVENT;
  const start = Math.min(...questions.map(({ period }) => period.countedFrom));
  const end = Math.max(...questions.map(({ period }) => period.end));
  return usageSource.lastIngested(refs, { start, end });
}

function questionKey({ need, period }: UsageQuestion): string {
  return `${needKey(need)}@${period.countedFrom}-${period.end}`;
}

/** One request for the questions of a group, which differ in the customer only. */
function requestOf(
  group: readonly Question[],
  context: InvoiceContext,
  { ingestedUpTo, rowsMax }: Pick<UsageAnswers, 'ingestedUpTo'> & Pick<MetricSeriesRequest, 'rowsMax'>,
): MetricSeriesRequest {
  const [first] = group;
  assert(first !== undefined, 'a group has a member');
  const owners = new Map(group.map(({ customerId, refs }) => [customerId, { customerId, refs }]));
  return { ...seriesRequest(context, first, [...owners.values()], ingestedUpTo), rowsMax };
}

/** The request to metering for the usage of some customers. */
export function seriesRequest(
  context: InvoiceContext,
  { need, period }: Omit<UsageQuestion, 'customerId'>,
  customers: readonly UsageOwner[],
  ingestedUpTo: string,
): Omit<MetricSeriesRequest, 'rowsMax'> {
  const metric = context.metrics.get(need.billableMetricId);
  assert(metric !== undefined, `metric ${need.billableMetricId} of a product exists`);
  return {
    metric,
    customers,
    period: { start: period.countedFrom, end: period.end },
    evaluatedAt: need.evaluatedAt,
    usageFilter: need.usageFilter,
    groupBy: need.groupKeys,
    ingestedUpTo,
  };
}
