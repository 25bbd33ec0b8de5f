/** Usage in windows of time, a series for each group. */
import Big from 'big.js';
import { useMemo } from 'react';
import type { Schemas } from '../api/operations.gen.d.ts';
import { quantityText } from '../format/money.ts';
import { Chart } from './chart.tsx';
import { type Series, seriesFrom } from './series.ts';
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
      <Empty>No usage of this metric in this time range. Choose another metric or a longer range.</Empty>
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
  return seriesFrom(
    starts,
    rows.flatMap(({ starting_on: start, group, group_value, value }) => {
      if (value === null) return [];
      const values = group === undefined ? [group_value] : Object.values(group);
      const label = values.map((each) => each ?? NO_VALUE).join(' · ');
      const isAll = group === undefined && group_value === null;
      return [{ key: JSON.stringify(values), label: isAll ? 'all' : label, start, value: new Big(value) }];
    }),
  );
}

/** The label of events without the property. */
const NO_VALUE = '(none)';
