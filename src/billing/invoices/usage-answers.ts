/**
 * Reads the metered usage of any number of invoices, with one query per metric, grouping and period for all
 * customers together.
 */

import { assert, Refusal } from '../../core/errors.ts';
import { groupBy as groupItems } from '../../core/group-by.ts';
import type { BilledPeriod } from '../../core/invoice.ts';
import type { BillableMetric } from '../../core/metric.ts';
import type { UsageSeries } from '../../core/usage-series.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { readMetricSeries } from '../../metering/metric-usage.ts';
import type { UsageOwner } from '../../metering/query/series-sql.ts';
import { readBatchWatermark } from '../../metering/query/usage-batch.ts';
import type { UsageNeed } from '../../rating/types.ts';
import { needKey } from '../../rating/usage/product-spans.ts';
import { type InvoiceContext, needsOf, termsOf, type UsageTarget } from './invoice-context.ts';

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

type SeriesByCustomer = ReadonlyMap<string, readonly UsageSeries[]>;

export interface UsageAnswers {
  /** No event counts that was ingested later: epoch microseconds. */
  readonly ingestedUpTo: string;
  /** Undefined where nobody asked. */
  seriesOf(question: UsageQuestion): readonly UsageSeries[] | undefined;
}

export async function readUsageAnswers(
  clickhouse: ClickHouse,
  targets: readonly UsageTarget[],
  context: InvoiceContext,
): Promise<UsageAnswers> {
  const questions = targets.flatMap((target) => {
    const { contract, period } = target;
    const { customerId } = contract;
    const { customerRefs: refs } = termsOf(context, contract);
    return needsOf(context, target).map((need) => ({ need, period, customerId, refs }));
  });
  const ingestedUpTo = await momentOf(clickhouse, questions);
  const answers = [...groupItems(questions, questionKey)].map(async ([key, group]) => {
    return [key, await askOnce(clickhouse, group, context, ingestedUpTo)] as const;
  });
  const byQuestion = new Map(await Promise.all(answers));
  return {
    ingestedUpTo,
    seriesOf: (question) => byQuestion.get(questionKey(question))?.get(question.customerId),
  };
}

/** Ingestion time of the last event that any of the questions can count. All questions count up to it. */
async function momentOf(clickhouse: ClickHouse, questions: readonly Question[]): Promise<string> {
  const refs = [...new Set(questions.flatMap((question) => question.refs))];
  if (refs.length === 0) return '0';
  const start = Math.min(...questions.map(({ period }) => period.countedFrom));
  const end = Math.max(...questions.map(({ period }) => period.end));
  return readBatchWatermark(clickhouse, refs, { start, end });
}

function questionKey({ need, period }: UsageQuestion): string {
  return `${needKey(need)}@${period.countedFrom}-${period.end}`;
}

/** Questions that differ in the customer only. */
function askOnce(
  clickhouse: ClickHouse,
  group: readonly Question[],
  context: InvoiceContext,
  ingestedUpTo: string,
): Promise<SeriesByCustomer> {
  const [first] = group;
  assert(first !== undefined, 'a group has a member');
  const metric = context.metrics.get(first.need.billableMetricId);
  assert(metric !== undefined, `metric ${first.need.billableMetricId} of a product exists`);
  const owners = new Map(group.map(({ customerId, refs }) => [customerId, { customerId, refs }]));
  return readSeries(clickhouse, { metric, question: first, ingestedUpTo }, [...owners.values()]);
}

interface AskedSeries {
  readonly metric: BillableMetric;
  readonly question: Question;
  readonly ingestedUpTo: string;
}

/** If one answer would exceed the limit of values, the customers are split into halves. */
async function readSeries(
  clickhouse: ClickHouse,
  asked: AskedSeries,
  customers: readonly UsageOwner[],
): Promise<SeriesByCustomer> {
  const { metric, question, ingestedUpTo } = asked;
  const { evaluatedAt, usageFilter, groupKeys: groupBy } = question.need;
  const period = { start: question.period.countedFrom, end: question.period.end };
  try {
    const request = { metric, customers, period, evaluatedAt, usageFilter, groupBy, ingestedUpTo };
    return await readMetricSeries(clickhouse, request);
  } catch (error) {
    const isTooLarge = error instanceof Refusal && error.kind === 'too_large';
    if (!isTooLarge || customers.length === 1) throw error;
    const half = Math.ceil(customers.length / 2);
    const first = await readSeries(clickhouse, asked, customers.slice(0, half));
    const second = await readSeries(clickhouse, asked, customers.slice(half));
    return new Map([...first, ...second]);
  }
}
