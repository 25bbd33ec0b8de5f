/**
 * Reads the usage that invoices need from metering: several metrics of the same customers in one statement, and with
 * too many values as many customers as fit.
 */

import { assert, Refusal } from '../../../core/errors.ts';
import { groupBy } from '../../../core/group-by.ts';
import type { MeteredSeries } from '../../../metering/query/usage-series.ts';
import {
  canShareReading,
  type MetricSeriesRequest,
  type PackedUsage,
} from '../../../metering/usage/metric-usage.ts';
import type { UsageSource } from '../../../metering/usage/usage-source.ts';
import { mapConcurrently } from '../../../runtime/concurrently.ts';

/** Null for customers with too many values. */
export type UsageByCustomer = ReadonlyMap<string, PackedUsage | null>;

/** More than a lane has connections; the others do not fill the queue of the lane. */
const STATEMENTS_AT_ONCE = 20;

/** A statement checks each event against each of its metrics. */
const METRICS_TOGETHER_MAX = 4;

/**
 * Maximum number of metrics of one customer that are read side by side: each statement finds its events fast, and they
 * use several cores. The planning of more statements takes longer than the events of a small customer.
 */
const SIDE_BY_SIDE_MAX = 8;
const METRICS_OF_ONE_TOGETHER_MAX = 25;

/** The usage of each request. */
export async function readThatFit<Key>(
  usageSource: UsageSource,
  requests: ReadonlyMap<Key, MetricSeriesRequest>,
): Promise<Map<Key, UsageByCustomer>> {
  const bundles = groupBy(requests, ([key, request]) => sharedKey(request) ?? key);
  const statements = [...bundles.values()].flatMap(parts);
  const read = await mapConcurrently(statements, STATEMENTS_AT_ONCE, async (bundle) => {
    const usage = await readTogether(
      usageSource,
      bundle.map(([, request]) => request),
    );
    return bundle.map(([key], index) => {
      const own = usage[index];
      assert(own !== undefined, 'every request is read');
      return [key, own] as const;
    });
  });
  return new Map(read.flat());
}

/** The key of requests that one statement can read together; null for a request that is read by itself. */
function sharedKey({ metric, customers, groupBy: names, ...rest }: MetricSeriesRequest): string | null {
  const { period, usageFilter, ingestedUpTo, slice = null, countsEvents = false } = rest;
  if (slice !== null || countsEvents || !canShareReading(metric)) return null;
  if (customers.every(({ refs }) => refs.length === 0)) return null;
  return JSON.stringify([names, usageFilter, period, ingestedUpTo, customers]);
}

function parts<Key>(bundle: readonly [Key, MetricSeriesRequest][]): [Key, MetricSeriesRequest][][] {
  const most = togetherMax(bundle);
  const count = Math.ceil(bundle.length / most);
  return Array.from({ length: count }, (_, index) => bundle.slice(index * most, (index + 1) * most));
}

function togetherMax(bundle: readonly [unknown, MetricSeriesRequest][]): number {
  const isOfOne = bundle.every(([, { customers }]) => customers.length === 1);
  if (!isOfOne) return METRICS_TOGETHER_MAX;
  return bundle.length > SIDE_BY_SIDE_MAX ? METRICS_OF_ONE_TOGETHER_MAX : 1;
}

/** Usage that is too much for one statement is read metric by metric. */
async function readTogether(
  usageSource: UsageSource,
  requests: readonly MetricSeriesRequest[],
): Promise<readonly UsageByCustomer[]> {
  const [first] = requests;
  assert(first !== undefined, 'a bundle has a request');
  if (requests.length > 1) {
    const metrics = requests.map(({ metric }) => metric).filter(canShareReading);
    const shared = await ifFits(() => usageSource.sharedSeries({ ...first, metrics }));
    if (shared !== null) return shared;
  }
  return await mapConcurrently(requests, requests.length, (request) => readAlone(usageSource, request));
}

/** If the customers have too many values together, those with the fewest are read, and the others are null. */
async function readAlone(usageSource: UsageSource, request: MetricSeriesRequest): Promise<UsageByCustomer> {
  const { customers, rowsMax } = request;
  const read = (own: MetricSeriesRequest) => ifFits(() => usageSource.series(own));
  const all = await read(request);
  if (all !== null) return all;
  const none = new Map(customers.map(({ customerId }) => [customerId, null]));
  if (customers.length === 1) return none;
  const counts = await usageSource.countValues(request);
  if (counts === null) return await readEach(usageSource, request);
  let total = 0;
  const fitting = customers
    .map((customer) => ({ customer, count: counts.get(customer.customerId) ?? 0 }))
    .sort((a, b) => a.count - b.count)
    .filter(({ count }) => {
      total += count;
      return total <= rowsMax;
    })
    .map(({ customer }) => customer);
  const found = await read({ ...request, customers: fitting });
  return new Map([...none, ...(found ?? [])]);
}

/** SQL metrics are evaluated customer by customer anyway. */
async function readEach(usageSource: UsageSource, request: MetricSeriesRequest): Promise<UsageByCustomer> {
  const rowsMax = Math.ceil(request.rowsMax / request.customers.length);
  const result = new Map<string, PackedUsage | null>();
  for (const customer of request.customers) {
    const own = await ifFits(() => usageSource.series({ ...request, customers: [customer], rowsMax }));
    result.set(customer.customerId, own?.get(customer.customerId) ?? null);
  }
  return result;
}

/** Null if there are too many values. */
export async function readIfFits(
  usageSource: UsageSource,
  request: MetricSeriesRequest,
): Promise<Map<string, MeteredSeries> | null> {
  const packed = await ifFits(() => usageSource.series(request));
  return packed === null ? null : new Map([...packed].map(([id, one]) => [id, one.unpack()]));
}

async function ifFits<Usage>(read: () => Promise<Usage>): Promise<Usage | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'too_large') return null;
    throw error;
  }
}
