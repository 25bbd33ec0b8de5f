/** Usage of a metric over time, by any of its groups. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type BodyOf, callAll } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import { keyOf } from '../../api/resources.ts';
import { intervalOf, monthOf } from '../../format/time.ts';
import { Download } from '../../parts/download.tsx';
import { Field, Filters, Section } from '../../parts/page.tsx';
import { Empty, Loaded, Loading } from '../../parts/states.tsx';
import { UsageSeries } from '../../parts/usage-series.tsx';
import { useSession } from '../../session/session.ts';

const route = getRouteApi('/customers/$customerId');
type Metric = Schemas['BillableMetricWithDeprecatedFields'];
type Body = BodyOf<'POST /v1/usage/groups'>;

export function Usage({ customerId }: { readonly customerId: string }) {
  const query = useApi('GET /v1/customers/{customer_id}/billable-metrics', {
    params: { customer_id: customerId },
    query: { limit: '100' },
  });
  return (
    <Loaded query={query} what="metrics">
      {({ data }) =>
        data.length === 0 ? (
          <Empty>No metrics yet. Usage is shown by metric.</Empty>
        ) : (
          <UsageOf customerId={customerId} metrics={data} />
        )
      }
    </Loaded>
  );
}

/** The ids of the metrics with usage of the customer in the current month; undefined until they are known. */
function useUsed(customerId: string, isAsked: boolean): ReadonlySet<string> | undefined {
  const { now } = useSession();
  const body = { customer_ids: [customerId], window_size: 'NONE' as const, ...intervalOf(monthOf(now)) };
  const { data, isError } = useQuery({
    enabled: isAsked,
    queryKey: keyOf('POST /v1/usage', body),
    queryFn: ({ signal }) => callAll('POST /v1/usage', { body }, { signal }),
  });
  if (isError) return new Set();
  return data && new Set(data.filter(({ value }) => value !== null).map(({ billable_metric_id: id }) => id));
}

function UsageOf({
  customerId,
  metrics,
}: {
  readonly customerId: string;
  readonly metrics: readonly Metric[];
}) {
  const { now } = useSession();
  const search = route.useSearch();
  const named = metrics.find(({ id }) => id === search.metric);
  const used = useUsed(customerId, named === undefined);
  if (named === undefined && used === undefined) return <Loading what="usage" />;
  const metric = named ?? metrics.find(({ id }) => used?.has(id)) ?? metrics[0];
  const month = intervalOf(monthOf(now));
  const from = search.from ?? month.starting_on.slice(0, 10);
  const to = search.to ?? month.ending_before.slice(0, 10);
  const groups = (metric?.group_keys ?? []).map((keys) => keys.join(', '));
  const group = search.group === undefined ? groups[0] : groups.find((each) => each === search.group);
  const body: Body = {
    customer_id: customerId,
    billable_metric_id: metric?.id ?? '',
    window_size: search.window === 'hour' ? 'HOUR' : 'DAY',
    starting_on: `${from}T00:00:00Z`,
    ending_before: `${to}T00:00:00Z`,
    ...(group === undefined ? {} : { group_key: group.split(', ') }),
  };
  return (
    <Section
      title={metric?.name ?? 'Usage'}
      aside={
        <Download
          operation="POST /v1/usage/groups"
          input={{ body }}
          mediaType="text/csv"
          fileName="usage.csv"
        >
          CSV
        </Download>
      }
    >
      <UsageFilters
        metrics={metrics}
        groups={groups}
        chosen={{ metric: metric?.id ?? '', group: group ?? '', from, to }}
      />
      <UsageChart body={body} />
    </Section>
  );
}

function UsageFilters(props: {
  readonly metrics: readonly Metric[];
  readonly groups: readonly string[];
  readonly chosen: Readonly<Record<'metric' | 'group' | 'from' | 'to', string>>;
}) {
  const { chosen, groups, metrics } = props;
  const { window = 'day' } = route.useSearch();
  const navigate = route.useNavigate();
  const set =
    (name: 'metric' | 'group' | 'from' | 'to' | 'window') =>
    (event: { readonly target: { readonly value: string } }) =>
      void navigate({
        search: ({ group, ...before }) => ({
          ...before,
          ...(name === 'metric' || group === undefined ? {} : { group }),
          [name]: event.target.value,
        }),
      });
  return (
    <Filters>
      <Field label="Metric">
        <select value={chosen.metric} onChange={set('metric')}>
          {metrics.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      <Field label="By">
        <select value={chosen.group} onChange={set('group')}>
          <option value="none">no group</option>
          {groups.map((group) => (
            <option key={group}>{group}</option>
          ))}
        </select>
      </Field>
      <Field label="From (UTC)">
        <input type="date" value={chosen.from} onChange={set('from')} />
      </Field>
      <Field label="Before (UTC)">
        <input type="date" value={chosen.to} onChange={set('to')} />
      </Field>
      <Field label="Windows">
        <select value={window} onChange={set('window')}>
          <option value="day">days</option>
          <option value="hour">hours</option>
        </select>
      </Field>
    </Filters>
  );
}

function UsageChart({ body }: { readonly body: Body }) {
  const query = useQuery({
    queryKey: keyOf('POST /v1/usage/groups', body),
    queryFn: ({ signal }) => callAll('POST /v1/usage/groups', { body, query: { limit: '100' } }, { signal }),
  });
  return (
    <Loaded query={query} what="usage">
      {(rows) => <UsageSeries rows={rows} window={body.window_size === 'HOUR' ? 'hour' : 'day'} />}
    </Loaded>
  );
}
