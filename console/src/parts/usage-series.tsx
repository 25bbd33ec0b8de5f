/** Usage in windows of time, a series for each group. */
import Big from 'big.js';
import { useMemo } from 'react';
import type { Schemas } from '../api/operations.gen.d.ts';
import { quantityText } from '../format/money.ts';
import { Chart } from './chart.tsx';
import { largestSeries, type Series } from './series.ts';
import { Empty } from './states.tsx';

export function UsageSeries({
  rows,
  window,
  isTableOpen = false,
}: {
  readonly rows: readonly Schemas['UsageGroup'][];
  readonly window: 'hour' | 'day';
  /** Whether the figures are shown at once. */
  readonly isTableOpen?: boolean;
}) {
  const starts = useMemo(() => [...new Set(rows.map(({ starting_on }) => starting_on))].sort(), [rows]);
  const series = useMemo(() => seriesOf(rows, starts), [rows, starts]);
  if (series.length === 0)
    return (
      <Empty>There is no usage of this metric in this time. Choose another metric or a longer time.</Empty>
    );
  return (
    <Chart
      label="Usage over time"
      kind="bars"
      window={window}
      starts={starts}
      series={series}
      text={(value) => quantityText(value)}
      isTableOpen={isTableOpen}
    />
  );
}

function seriesOf(rows: readonly Schemas['UsageGroup'][], starts: readonly string[]): Series[] {
  const places = new Map(starts.map((start, index) => [start, index]));
  const byGroup = new Map<string, (Big | null)[]>();
  for (const { starting_on, group, group_value, value } of rows) {
    if (value === null) continue;
    const label = group === undefined ? (group_value ?? 'all') : Object.values(group).join(' · ');
    const values = byGroup.get(label) ?? Array.from<Big | null>({ length: starts.length }).fill(null);
    byGroup.set(label, values);
    values[places.get(starting_on) ?? 0] = new Big(value);
  }
  return largestSeries([...byGroup].map(([label, values]) => ({ label, values })));
}
