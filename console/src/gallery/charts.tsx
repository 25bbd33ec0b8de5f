/** Charts of each kind, and one without a figure. */
import Big from 'big.js';
import { Chart } from '../parts/chart.tsx';
import { Section } from '../parts/page.tsx';
import type { ChartProps, Series } from '../parts/series.ts';

const STARTS = Array.from({ length: 14 }, (_, day) => new Date(Date.UTC(2026, 10, 1 + day)).toISOString());
const of = (label: string, step: number): Series => ({
  ...{ key: label, label, values: STARTS.map((_, day) => new Big(((day * step) % 11) + day)) },
});
const SERIES = [of('wren-large', 3), of('wren-mini', 5)];
const KINDS: readonly ChartProps['kind'][] = ['bars', 'beside', 'lines', 'steps'];

export function Charts() {
  return (
    <Section title="Charts">
      {KINDS.map((kind) => (
        <Chart
          key={kind}
          label={`Tokens, ${kind}`}
          starts={STARTS}
          window="day"
          series={SERIES}
          kind={kind}
          size="small"
          text={(value) => value.toFixed()}
        />
      ))}
      <Chart
        label="No figures"
        {...{ starts: [], series: [], window: 'day', kind: 'bars', size: 'small' }}
        text={(value) => value.toFixed()}
      />
    </Section>
  );
}
