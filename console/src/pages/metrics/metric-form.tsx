/** The five aggregations as a form. */
import { useId } from 'react';
import { Field, Filters } from '../../parts/page.tsx';
import { useSeenEvents } from '../../parts/sql/sql-names.ts';
import { Problem } from '../../parts/states.tsx';
import { AGGREGATIONS, type Aggregation, CONDITIONS, type FilterRow, type FormDraft } from './definition.ts';
import styles from './metrics.module.css';

const MEANINGS: Readonly<Record<Aggregation, string>> = {
  COUNT: 'COUNT – how many events',
  SUM: 'SUM – of a property',
  MAX: 'MAX – the greatest value of a property',
  UNIQUE: 'UNIQUE – how many values of a property',
  LATEST: 'LATEST – the last value of a property',
};

interface FormProps {
  readonly form: FormDraft;
  /** The refusal of the service, by its field. */
  readonly problem: { readonly field: string; readonly message: string } | null;
  onChange(form: FormDraft): void;
}

export function MetricForm({ form, problem, onChange }: FormProps) {
  const { types, properties } = useSeenEvents();
  const [typesId, propertiesId] = [useId(), useId()];
  const set = (change: Partial<FormDraft>) => onChange({ ...form, ...change });
  const problemAt = (field: string) => <Problem text={problem?.field === field ? problem.message : null} />;
  return (
    <>
      <Filters>
        <Field label="Aggregation">
          <select
            value={form.aggregation}
            onChange={({ target }) => set({ aggregation: target.value as Aggregation })}
          >
            {AGGREGATIONS.map((each) => (
              <option key={each} value={each}>
                {MEANINGS[each]}
              </option>
            ))}
          </select>
        </Field>
        {form.aggregation === 'COUNT' ? null : (
          <Field label="Property">
            <input
              value={form.key}
              list={propertiesId}
              onChange={({ target }) => set({ key: target.value })}
            />
          </Field>
        )}
        <Field label="Event types, separated by commas; empty: all">
          <input
            value={form.eventTypes}
            size={30}
            list={typesId}
            onChange={({ target }) => set({ eventTypes: target.value })}
          />
        </Field>
      </Filters>
      {problemAt('aggregation_type')}
      {problemAt('aggregation_key')}
      {problemAt('event_type_filter')}
      <FilterRows rows={form.filters} properties={propertiesId} onChange={(filters) => set({ filters })} />
      {problemAt('property_filters')}
      <Field label="Groups: a line for each, properties separated by commas">
        <textarea rows={2} value={form.groups} onChange={({ target }) => set({ groups: target.value })} />
      </Field>
      {problemAt('group_keys')}
      <Names id={propertiesId} names={properties} />
      <Names id={typesId} names={types} />
    </>
  );
}

function Names({ id, names }: { readonly id: string; readonly names: readonly string[] }) {
  return (
    <datalist id={id}>
      {names.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

function FilterRows(props: {
  readonly rows: readonly FilterRow[];
  /** The id of the list of properties. */
  readonly properties: string;
  onChange(rows: readonly FilterRow[]): void;
}) {
  const { rows, onChange } = props;
  const change = (index: number, part: Partial<FilterRow>) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...part } : row)));
  return (
    <fieldset className={styles.filters}>
      <legend className="soft small">Only events in which</legend>
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other identity while it is written.
        <div key={index} className={styles.filter}>
          <input
            aria-label={`Property of filter ${index + 1}`}
            value={row.name}
            list={props.properties}
            onChange={({ target }) => change(index, { name: target.value })}
          />
          <select
            aria-label={`Condition of filter ${index + 1}`}
            value={row.condition}
            onChange={({ target }) => change(index, { condition: target.value as FilterRow['condition'] })}
          >
            {CONDITIONS.map((condition) => (
              <option key={condition}>{condition}</option>
            ))}
          </select>
          {row.condition === 'exists' || row.condition === 'is absent' ? null : (
            <input
              aria-label={`Values of filter ${index + 1}, separated by commas`}
              placeholder="values, separated by commas"
              size={30}
              value={row.values}
              onChange={({ target }) => change(index, { values: target.value })}
            />
          )}
          <button
            type="button"
            data-kind="plain"
            onClick={() => onChange(rows.filter((_, at) => at !== index))}
          >
            Remove
          </button>
        </div>
      ))}
      <button
        type="button"
        data-kind="plain"
        onClick={() => onChange([...rows, { name: '', condition: 'exists', values: '' }])}
      >
        Add a filter
      </button>
    </fieldset>
  );
}
