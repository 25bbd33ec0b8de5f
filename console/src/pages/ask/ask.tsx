/** Questions in SQL over usage and invoices of all customers. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { callBounded } from '../../api/client.ts';
import { keyOf } from '../../api/resources.ts';
import { Download } from '../../parts/download.tsx';
import { Field, Filters, Page, Section } from '../../parts/page.tsx';
import { SqlEditor } from '../../parts/sql/sql-editor.tsx';
import { useSqlNames } from '../../parts/sql/sql-names.ts';
import { placeOf } from '../../parts/sql/sql-place.ts';
import { Empty, Failure, Problem, Progress } from '../../parts/states.tsx';
import { Result } from './result.tsx';
import { SavedQueries, SaveQuery } from './saved-queries.tsx';

const route = getRouteApi('/ask');

const EXAMPLE = `SELECT DATE_TRUNC('day', timestamp) AS day, event_type, COUNT(*) AS sent
FROM events
WHERE timestamp >= now() - INTERVAL 30 DAY
GROUP BY day, event_type
ORDER BY day`;

/** The maximum size that a page shows; files contain the whole answer. */
const ANSWER_BYTES_MAX = 8_000_000;
const TOO_LARGE = 'The answer is larger than 8 MB: add LIMIT, or take it as CSV or Parquet.';

/** The answer to the query in the address. */
function useAnswer(sql: string | undefined) {
  return useQuery({
    queryKey: keyOf('POST /v1/sql', sql),
    enabled: sql !== undefined,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      callBounded(
        'POST /v1/sql',
        { body: { sql: sql ?? '' } },
        { bytes: ANSWER_BYTES_MAX, tooLarge: TOO_LARGE, signal },
      ),
  });
}

export function Ask() {
  const { sql, show = '' } = route.useSearch();
  const [text, setText] = useState(sql ?? EXAMPLE);
  useEffect(() => {
    if (sql !== undefined) setText(sql);
  }, [sql]);
  const answer = useAnswer(sql);
  return (
    <Page title="Ask" about="One SELECT over usage and invoices of all customers. It changes nothing.">
      <SavedQueries sql={sql} />
      <Query text={text} setText={setText} answer={answer} />
      <Section title="Answer" aside={<Shown show={show} />}>
        {sql === undefined ? (
          <Empty>Press Run, or Ctrl and Enter in the editor. Share the address to share the result.</Empty>
        ) : answer.isFetching ? (
          <Progress label="The query is running" done={0} />
        ) : answer.isError ? (
          placeOf(answer.error) === null ? (
            <Failure error={answer.error} again={() => void answer.refetch()} />
          ) : (
            <Empty>The query has an error, which is marked in the editor.</Empty>
          )
        ) : answer.data === undefined ? null : (
          <Result answer={answer.data} show={show} />
        )}
      </Section>
    </Page>
  );
}

function Query(props: {
  readonly text: string;
  setText(text: string): void;
  readonly answer: ReturnType<typeof useAnswer>;
}) {
  const { text, answer } = props;
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const names = useSqlNames('report');
  const place = placeOf(answer.error);
  const run = () => {
    if (text.trim() === '') return;
    client.removeQueries({ queryKey: keyOf('POST /v1/sql', text), type: 'inactive' });
    void client.resetQueries({ queryKey: keyOf('POST /v1/sql', text) });
    void navigate({ search: (before) => ({ ...before, sql: text }) });
  };
  const input = { body: { sql: text } };
  return (
    <Section title="Query">
      <SqlEditor
        label="SQL of the question"
        value={text}
        names={names}
        problem={place}
        onChange={props.setText}
        onRun={run}
      />
      <Problem
        text={place === null ? null : `Line ${place.line}, column ${place.column}: ${place.message}`}
      />
      <Filters>
        <button type="button" data-kind="main" disabled={answer.isFetching} onClick={run}>
          Run
        </button>
        <Download operation="POST /v1/sql" input={input} mediaType="text/csv" fileName="answer.csv">
          CSV
        </Download>
        <Download
          operation="POST /v1/sql"
          input={input}
          mediaType="application/vnd.apache.parquet"
          fileName="answer.parquet"
        >
          Parquet
        </Download>
        <SaveQuery sql={text} />
      </Filters>
    </Section>
  );
}

function Shown({ show }: { readonly show: string }) {
  const navigate = route.useNavigate();
  return (
    <Field label="Show">
      <select
        value={show}
        onChange={({ target }) =>
          void navigate({ search: (before) => ({ ...before, show: target.value }), replace: true })
        }
      >
        <option value="">bars and table</option>
        <option value="lines">lines and table</option>
        <option value="table">table only</option>
      </select>
    </Field>
  );
}
