/** Counts one event that is in memory, by the rules of usage queries. */
import { type Decimal, ONE, parseUsageDecimal } from '../../core/decimal.ts';
import type { Aggregation, BillableMetric, StreamingMetric } from '../../core/metric.ts';
import { mismatchReason, propertiesToMatch } from '../../metering/events/match-event.ts';
import { leadsInto } from '../../metering/events/nested-properties.ts';
import type { StoredEvent } from '../../metering/events/stored-event.ts';
import type { Growth } from '../../rating/holds/charged-slot.ts';
import type { HeldEvent } from '../../rating/holds/family-view.ts';
import type { CountedUsage, MatchNeed } from '../../rating/holds/price-event.ts';
import type { UsageNeed } from '../../rating/quantities/usage-need.ts';

/** How much is asked about, beside what the properties of an event say. */
export interface AskedQuantity {
  readonly quantity: Decimal;
  /** Only where the event has no value to count. */
  readonly isDefault: boolean;
}

interface AheadCount {
  readonly growth: Growth;
  /** The quantity of one event: 1, or the number in the property of the aggregation key. */
  readonly counts: 'events' | 'values';
  /** Whether the event may count less when it is billed. */
  readonly isEstimate: boolean;
}

/** How each aggregation counts an event ahead. Null: what the event will add is not known ahead. */
const AHEAD: Readonly<Record<Aggregation, AheadCount | null>> = {
  COUNT: { growth: 'sum', counts: 'events', isEstimate: false },
  SUM: { growth: 'sum', counts: 'values', isEstimate: false },
  MAX: { growth: 'maximum', counts: 'values', isEstimate: false },
  // A value counts as if nobody had used it: then it costs most.
  UNIQUE: { growth: 'sum', counts: 'events', isEstimate: true },
  // The latest value may be any.
  LATEST: null,
};

/** Whether usage of the metric may be counted too high ahead. */
export function isEstimated(metric: BillableMetric | undefined): boolean {
  return metric?.kind === 'streaming' && AHEAD[metric.aggregation]?.isEstimate === true;
}

/** SQL metrics look at all events, and the latest value may be any: neither is known ahead. */
export function matcherOf(
  event: HeldEvent,
  metrics: ReadonlyMap<string, BillableMetric>,
  asked: AskedQuantity | null = null,
): MatchNeed {
  return (need) => {
    const metric = metrics.get(need.billableMetricId);
    if (metric === undefined || metric.kind !== 'streaming') return 'not_priceable';
    return countOf(asked === null ? event : withQuantity(event, metric, asked), metric, need, asked);
  };
}

/** Converts a quantity into usage of any metric; `properties` supply the group values. */
export function usageOf(
  { properties }: Pick<HeldEvent, 'properties'>,
  metrics: ReadonlyMap<string, BillableMetric>,
  quantity: Decimal,
): MatchNeed {
  return ({ billableMetricId, groupKeys, usageFilter }) => {
    const metric = metrics.get(billableMetricId);
    const ahead = metric?.kind === 'streaming' ? AHEAD[metric.aggregation] : null;
    if (ahead === null) return 'not_priceable';
    const filtered = usageFilter === null ? undefined : properties.get(usageFilter.property);
    if (filtered !== undefined && !usageFilter?.values.includes(filtered)) return null;
    const groupValues = groupValuesOf(properties, groupKeys);
    if (groupValues === null) return 'not_priceable';
    return { growth: ahead.growth, value: quantity, groupValues };
  };
}

function withQuantity(
  event: HeldEvent,
  { aggregation, aggregationKey }: StreamingMetric,
  { quantity, isDefault }: AskedQuantity,
): HeldEvent {
  if (AHEAD[aggregation]?.counts !== 'values' || aggregationKey === null) return event;
  if (isDefault && event.properties.has(aggregationKey)) return event;
  return { ...event, properties: new Map([...event.properties, [aggregationKey, quantity.toFixed()]]) };
}

/** Null where one is missing. */
function groupValuesOf(
  properties: HeldEvent['properties'],
  groupKeys: readonly string[],
): CountedUsage['groupValues'] | null {
  const groups = groupKeys.map((name) => [name, properties.get(name)] as const);
  if (groups.some(([, value]) => value === undefined)) return null;
  return Object.fromEntries(groups.map(([name, value]) => [name, value ?? '']));
}

function countOf(
  event: HeldEvent,
  metric: StreamingMetric,
  need: UsageNeed,
  asked: AskedQuantity | null,
): CountedUsage | 'not_priceable' | null {
  const { inValues = null, notInValues = null } = metric.eventTypeFilter ?? {};
  if (inValues !== null && !inValues.includes(event.eventType)) return null;
  if (notInValues?.includes(event.eventType)) return null;
  const names = [...propertiesToMatch(metric), ...need.groupKeys, need.usageFilter?.property ?? ''];
  // Only ClickHouse reads into nested values.
  if (names.some((name) => leadsInto(event, name))) return 'not_priceable';
  const nowhere = { transactionId: '', customerRef: '', receivedAt: 0, ingestedAt: '0', tick: '' };
  const stored: StoredEvent = { ...event, ...nowhere };
  if (mismatchReason(metric, stored, ({ properties }, name) => properties.get(name) ?? null) !== null)
    return null;
  const { usageFilter } = need;
  if (usageFilter !== null && !usageFilter.values.includes(event.properties.get(usageFilter.property) ?? ''))
    return null;
  const groupValues = groupValuesOf(event.properties, need.groupKeys);
  return groupValues === null ? null : amountOf(event, metric, groupValues, asked?.quantity ?? ONE);
}

function amountOf(
  { properties }: HeldEvent,
  { aggregation, aggregationKey }: StreamingMetric,
  groupValues: CountedUsage['groupValues'],
  count: Decimal,
): CountedUsage | 'not_priceable' | null {
  const ahead = AHEAD[aggregation];
  if (ahead === null) return 'not_priceable';
  const { growth, counts } = ahead;
  const value = counts === 'events' ? count : parseUsageDecimal(properties.get(aggregationKey ?? '') ?? '');
  return value === null ? null : { growth, value, groupValues };
}
