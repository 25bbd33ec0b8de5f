/** The events of the usage lines of one invoice: how much those with the same values contribute, hour by hour. */
import { eachInChunks, groupInChunks } from '../../../core/in-chunks.ts';
import type { InvoiceLine, LineWindow, UsageInvoiceLine } from '../../../core/invoice.ts';
import { contains, type Interval } from '../../../core/time.ts';
import type { UsageSource } from '../../../metering/usage/usage-source.ts';
import type { Weight, WeightsOf } from '../../../rating/invoices/spend-shares.ts';
import { groupValuesKey } from '../../../rating/quantities/group-values.ts';
import { counterRuns, needKey, type SettingsSpan } from '../../../rating/quantities/product-spans.ts';
import type { UsageNeed } from '../../../rating/quantities/usage-need.ts';
import { cardOf, type InvoiceContext, termsOf, type UsageTarget } from '../terms/invoice-context.ts';
import { seriesRequest } from './usage-answers.ts';

/** The input that an invoice was computed from. */
export interface InvoiceUsageSource {
  readonly target: UsageTarget;
  readonly context: InvoiceContext;
  /** Events that were ingested later do not count: epoch microseconds; null: all count. */
  readonly ingestedUpTo: string | null;
}

/** Reads the contributions to the hours of the lines: one query for each metric and grouping. */
export async function usageWeights(
  usageSource: UsageSource,
  source: InvoiceUsageSource,
  { lines, hours }: { readonly lines: readonly InvoiceLine[]; readonly hours: readonly LineWindow[] },
  properties: readonly string[],
): Promise<WeightsOf> {
  const needOf = needsOfLines(source);
  const needs = new Map<string, UsageNeed>();
  const within = { start: Number.POSITIVE_INFINITY, end: Number.NEGATIVE_INFINITY };
  await eachInChunks(hours, ({ position, window }) => {
    within.start = Math.min(within.start, window.start);
    within.end = Math.max(within.end, window.end);
    const line = lines[position];
    if (line?.type !== 'usage' || line.productType !== 'USAGE') return;
    const need = needOf(line, window);
    if (need !== null) needs.set(needKey(need), need);
  });
  const weights = new Map<string, Weight[]>();
  for (const [key, need] of needs) {
    const found = await contributionsTo(usageSource, source, need, within, properties);
    const own = await groupInChunks(found, ({ groupValues, at }) => placeOf(key, groupValues, at));
    for (const [place, some] of own) weights.set(place, some);
  }
  return (line, hour) => {
    const need = needOf(line, hour);
    const values = { ...line.pricingGroupValues, ...line.presentationGroupValues };
    return need === null ? [] : (weights.get(placeOf(needKey(need), values, hour.end)) ?? []);
  };
}

function placeOf(key: string, groupValues: Readonly<Record<string, string>>, at: number): string {
  return `${key} ${groupValuesKey(groupValues)} ${at}`;
}

async function contributionsTo(
  usageSource: UsageSource,
  { target, context, ingestedUpTo }: InvoiceUsageSource,
  need: UsageNeed,
  within: Interval,
  properties: readonly string[],
) {
  const { customerId } = target.contract;
  const customer = { customerId, refs: termsOf(context, target.contract).customerRefs };
  const { customers: _, ...request } = seriesRequest(
    context,
    { need, period: target.period },
    [customer],
    ingestedUpTo ?? '0',
  );
  return usageSource.contributions({ ...request, customer, ingestedUpTo, within, properties });
}

/** The usage that a line counts in an hour; null if its product has none then. */
function needsOfLines({ target, context }: InvoiceUsageSource) {
  const { usageFilters } = termsOf(context, target.contract);
  const products = new Map(
    cardOf(context, target.contract).products.map(({ product }) => [product.id, product]),
  );
  const spans = new Map<string, readonly SettingsSpan[]>();
  const spansOf = (productId: string) => {
    const product = products.get(productId);
    const known = spans.get(productId);
    if (known !== undefined || product === undefined) return known ?? [];
    const own = counterRuns(product, target.period, usageFilters).flatMap((run) => run.spans);
    spans.set(productId, own);
    return own;
  };
  return ({ productId }: UsageInvoiceLine, hour: Interval): UsageNeed | null =>
    spansOf(productId).find(({ interval }) => contains(interval, hour.start))?.need ?? null;
}
