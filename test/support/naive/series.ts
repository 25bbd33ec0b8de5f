/** Usage over a billing period, hour by hour, from a list of events. */
import type { StreamingMetric } from '../../../src/core/metric.ts';
import { HOUR_MS, type Instant, type Interval } from '../../../src/core/time.ts';
import { hundredths } from './numbers.ts';
import { type NaiveEvent, naiveCumulative } from './usage.ts';

export interface NaiveFilter {
  readonly property: string;
  readonly values: readonly string[];
}

/** The values that a metric has counted for one combination of group values. */
export interface NaiveSeries {
  readonly groupValues: Readonly<Record<string, string>>;
  /** The value counted since the start of the period, at the end of every hour that has an event. */
  readonly steps: readonly { readonly at: Instant; readonly value: string }[];
}

/** Answers what has been used, each question once: a metric, the properties that split it, and a filter. */
export type NaiveMeter = (
  metricId: string,
  groupKeys: readonly string[],
  filter: NaiveFilter | null,
) => readonly NaiveSeries[];

export function naiveMeter(
  metrics: readonly StreamingMetric[],
  events: readonly NaiveEvent[],
  period: Interval,
): NaiveMeter {
  const answers = new Map<string, NaiveSeries[]>();
  return (metricId, groupKeys, filter) => {
    const metric = metrics.find(({ id }) => id === metricId);
    if (metric === undefined) throw new Error(`no metric ${metricId}`);
    const question = JSON.stringify([metricId, groupKeys, filter]);
    const series = answers.get(question) ?? seriesOf(metric, groupKeys, filter, events, period);
    answers.set(question, series);
    return series;
  };
}

/** One series for each combination of values of the properties `groupKeys`. */
function seriesOf(
  metric: StreamingMetric,
  groupKeys: readonly string[],
  filter: NaiveFilter | null,
  events: readonly NaiveEvent[],
  period: Interval,
): NaiveSeries[] {
  const counted = events.filter(
    ({ properties }) => filter === null || filter.values.includes(properties[filter.property] ?? ''),
  );
  const refs = [...new Set(counted.map(({ customerRef }) => customerRef))];
  const found = new Map<string, { groupValues: Record<string, string>; steps: NaiveSeries['steps'] }>();
  for (const at of hourEnds(counted)) {
    for (const { group, value } of naiveCumulative(metric, counted, refs, period, at, groupKeys)) {
      const groupValues = Object.fromEntries(groupKeys.map((name, index) => [name, group[index] ?? '']));
      const key = JSON.stringify(group);
      const { steps } = found.get(key) ?? { steps: [] };
      found.set(key, { groupValues, steps: [...steps, { at, value }] });
    }
  }
  return [...found.values()];
}

/** The value at `at`, in hundredths: of the last step until then. */
export function naiveValueAt({ steps }: NaiveSeries, at: Instant): number {
  let value = '0';
  for (const step of steps) if (step.at <= at) value = step.value;
  return hundredths(value);
}

function hourEnds(events: readonly NaiveEvent[]): Instant[] {
  const ends = events.map(({ timestamp }) => (Math.floor(timestamp / HOUR_MS) + 1) * HOUR_MS);
  return [...new Set(ends)].sort((a, b) => a - b);
}
