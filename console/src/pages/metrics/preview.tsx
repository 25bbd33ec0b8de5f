/** The usage that a metric would count for a customer, as chart and table, with its cost. */
import { useQuery } from '@tanstack/react-query';
import { type BodyOf, call } from '../../api/client.ts';
import type { Exact } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { keyOf } from '../../api/resources.ts';
import { quantityText } from '../../format/money.ts';
import { Quantity } from '../../parts/figures.tsx';
import { Fact, Facts } from '../../parts/page.tsx';
import { Empty, Failure, Loading, Note } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { UsageSeries } from '../../parts/usage-series.tsx';

export type PreviewBody = BodyOf<'POST /v1/billable-metrics/preview'>;

interface Previewed {
  readonly rows: readonly Schemas['UsageGroup'][];
  readonly evaluation: Schemas['SqlEvaluation'] | undefined;
  /** From the request to the last answer. */
  readonly milliseconds: number;
  /** Whether there are more rows than were read. */
  readonly isCut: boolean;
}

/** Each page is evaluated again, so the number of pages of a preview is limited. */
const PAGES_MAX = 30;

async function readPreview(body: PreviewBody, signal: AbortSignal): Promise<Previewed> {
  const started = performance.now();
  const rows: Schemas['UsageGroup'][] = [];
  let cursor: string | undefined;
  let evaluation: Schemas['SqlEvaluation'] | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const query = { limit: '100', next_page: cursor };
    const answer = await call('POST /v1/billable-metrics/preview', { body, query }, signal);
    rows.push(...answer.data);
    evaluation ??= answer.evaluation;
    cursor = answer.next_page ?? undefined;
    if (cursor === undefined) break;
  }
  return { rows, evaluation, milliseconds: performance.now() - started, isCut: cursor !== undefined };
}

/** The preview of a question; nothing is requested without one. */
export function usePreview(body: PreviewBody | null) {
  return useQuery({
    queryKey: keyOf('POST /v1/billable-metrics/preview', body),
    enabled: body !== null,
    retry: false,
    queryFn: ({ signal }) => {
      if (body === null) throw new Error('there is no question');
      return readPreview(body, signal);
    },
  });
}

export function Preview(props: {
  readonly query: ReturnType<typeof usePreview>;
  readonly window: PreviewBody['window_size'];
  /** Whether the refusal is shown elsewhere: at its place in the editor or at its field. */
  readonly isRefusalShown: boolean;
}) {
  const { query, window, isRefusalShown } = props;
  if (query.isError) {
    return isRefusalShown ? null : <Failure error={query.error} again={() => void query.refetch()} />;
  }
  if (query.isFetching || query.data === undefined) return <Loading what="the preview" />;
  const { rows, isCut } = query.data;
  return (
    <>
      <Cost {...query.data} />
      {isCut ? <Note>Only the first {rows.length} figures are shown: take a shorter time.</Note> : null}
      {window === 'NONE' ? (
        <Totals rows={rows} />
      ) : (
        <UsageSeries rows={rows} window={window === 'HOUR' ? 'hour' : 'day'} isTableOpen />
      )}
    </>
  );
}

const MODES: Readonly<Record<Schemas['SqlEvaluation']['mode'], string>> = {
  along_hours: 'carried along the hours',
  at_each_hour: 'evaluated again at each hour with events',
};

function Cost({ evaluation, milliseconds }: Previewed) {
  return (
    <Facts>
      <Fact label="Answered in">{Math.round(milliseconds).toLocaleString('en-US')} ms</Fact>
      {evaluation === undefined ? null : (
        <>
          <Fact label="Evaluated in" note="the first page">
            {quantityText(evaluation.milliseconds)} ms
          </Fact>
          <Fact label="Events read">
            <Quantity value={evaluation.rows_read} />
          </Fact>
          <Fact label="Billed by the hour" note={MODES[evaluation.mode]}>
            {quantityText(evaluation.hourly_rows)} rows
          </Fact>
          <Fact label="Rows that are allowed" note={<Share {...evaluation} />}>
            {quantityText(evaluation.hourly_rows_max)}
          </Fact>
        </>
      )}
    </Facts>
  );
}

function Share(evaluation: { readonly hourly_rows: Exact; readonly hourly_rows_max: Exact }) {
  const { hourly_rows: rows, hourly_rows_max: max } = evaluation;
  const isAbove = Number(rows) > Number(max);
  return (
    <span className={isAbove ? 'warn' : ''}>
      {isAbove ? 'too many: bill it by the service period' : 'for a period'}
    </span>
  );
}

type Row = Schemas['UsageGroup'];

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Group',
    cell: ({ group, group_value }) =>
      group === undefined ? (group_value ?? 'all') : Object.values(group).join(' · '),
  },
  {
    title: 'Value',
    kind: 'number',
    cell: ({ value }) => (value === null ? '' : <Quantity value={value} />),
  },
];

function Totals({ rows }: { readonly rows: readonly Row[] }) {
  if (rows.length === 0) return <Empty>No usage of this metric in this time range.</Empty>;
  return (
    <Table
      label="Usage of the whole time"
      columns={COLUMNS}
      rows={rows}
      keyOf={({ group, group_value }, index) => `${JSON.stringify(group ?? group_value)} ${index}`}
    />
  );
}
