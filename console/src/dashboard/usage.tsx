/** Usage over time, by any group of a metric, under the names that the operator has given to groups. */
import { useQuery } from '@tanstack/react-query';
import Big from 'big.js';
import { type ReactNode, useMemo, useState } from 'react';
import { callAll } from '../api/client.ts';
import type { Schemas } from '../api/operations.gen.d.ts';
import { useApi } from '../api/queries.ts';
import { keyOf } from '../api/resources.ts';
import { quantityText } from '../format/money.ts';
import { intervalOf, monthOf } from '../format/time.ts';
import { Chart } from '../parts/chart.tsx';
import { type Series, seriesFrom } from '../parts/series.ts';
import { Empty, Loaded } from '../parts/states.tsx';
import styles from './dashboard.module.css';
import { useShown, useWords, type View } from './shown.tsx';
import type { Words } from './words.ts';

type Metric = Schemas['DashboardMetric'];
type Row = Schemas['UsageGroup'];

/** As many as an address has colours for. */
const SERIES_MAX = 10;

export function Usage() {
  const query = useApi('GET /v1/dashboards/metrics', {});
  const words = useWords();
  return (
    <Loaded query={query}>
      {({ data }) => {
        const [first] = data;
        return first === undefined ? (
          <Empty>{words.noMetrics}</Empty>
        ) : (
          <UsageOf metrics={data} first={first} />
        );
      }}
    </Loaded>
  );
}

interface Chosen {
  readonly metric?: string;
  readonly group?: string | undefined;
  readonly from: string;
  readonly to: string;
  readonly window: string;
}

function UsageOf({ metrics, first }: { readonly metrics: readonly Metric[]; readonly first: Metric }) {
  const { view } = useShown();
  const month = intervalOf(monthOf(view.now));
  const [chosen, setChosen] = useState<Chosen>({
    from: month.starting_on.slice(0, 10),
    to: month.ending_before.slice(0, 10),
    window: 'DAY',
  });
  const metric = metrics.find(({ id }) => id === chosen.metric) ?? first;
  const keys = metric.group_keys.map((names) => names.join(','));
  const group = chosen.group === undefined ? keys[0] : keys.find((key) => key === chosen.group);
  return (
    <>
      <Filters
        {...{ metrics, keys, chosen }}
        metric={metric.id}
        group={group ?? ''}
        choose={(change) => setChosen({ ...chosen, ...change })}
      />
      <UsageChart metric={metric.id} group={group} chosen={chosen} />
    </>
  );
}

function Filters(props: {
  readonly metrics: readonly Metric[];
  readonly keys: readonly string[];
  readonly metric: string;
  readonly group: string;
  readonly chosen: Chosen;
  choose(change: Partial<Chosen>): void;
}) {
  const { chosen, choose } = props;
  const { view } = useShown();
  const words = useWords();
  return (
    <div className={styles.filters}>
      <Choice
        label={words.metric}
        value={props.metric}
        // Another metric has other groups.
        choose={(metric) => choose({ metric, group: undefined })}
      >
        {props.metrics.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Choice>
      <Choice label={words.by} value={props.group} choose={(group) => choose({ group })}>
        <option value="">{words.noGroup}</option>
        {props.keys.map((key) => (
          <option key={key} value={key}>
            {keyText(key, view)}
          </option>
        ))}
      </Choice>
      <Day label={words.from} value={chosen.from} choose={(from) => choose({ from })} />
      <Day label={words.to} value={chosen.to} choose={(to) => choose({ to })} />
      <Choice label={words.windows} value={chosen.window} choose={(window) => choose({ window })}>
        <option value="DAY">{words.days}</option>
        <option value="HOUR">{words.hours}</option>
      </Choice>
    </div>
  );
}

function Choice(props: {
  readonly label: string;
  readonly value: string;
  choose(value: string): void;
  readonly children: ReactNode;
}) {
  return (
    <label className={styles.field}>
      {props.label}
      <select value={props.value} onChange={({ target }) => props.choose(target.value)}>
        {props.children}
      </select>
    </label>
  );
}

function Day(props: { readonly label: string; readonly value: string; choose(value: string): void }) {
  return (
    <label className={styles.field}>
      {props.label}
      <input type="date" value={props.value} onChange={({ target }) => props.choose(target.value)} />
    </label>
  );
}

function UsageChart(props: {
  readonly metric: string;
  readonly group: string | undefined;
  readonly chosen: Chosen;
}) {
  const { from, to, window } = props.chosen;
  const words = useWords();
  const asked = {
    billable_metric_id: props.metric,
    window_size: window,
    starting_on: `${from}T00:00:00Z`,
    ending_before: `${to}T00:00:00Z`,
    group_key: props.group,
  };
  const query = useQuery({
    queryKey: keyOf('GET /v1/dashboards/usage', asked),
    queryFn: ({ signal }) =>
      callAll('GET /v1/dashboards/usage', { query: { ...asked, limit: '100' } }, { signal }),
    enabled: from !== '' && to !== '',
  });
  return (
    <Loaded query={query}>
      {(rows) => <UsageSeries rows={rows} window={window === 'HOUR' ? 'hour' : 'day'} words={words} />}
    </Loaded>
  );
}

function UsageSeries(props: {
  readonly rows: readonly Row[];
  readonly window: 'hour' | 'day';
  readonly words: Words;
}) {
  const { rows, words } = props;
  const { view } = useShown();
  const starts = useMemo(() => [...new Set(rows.map(({ starting_on: start }) => start))].sort(), [rows]);
  const series = useMemo(() => seriesOf(rows, starts, view, words), [rows, starts, view, words]);
  if (series.length === 0) return <Empty>{words.noUsage}</Empty>;
  return (
    <Chart
      label={words.usage}
      kind="bars"
      window={props.window}
      starts={starts}
      series={series}
      text={(value) => quantityText(value)}
    />
  );
}

function seriesOf(rows: readonly Row[], starts: readonly string[], view: View, words: Words): Series[] {
  const points = rows.flatMap(({ starting_on: start, group, value }) => {
    if (value === null) return [];
    // Values that the operator gave the same name are one series.
    const names = Object.entries(group ?? {}).map(([key, own]) => own && valueText(key, own, view));
    const label = group === undefined ? words.usage : names.map((name) => name ?? words.noValue).join(' · ');
    return [{ key: JSON.stringify(names), label, start, value: new Big(value) }];
  });
  return seriesFrom(starts, points, SERIES_MAX);
}

function keyText(key: string, { groups }: View): string {
  return key
    .split(',')
    .map((name) => groups.find((group) => group.key === name)?.name ?? name)
    .join(', ');
}

function valueText(key: string, value: string, { groups }: View): string {
  return groups.find((group) => group.key === key)?.values?.[value] ?? value;
}
