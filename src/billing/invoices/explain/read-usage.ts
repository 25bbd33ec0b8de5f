/** Reads the usage of some line keys of an invoice, and the number of its events. */
import { eachInChunks } from '../../../core/in-chunks.ts';
import type { StreamingMetric } from '../../../core/metric.ts';
import type { UsageSeries } from '../../../core/usage-series.ts';
import type { MeteredSeries } from '../../../metering/query/usage-series.ts';
import type { UsageSource } from '../../../metering/usage/usage-source.ts';
import { groupValuesKey } from '../../../rating/quantities/group-values.ts';
import { needKey, usageNeeds } from '../../../rating/quantities/product-spans.ts';
import type { MeteredUsage, UsageNeed } from '../../../rating/quantities/usage-need.ts';
import { cardOf, type InvoiceContext, termsOf, type UsageTarget } from '../terms/invoice-context.ts';
import { seriesRequest } from '../usage/usage-answers.ts';
import { readIfFits } from '../usage/usage-reading.ts';
import { readSlices } from '../usage/usage-slices.ts';

export interface ExplainedSeries {
  readonly usage: readonly MeteredUsage[];
  /** The number of matching events, for the same needs and keys. */
  readonly events: readonly MeteredUsage[];
}

export interface AskedUsage {
  readonly target: UsageTarget;
  readonly context: InvoiceContext;
  /** Products whose usage is needed. */
  readonly productIds: ReadonlySet<string>;
  /** `groupValuesKey` of the pricing and presentation values together. */
  readonly keys: ReadonlySet<string>;
  readonly ingestedUpTo: string;
}

/** Maximum values of one need in memory; beyond, they are read in slices. */
const VALUES_MAX = 1_000_000;

export async function readExplainedUsage(
  usageSource: UsageSource,
  asked: AskedUsage,
): Promise<ExplainedSeries> {
  const { target, context, productIds } = asked;
  const { usageFilters } = termsOf(context, target.contract);
  const products = cardOf(context, target.contract).products.filter(({ product }) =>
    productIds.has(product.id),
  );
  const needs = new Map(
    products
      .flatMap(({ product }) => usageNeeds(product, target.period, usageFilters))
      .map((need) => [needKey(need), need]),
  );
  const usage: MeteredUsage[] = [];
  const events: MeteredUsage[] = [];
  for (const need of needs.values()) {
    const own = await readNeed(usageSource, need, asked);
    usage.push(own);
    events.push(await countEvents(usageSource, own, asked));
  }
  return { usage, events };
}

async function readNeed(
  usageSource: UsageSource,
  need: UsageNeed,
  { target, context, keys, ingestedUpTo }: AskedUsage,
): Promise<MeteredUsage> {
  const owner = ownerOf(target, context);
  const request = seriesRequest(context, { need, period: target.period }, [owner], ingestedUpTo);
  const all = await readIfFits(usageSource, { ...request, rowsMax: VALUES_MAX });
  if (all !== null) return { ...need, series: await seriesOfKeys(all.values(), keys) };
  const series: UsageSeries[] = [];
  for await (const answers of readSlices(usageSource, [{ need, request }])) {
    const found = answers.map(({ answer }) => answer);
    series.push(...(await seriesOfKeys(found, keys)));
  }
  return { ...need, series };
}

/** Other work runs between parts of many. */
async function seriesOfKeys(
  answers: Iterable<MeteredSeries>,
  keys: ReadonlySet<string>,
): Promise<UsageSeries[]> {
  const found: UsageSeries[] = [];
  for (const { series } of answers) {
    await eachInChunks(series, (one) => {
      if (keys.has(groupValuesKey(one.groupValues))) found.push(one);
    });
  }
  return found;
}

/** For a SQL metric, all events of the customer that it reads; which of them count depends on its text. */
async function countEvents(
  usageSource: UsageSource,
  usage: MeteredUsage,
  { target, context, keys, ingestedUpTo }: AskedUsage,
): Promise<MeteredUsage> {
  const { series: _, ...need } = usage;
  const owner = ownerOf(target, context);
  const request = seriesRequest(context, { need, period: target.period }, [owner], ingestedUpTo);
  const isStreaming = request.metric.kind === 'streaming';
  const counting = isStreaming
    ? { ...request, countsEvents: true }
    : { ...request, metric: anyEvent(request.metric.id), groupBy: [], countsEvents: true };
  const found = await readIfFits(usageSource, { ...counting, rowsMax: VALUES_MAX });
  const counted = [...(found?.values() ?? [])];
  if (isStreaming) return { ...need, series: await seriesOfKeys(counted, keys) };
  const steps = counted.flatMap(({ series }) => series)[0]?.steps ?? [];
  return { ...need, series: usage.series.map(({ groupValues }) => ({ groupValues, steps })) };
}

function ownerOf({ contract }: UsageTarget, context: InvoiceContext) {
  return { customerId: contract.customerId, refs: termsOf(context, contract).customerRefs };
}

function anyEvent(id: string): StreamingMetric {
  return {
    kind: 'streaming',
    id,
    name: 'events',
    eventTypeFilter: null,
    propertyFilters: [],
    aggregation: 'COUNT',
    aggregationKey: null,
    groupKeys: [],
    archivedAt: null,
  };
}
