/** The fields of a form, each with its label, its hint, and the problem that the API has with it. */
import { useEffect, useId, useState } from 'react';
import { type CreditType, unitText } from '../format/money.ts';
import { CustomerField } from '../parts/customer-field.tsx';
import { Problem } from '../parts/states.tsx';
import { textsIn } from './body.ts';
import { entriesOf, type FormField, shownFields, startOf, textOf, type Value, type Values } from './field.ts';
import styles from './form.module.css';
import { useOptions, useProducts } from './options.ts';
import { entriesIn, rowsAt } from './paste.ts';
import { type FieldSchema, schemaAt } from './schema.ts';

interface FieldsProps {
  readonly fields: readonly FormField[];
  readonly schema: FieldSchema;
  readonly values: Values;
  readonly unit: CreditType;
  /** The day of the service's clock. */
  readonly today: string;
  readonly problems: ReadonlyMap<string, string>;
  /** The place of the list entry that the fields are in, with its point. */
  readonly before?: string;
  set(at: string, value: Value): void;
}

/** The properties of the input of a field. */
interface InputProps extends FieldsProps {
  readonly field: FormField;
  readonly own: FieldSchema;
  readonly id: string;
  readonly described: { readonly 'aria-describedby'?: string; readonly 'aria-invalid'?: true };
}

export function Fields(props: FieldsProps) {
  const shown = shownFields(props.fields, props.values).filter(({ isHidden }) => isHidden !== true);
  return shown.map((field) => <OneField key={field.at} {...props} field={field} />);
}

function OneField(props: FieldsProps & { readonly field: FormField }) {
  const { field, values, set, before = '' } = props;
  const id = useId();
  const own = schemaAt(props.schema, field.at);
  const kind = field.kind ?? own.kind;
  const problem = props.problems.get(`${before}${field.at}`) ?? null;
  const described =
    problem === null
      ? field.hint === undefined
        ? {}
        : { 'aria-describedby': `${id}-hint` }
      : { 'aria-describedby': `${id}-problem`, 'aria-invalid': true as const };
  const input: InputProps = { ...props, own, id, described };
  const below = (
    <>
      {field.hint === undefined ? null : (
        <span className={styles.hint} id={`${id}-hint`}>
          {field.hint}
        </span>
      )}
      <span id={`${id}-problem`}>
        <Problem text={problem} />
      </span>
    </>
  );
  if (kind === 'list' || kind === 'pairs' || (kind === 'texts' && choicesOf(own).length > 0)) {
    const Group = kind === 'list' ? List : kind === 'pairs' ? Pairs : Choices;
    return (
      <fieldset className={styles.list}>
        <legend>{field.label}</legend>
        <Group {...input} />
        {below}
      </fieldset>
    );
  }
  if (kind === 'check') {
    return (
      <div className={styles.field}>
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={values[field.at] === true}
            onChange={({ target }) => set(field.at, target.checked)}
            {...described}
          />
          {field.label}
        </label>
        {below}
      </div>
    );
  }
  if (kind === 'customer') {
    return (
      <div className={styles.field}>
        <CustomerField
          label={field.label}
          value={textOf(values, field.at) || undefined}
          onChoose={(customer) => set(field.at, customer ?? '')}
        />
        {below}
      </div>
    );
  }
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {labelOf(field, props)}
      </label>
      <Input {...input} />
      {below}
    </div>
  );
}

function labelOf({ label, kind, isMoney }: FormField, { values, unit }: FieldsProps): string {
  return kind === 'money' && (isMoney?.(values) ?? true) ? `${label} (${unitText(unit)})` : label;
}

function Input(props: InputProps) {
  const { field, own, values, set, id, described } = props;
  const kind = field.kind ?? own.kind;
  const text = textOf(values, field.at);
  const common = { id, ...described };
  const onText = ({ target }: { readonly target: { readonly value: string } }) => set(field.at, target.value);
  if (kind === 'choice') return <ChoiceInput {...props} />;
  if (SELECTS.has(kind)) return <ObjectInput {...props} />;
  if (kind === 'charged') return <ChargedInput {...props} />;
  if (kind === 'texts' || kind === 'lines') {
    return <textarea {...common} rows={3} value={text} onChange={onText} />;
  }
  if (kind === 'day' || kind === 'lastDay') {
    return <input {...common} type="date" value={text} onChange={onText} />;
  }
  const isFigure = kind === 'number' || kind === 'money';
  return (
    <input
      {...common}
      {...(isFigure ? { inputMode: 'decimal' as const } : {})}
      autoComplete="off"
      value={text}
      onChange={onText}
    />
  );
}

const SELECTS = new Set(['product', 'rateCard', 'package', 'metric', 'contract', 'unit']);

/** `SCHEDULED_SUPPLY` as people read it. */
function wordsOf(choice: string): string {
  const text = choice.replaceAll('_', ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function ChoiceInput({ field, own, values, set, id, described }: InputProps) {
  return (
    <select
      id={id}
      {...described}
      value={textOf(values, field.at)}
      onChange={({ target }) => set(field.at, target.value)}
    >
      <option value="">{own.isRequired ? 'Choose…' : '–'}</option>
      {own.choices.map((choice) => (
        <option key={choice} value={choice}>
          {wordsOf(choice)}
        </option>
      ))}
    </select>
  );
}

function ObjectInput({ field, own, values, set, id, described }: InputProps) {
  const { data } = useOptions(field.kind ?? own.kind, field, values);
  const chosen = textOf(values, field.at);
  const [only] = data ?? [];
  const isOnly = own.isRequired && chosen === '' && data?.length === 1 && only !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the only choice is chosen when it is known.
  useEffect(() => {
    if (isOnly) set(field.at, only.id);
  }, [isOnly]);
  return (
    <select
      id={id}
      {...described}
      value={data === undefined ? '' : chosen}
      disabled={data === undefined}
      onChange={({ target }) => set(field.at, target.value)}
    >
      <option value="">{data?.length === 0 ? 'There is none yet' : '–'}</option>
      {data?.map((option) => (
        <option key={option.id} value={option.id}>
          {option.name}
        </option>
      ))}
    </select>
  );
}

/** The name of a FIXED product, from those that exist or a new one. */
function ChargedInput({ field, values, set, id, described }: InputProps) {
  const { data = [] } = useProducts();
  return (
    <>
      <input
        id={id}
        {...described}
        list={`${id}-names`}
        autoComplete="off"
        value={textOf(values, field.at)}
        onChange={({ target }) => set(field.at, target.value)}
      />
      <datalist id={`${id}-names`}>
        {data
          .filter(({ type }) => type === 'FIXED')
          .map(({ id: product, current }) => (
            <option key={product} value={current.name} />
          ))}
      </datalist>
    </>
  );
}

function List(props: InputProps) {
  const { field, own, values, set, before = '' } = props;
  const { at, fields = [], entry = 'entry' } = field;
  const entries = entriesOf(values, at);
  const put = (index: number, inner: Values) => set(at, entries.with(index, inner));
  return (
    <>
      {entries.map((inner, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries have no id until they are created.
        <div key={index} className={styles.entry}>
          <Fields
            {...props}
            fields={fields}
            schema={own.items ?? own}
            values={inner}
            before={`${before}${at}[${index}].`}
            set={(name, value) => put(index, { ...inner, [name]: value })}
          />
          <button
            type="button"
            aria-label={`Remove ${entry} ${index + 1}`}
            onClick={() => set(at, entries.toSpliced(index, 1))}
          >
            Remove
          </button>
        </div>
      ))}
      <button type="button" onClick={() => set(at, [...entries, startOf(fields, props.today)])}>
        {addText(entry)}
      </button>
      {field.pasted === undefined ? null : <Paste {...props} columns={field.pasted} />}
    </>
  );
}

/** `Add a charge`, `Add an override`. */
function addText(entry: string): string {
  return `Add ${/^[aeiou]/.test(entry) ? 'an' : 'a'} ${entry}`;
}

/** Entries from rows of a sheet: products by their names. Rows that are not added stay, with the reason. */
function Paste({
  field,
  values,
  today,
  unit,
  set,
  columns,
}: InputProps & { readonly columns: readonly string[] }) {
  const { fields = [], at } = field;
  const { data = [] } = useProducts();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const text = textOf(values, rowsAt(at));
  const [isOpen, setOpen] = useState(text !== '');
  const take = () => {
    const objects = data.map(({ id, current: { name } }) => ({ id, name }));
    const pasted = entriesIn(text, { columns, fields, objects, today, unit });
    set(at, [...entriesOf(values, at), ...pasted.entries]);
    set(rowsAt(at), pasted.unused);
    setProblems(pasted.problems);
  };
  const names = columns.map((column) => fields.find((each) => each.at === column)?.label ?? column);
  return (
    <details
      className={styles.paste}
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>Paste from a sheet</summary>
      <label className={styles.field}>
        <span className={styles.hint}>Columns: {names.join(', ')}</span>
        <textarea rows={4} value={text} onChange={({ target }) => set(rowsAt(at), target.value)} />
      </label>
      <button type="button" disabled={text.trim() === ''} onClick={take}>
        Add these rows
      </button>
      <Problem text={problems.length === 0 ? null : problems.join('. ')} />
    </details>
  );
}

function Pairs({ field, values, set }: InputProps) {
  const entries = entriesOf(values, field.at);
  const put = (index: number, entry: Values) => set(field.at, entries.with(index, entry));
  return (
    <>
      {entries.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a pair has no name while its name is written.
        <div key={index} className={styles.pair}>
          {(['key', 'value'] as const).map((part) => (
            <input
              key={part}
              aria-label={`${part === 'key' ? 'Name' : 'Value'} ${index + 1}`}
              placeholder={part === 'key' ? 'name' : 'value'}
              value={textOf(entry, part)}
              onChange={({ target }) => put(index, { ...entry, [part]: target.value })}
            />
          ))}
          <button
            type="button"
            aria-label={`Remove ${index + 1}`}
            onClick={() => set(field.at, entries.toSpliced(index, 1))}
          >
            Remove
          </button>
        </div>
      ))}
      <button type="button" onClick={() => set(field.at, [...entries, {}])}>
        Add a field
      </button>
    </>
  );
}

function choicesOf({ items }: FieldSchema): readonly string[] {
  return items?.choices ?? [];
}

/** Any of many words, each with a box. */
function Choices({ field, own, values, set }: InputProps) {
  const chosen = textsIn(textOf(values, field.at));
  const toggle = (choice: string, isChosen: boolean) =>
    set(field.at, (isChosen ? [...chosen, choice] : chosen.filter((each) => each !== choice)).join('\n'));
  return (
    <section className={styles.choices} aria-label={field.label} tabIndex={0}>
      {choicesOf(own).map((choice) => (
        <label key={choice} className={styles.check}>
          <input
            type="checkbox"
            checked={chosen.includes(choice)}
            onChange={({ target }) => toggle(choice, target.checked)}
          />
          {choice}
        </label>
      ))}
    </section>
  );
}
