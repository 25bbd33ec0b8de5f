/**
 * A form that asks an operation of the API. It has no rules: the API refuses what is wrong, and its words stand at the
 * field that they name.
 */
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { type AnswerOf, ApiError, callAll, type InputOf } from '../api/client.ts';
import { useChange } from '../api/queries.ts';
import type { ChangeKey } from '../api/resources.ts';
import type { CreditType } from '../format/money.ts';
import { Failure, Loaded } from '../parts/states.tsx';
import { useSession, useWriteRefusal } from '../session/session.ts';
import { bodyOf } from './body.ts';
import { DraftNote } from './draft-note.tsx';
import { keepDraft } from './drafts.ts';
import {
  entriesOf,
  type FormField,
  type FormStep,
  shownFields,
  startOf,
  textOf,
  type Value,
  type Values,
} from './field.ts';
import { Fields } from './fields.tsx';
import styles from './form.module.css';
import { useReference, useUnit } from './options.ts';
import { problemsOf } from './problems.ts';
import { bodySchema, type Reference } from './schema.ts';
import { useDraft } from './use-draft.ts';

export interface FormProps<Key extends ChangeKey> {
  readonly operation: Key;
  /** Tells its draft from those of other forms. */
  readonly name: string;
  readonly fields: readonly FormField[];
  readonly next?: FormStep<Key>;
  /** The words of its last button. */
  readonly action: string;
  /** Values that are known already, and ids for the paths of the operations. */
  readonly known?: Values;
  /** The version of the object that the first request changes. */
  readonly version?: string | undefined;
  done(answer: AnswerOf<Key>): void;
}

export function Form<Key extends ChangeKey>(props: FormProps<Key>) {
  const reference = useReference();
  return (
    <Loaded query={reference} what="the form">
      {(read) => <ReadyForm {...props} reference={read} />}
    </Loaded>
  );
}

type Ready<Key extends ChangeKey> = FormProps<Key> & { readonly reference: Reference };

function ReadyForm<Key extends ChangeKey>(props: Ready<Key>) {
  const { operation, fields, next, name, known, reference } = props;
  const today = useSession().now.slice(0, 10);
  const all = useMemo(() => [...fields, ...(next?.fields ?? [])], [fields, next]);
  const draft = useDraft(name, startOf(all, today, known));
  const { values, change } = draft;
  const unit = useUnit(fields, values);
  const refusal = useWriteRefusal();
  const send = useSend(props, unit);
  const [state, setState] = useState<{ readonly isRunning: boolean; readonly error?: unknown }>({
    isRunning: false,
  });
  const place = useFocusOnProblem(state.error);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setState({ isRunning: true });
    try {
      const answer = await send(values);
      keepDraft(name, null);
      props.done(answer);
    } catch (error) {
      setState({ isRunning: false, error });
    }
  };
  const { byField, rest } = problemsIn(state.error, all, values);
  const shared = { values, unit, today, problems: byField };
  const set = (at: string, value: Value) => change((before) => ({ ...before, [at]: value }));
  return (
    <form ref={place} className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
      <DraftNote {...draft} />
      <Fields {...shared} {...{ fields, set }} schema={bodySchema(reference, operation)} />
      {next === undefined ? null : (
        <Fields
          {...shared}
          {...{ set }}
          fields={next.fields}
          schema={bodySchema(reference, next.operation)}
        />
      )}
      {rest.map((text) => (
        <Failure key={text} error={text} />
      ))}
      <div className={styles.buttons}>
        <button type="submit" data-kind="main" disabled={state.isRunning || refusal !== undefined}>
          {props.action}
        </button>
        {refusal === undefined ? null : <span className="soft">{refusal}</span>}
      </div>
    </form>
  );
}

/** Sends the requests of a form. An answer is kept: if a later request is refused, it is not asked for again. */
function useSend<Key extends ChangeKey>(
  { operation, fields, next, reference, known = {}, version }: Ready<Key>,
  unit: CreditType,
): (values: Values) => Promise<AnswerOf<Key>> {
  const create = useChange(operation);
  const createNext = useChange(next?.operation ?? operation);
  const createProduct = useChange(PRODUCT);
  const input = (key: ChangeKey, body: unknown) => (key.includes('{') ? { params: known, body } : { body });
  const answered = useRef<AnswerOf<Key> | null>(null);
  // As of the time at which the form was opened: others may have changed the object since.
  const [ifMatch] = useState(version);
  return async (values) => {
    const all = [...fields, ...(next?.fields ?? [])];
    const products = await chargedProducts(namesOf(all, values), async (product) => {
      const { data } = await createProduct.mutateAsync({ body: { name: product, type: 'FIXED' } });
      return data.id;
    });
    const sent = (key: ChangeKey) => ({ schema: bodySchema(reference, key), unit, products });
    const body = bodyOf(fields, values, sent(operation));
    const first = { ...input(operation, body), ifMatch } as unknown as InputOf<Key>;
    const answer = answered.current ?? (await create.mutateAsync(first));
    answered.current = answer;
    if (next?.isWanted(values) === true) {
      const further = bodyOf(next.fields, { ...values, ...next.known(answer) }, sent(next.operation));
      await createNext.mutateAsync(input(next.operation, further) as unknown as InputOf<ChangeKey>);
    }
    return answer;
  };
}

export function problemsIn(error: unknown, fields: readonly FormField[], values: Values) {
  if (error instanceof ApiError && error.status === 400) return problemsOf(error.message, fields, values);
  const rest = error === undefined ? [] : [error instanceof Error ? error.message : String(error)];
  return { byField: new Map<string, string>(), rest };
}

/** After a refusal the first field that it names has the focus. */
export function useFocusOnProblem(error: unknown) {
  const place = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error !== undefined) place.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [error]);
  return place;
}

const PRODUCT = 'POST /v1/contract-pricing/products/create';
const LIST = 'POST /v1/contract-pricing/products/list';

/** The ids of the FIXED products with these names; those that do not exist are created. */
async function chargedProducts(
  names: readonly string[],
  create: (name: string) => Promise<string>,
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  if (names.length === 0) return ids;
  const products = await callAll(LIST, { body: {}, query: { limit: '100' } });
  for (const name of names) {
    const known = products.find(({ type, current }) => type === 'FIXED' && current.name === name);
    ids.set(name, known?.id ?? (await create(name)));
  }
  return ids;
}

function namesOf(fields: readonly FormField[], values: Values): string[] {
  const names = shownFields(fields, values).flatMap(({ at, kind, fields: inner = [] }) =>
    kind === 'charged'
      ? [textOf(values, at).trim()]
      : entriesOf(values, at).flatMap((entry) => namesOf(inner, entry)),
  );
  return [...new Set(names)].filter((name) => name !== '');
}
