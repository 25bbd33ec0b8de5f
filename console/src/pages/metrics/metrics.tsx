/** Billable metrics, and the editor to write and preview one. */
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import { CopyId, Status } from '../../parts/figures.tsx';
import { Field, Filters, Page, Section } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Empty, Loaded, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { definitionIn, definitionText, draftOf, NEW_DRAFT } from './definition.ts';
import { MetricEditor } from './metric-editor.tsx';
import styles from './metrics.module.css';

type Metric = Schemas['BillableMetric'];
const route = getRouteApi('/metrics');

const COLUMNS: readonly Column<Metric>[] = [
  {
    title: 'Metric',
    cell: ({ id, name, archived_at }) => (
      <>
        <Link
          to="/metrics"
          search={({ customer, from, to }) => ({ customer, from, to, metric: id }) as never}
        >
          {name}
        </Link>{' '}
        {archived_at === undefined ? null : <Status state="archived" />}
      </>
    ),
  },
  {
    title: 'Definition',
    cell: (metric) => (
      <span className={`${styles.definition} ${metric.sql === undefined ? '' : 'mono'}`} title={metric.sql}>
        {definitionText(metric)}
      </span>
    ),
  },
  { title: 'Id', cell: ({ id }) => <CopyId id={id} /> },
];

const PAGE_ROWS = '20';

export function Metrics() {
  const { metric } = route.useSearch();
  return (
    <Page
      title="Metrics"
      about="What events count as usage. Products name a metric; every change of a definition is a new metric."
      actions={
        <Link className="button" to="/metrics">
          New metric
        </Link>
      }
    >
      <MetricList />
      {metric === undefined ? <NewMetric /> : <MetricAsStart key={metric} id={metric} />}
    </Page>
  );
}

function MetricList() {
  const { page, cursor, archived } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useApi('GET /v1/billable-metrics', {
    query: { limit: PAGE_ROWS, next_page: cursor, include_archived: archived === 'too' ? 'true' : undefined },
  });
  return (
    <Section
      title="Metrics"
      aside={<Pager list={`metrics ${archived}`} search={{ page, cursor }} next={query.data?.next_page} />}
    >
      <Filters>
        <Field label="Show">
          <select
            value={archived ?? ''}
            onChange={({ target }) => void navigate({ search: { archived: target.value } })}
          >
            <option value="">active</option>
            <option value="too">archived too</option>
          </select>
        </Field>
      </Filters>
      <Loaded query={query} what="metrics">
        {({ data }) =>
          data.length === 0 ? (
            <Empty>No metrics yet. Define one below, preview it and save it.</Empty>
          ) : (
            <Table label="Metrics" stacks columns={COLUMNS} rows={data} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </Section>
  );
}

function NewMetric() {
  const { definition } = route.useSearch();
  return <MetricEditor start={definitionIn(definition) ?? NEW_DRAFT} title="A new metric" />;
}

function MetricAsStart({ id }: { readonly id: string }) {
  const { definition } = route.useSearch();
  const query = useApi('GET /v1/billable-metrics/{billable_metric_id}', {
    params: { billable_metric_id: id },
  });
  if (query.isPending) return <Loading what="the metric" />;
  return (
    <Loaded query={query} what="the metric">
      {({ data }) => <MetricEditor start={definitionIn(definition) ?? draftOf(data)} title={data.name} />}
    </Loaded>
  );
}
