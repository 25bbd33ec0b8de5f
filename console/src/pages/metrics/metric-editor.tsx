/** Writes a metric, tries it on a customer, and saves it. */
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { keyOf } from '../../api/resources.ts';
import { intervalOf, monthOf } from '../../format/time.ts';
import { CustomerField } from '../../parts/customer-field.tsx';
import { Field, Filters, Section, Switch } from '../../parts/page.tsx';
import { SqlEditor } from '../../parts/sql/sql-editor.tsx';
import { useSqlNames } from '../../parts/sql/sql-names.ts';
import { placeOf } from '../../parts/sql/sql-place.ts';
import { Empty, Failure, Problem } from '../../parts/states.tsx';
import { useSession, useWriteRefusal } from '../../session/session.ts';
import { type Draft, definitionIn, definitionOf } from './definition.ts';
import { MetricForm } from './metric-form.tsx';
import { Preview, type PreviewBody, usePreview } from './preview.tsx';

const route = getRouteApi('/metrics');

const KINDS = [
  ['sql', 'SQL'],
  ['form', 'Form'],
] as const;

/** `start`: the initial draft. */
export function MetricEditor({ start, title }: { readonly start: Draft; readonly title: string }) {
  const [draft, setDraft] = useState(start);
  const { body, question } = useQuestion();
  const preview = usePreview(body);
  const ask = useAsk(draft, question);
  const names = useSqlNames('metric');
  const place = placeOf(preview.error);
  const problem = fieldProblemOf(preview.error);
  const isAtPlace = draft.kind === 'sql' ? place !== null : isFormField(problem?.field);
  return (
    <Section
      title={title}
      aside={
        <Switch
          label="How the metric is written"
          views={KINDS}
          current={draft.kind}
          onChoose={(kind) => setDraft({ ...draft, kind })}
        />
      }
    >
      {draft.kind === 'sql' ? (
        <>
          <SqlEditor
            label="SQL of the metric"
            value={draft.sql}
            names={names}
            problem={place}
            onChange={(sql) => setDraft((before) => ({ ...before, sql }))}
            onRun={ask}
          />
          <Problem
            text={place === null ? null : `Line ${place.line}, column ${place.column}: ${place.message}`}
          />
        </>
      ) : (
        <MetricForm form={draft.form} problem={problem} onChange={(form) => setDraft({ ...draft, form })} />
      )}
      <Question question={question} ask={ask} isRunning={preview.isFetching} />
      {body === null ? (
        <Empty>Choose a customer and press Preview: nothing is stored, and nobody is billed.</Empty>
      ) : (
        <Preview query={preview} window={body.window_size} isRefusalShown={isAtPlace} />
      )}
      <Save draft={draft} />
    </Section>
  );
}

interface AskedQuestion {
  readonly customer: string | undefined;
  readonly from: string;
  readonly to: string;
  readonly window: PreviewBody['window_size'];
  readonly group: string;
}

/** The question in the address, with its exclusions; the body only if a definition was previewed. */
function useQuestion(): { readonly question: AskedQuestion; readonly body: PreviewBody | null } {
  const { now } = useSession();
  const search = route.useSearch();
  const first = useApi(
    'GET /v1/customers',
    { query: { limit: '1' } },
    { enabled: search.customer === undefined },
  );
  const month = intervalOf(monthOf(now));
  const question: AskedQuestion = {
    customer: search.customer ?? first.data?.data[0]?.id,
    from: search.from ?? month.starting_on.slice(0, 10),
    to: search.to ?? month.ending_before.slice(0, 10),
    window: search.window === 'hour' ? 'HOUR' : search.window === 'none' ? 'NONE' : 'DAY',
    group: search.group ?? '',
  };
  const asked = definitionIn(search.definition);
  const keys = question.group
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
  const body =
    asked === null || question.customer === undefined
      ? null
      : {
          ...definitionOf(asked),
          customer_id: question.customer,
          window_size: question.window,
          starting_on: `${question.from}T00:00:00Z`,
          ending_before: `${question.to}T00:00:00Z`,
          ...(keys.length === 0 ? {} : { group_key: keys }),
        };
  return { question, body };
}

/** Puts the question into the address, and repeats it if it is there already. */
function useAsk(draft: Draft, { customer }: AskedQuestion): () => void {
  const navigate = route.useNavigate();
  const client = useQueryClient();
  return () => {
    void client.resetQueries({ queryKey: keyOf('POST /v1/billable-metrics/preview') });
    void navigate({
      search: (before) => ({
        ...before,
        ...(customer === undefined ? {} : { customer }),
        definition: JSON.stringify(definitionOf(draft)),
      }),
    });
  };
}

function Question(props: { readonly question: AskedQuestion; ask(): void; readonly isRunning: boolean }) {
  const { question } = props;
  const navigate = route.useNavigate();
  const set = (name: 'customer' | 'from' | 'to' | 'window' | 'group', value: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, [name]: value }), replace: true });
  return (
    <Filters>
      <CustomerField value={question.customer} onChoose={(id) => set('customer', id)} />
      <Field label="From (UTC)">
        <input type="date" value={question.from} onChange={({ target }) => set('from', target.value)} />
      </Field>
      <Field label="Before (UTC)">
        <input type="date" value={question.to} onChange={({ target }) => set('to', target.value)} />
      </Field>
      <Field label="Windows">
        <select value={question.window.toLowerCase()} onChange={({ target }) => set('window', target.value)}>
          <option value="day">days</option>
          <option value="hour">hours</option>
          <option value="none">the whole time</option>
        </select>
      </Field>
      <Field label="By group columns">
        <input
          key={question.group}
          defaultValue={question.group}
          placeholder="model, region"
          size={16}
          onBlur={({ target }) => set('group', target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') set('group', event.currentTarget.value);
          }}
        />
      </Field>
      <button type="button" data-kind="main" disabled={props.isRunning} onClick={props.ask}>
        Preview
      </button>
    </Filters>
  );
}

/** The field named in a refusal: `aggregation_key: is required …`. */
function fieldProblemOf(error: unknown): { readonly field: string; readonly message: string } | null {
  const found = error instanceof ApiError ? /^([a-z_]+)\S*: (.*)$/s.exec(error.message) : null;
  return found === null
    ? null
    : { field: found[1] ?? '', message: error instanceof Error ? error.message : '' };
}

const FORM_FIELDS = [
  'aggregation_type',
  'aggregation_key',
  'event_type_filter',
  'property_filters',
  'group_keys',
];

function isFormField(field: string | undefined): boolean {
  return field !== undefined && FORM_FIELDS.includes(field);
}

function Save({ draft }: { readonly draft: Draft }) {
  const refusal = useWriteRefusal();
  const navigate = route.useNavigate();
  const create = useChange('POST /v1/billable-metrics/create');
  const [name, setName] = useState('');
  const save = () =>
    create.mutate(
      { body: { name: name.trim(), ...definitionOf(draft) } },
      {
        onSuccess: ({ data }) =>
          void navigate({
            search: ({ customer, from, to }) => ({ customer, from, to, metric: data.id }) as never,
          }),
      },
    );
  return (
    <>
      <Filters>
        <Field label="Name of the new metric">
          <input value={name} maxLength={200} size={30} onChange={({ target }) => setName(target.value)} />
        </Field>
        <button
          type="button"
          disabled={refusal !== undefined || name.trim() === ''}
          title={refusal}
          onClick={save}
        >
          Save
        </button>
        <span className="soft small">Definitions never change: saving creates a new metric.</span>
      </Filters>
      {create.isError ? <Failure error={create.error} /> : null}
    </>
  );
}
