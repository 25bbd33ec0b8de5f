/**
 * A form that asks an operation of the API. It has no rules: the API refuses what is wrong, and its words stand at the
 * field that they name.
 */
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { type AnswerOf, ApiError, type InputOf } from '../api/client.ts';
import { useChange } from '../api/queries.ts';
import type { ChangeKey } from '../api/resources.ts';
import type { CreditType } from '../format/money.ts';
import { Failure, Loaded } from '../parts/states.tsx';
import { useSession, useWriteRefusal } from '../session/session.ts';
import { bodyOf } from './body.ts';
import { chargedNames, chargedProducts, namedProducts, notYet, withStandIns } from './charged.ts';
import type { FormRequest } from './copy-as.ts';
import { CopyAs } from './copy-buttons.tsx';
import { Costs, costsOf } from './costs.tsx';
import { DraftNote } from './draft-note.tsx';
import { keepDraft } from './drafts.ts';
import { type FormField, type FormStep, startOf, type Value, type Values } from './field.ts';
import { Fields } from './fields.tsx';
import styles from './form.module.css';
import { useReference, useUnit } from './options.ts';
import { hasUnusedRows } from './paste.ts';
import { problemsOf } from './problems.ts';
import { bodySchema, type Reference } from './schema.ts';
import { useDraft } from './use-draft.ts';
import { useSaid } from './use-said.ts';

export interface FormProps<Key extends ChangeKey> {
  readonly operation: Key;
  /** Tells its draft from those of other forms. */
  readonly name: string;
  readonly fields: readonly FormField[];
  readonly next?: FormStep<Key>;
  /** The words of its last button. */
  readonly action: string;
  /** Whether its body is an edit of a contract, whose invoices can be previewed. */
  readonly showsCosts?: boolean;
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

/** The values of a form, and whatever it does with them. */
function useForm<Key extends ChangeKey>(props: Ready<Key>) {
  const { fields, next, name, known } = props;
  const { now } = useSession();
  const today = now.slice(0, 10);
  const all = useMemo(() => [...fields, ...(next?.fields ?? [])], [fields, next]);
  const draft = useDraft(name, startOf(all, today, known));
  const { values } = draft;
  const unit = useUnit(fields, values);
  const send = useSend(props, unit);
  const costs = useSaid<Awaited<ReturnType<typeof costsOf>>>(JSON.stringify(values));
  const [state, setState] = useState<Sending>({ isRunning: false });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (hasUnusedRows(all, values)) return setState({ isRunning: false, error: UNUSED_ROWS });
    setState({ isRunning: true });
    try {
      const answer = await send(values);
      keepDraft(name, null);
      props.done(answer);
    } catch (error) {
      setState({ isRunning: false, error });
    }
  };
  const showCosts = () => {
    setState({ isRunning: false });
    return costs.ask(async () => costsOf(await bodyToPreview(props, values, unit), now));
  };
  const refused = state.error ?? (costs.said?.state === 'refused' ? asEdit(costs.said.error) : undefined);
  const problems = problemsIn(refused, all, values);
  const place = useFocusOnProblem(refused);
  const requests = () => requestsOf(props, values, unit);
  return {
    ...{ draft, values, unit, today, costs, showCosts, submit, requests },
    ...{ problems, place, isRunning: state.isRunning },
  };
}

interface Sending {
  readonly isRunning: boolean;
  readonly error?: unknown;
}

const UNUSED_ROWS = new Error(
  'Rows of a sheet are pasted and not added: add them, or empty the field, before this is saved.',
);

function ReadyForm<Key extends ChangeKey>(props: Ready<Key>) {
  const { operation, fields, next, reference } = props;
  const form = useForm(props);
  const { values, unit, today, problems, draft } = form;
  const shared = { values, unit, today, problems: problems.byField };
  const set = (at: string, value: Value) => draft.change((before) => ({ ...before, [at]: value }));
  return (
    <form ref={form.place} className={styles.form} onSubmit={(event) => void form.submit(event)} noValidate>
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
      {problems.rest.map((text) => (
        <Failure key={text} error={text} />
      ))}
      <Buttons {...props} {...form} />
      <Costs said={form.costs.said} />
    </form>
  );
}

interface ButtonsProps {
  readonly action: string;
  readonly isRunning: boolean;
  readonly showsCosts?: boolean;
  showCosts(): Promise<void>;
  requests(): Promise<readonly FormRequest[]>;
}

function Buttons({ action, isRunning, showsCosts = false, showCosts, requests }: ButtonsProps) {
  const refusal = useWriteRefusal();
  return (
    <div className={styles.buttons}>
      <button type="submit" data-kind="main" disabled={isRunning || refusal !== undefined}>
        {action}
      </button>
      {showsCosts ? (
        <button type="button" onClick={() => void showCosts()}>
          Show what it costs
        </button>
      ) : null}
      <CopyAs requests={requests} />
      {refusal === undefined ? null : <span className="soft">{refusal}</span>}
    </div>
  );
}

type Described<Key extends ChangeKey> = Pick<
  Ready<Key>,
  'operation' | 'fields' | 'next' | 'reference' | 'known'
>;

/** The body of the first request, with products that exist in the place of new ones. */
async function bodyToPreview<Key extends ChangeKey>(
  { operation, fields, reference }: Described<Key>,
  values: Values,
  unit: CreditType,
): Promise<unknown> {
  const { products, added } = await namedProducts(chargedNames(fields, values), notYet);
  const body = bodyOf(fields, values, { schema: bodySchema(reference, operation), unit, products });
  return withStandIns(body, added);
}

/** The problems of an edit stand at its fields, and not at those of the preview. */
function asEdit(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  return new ApiError(error.status, error.message.replaceAll(/(^|; )edit\./g, '$1'), error.details);
}

/** The requests that sending the form makes, those of products that it creates first. */
async function requestsOf<Key extends ChangeKey>(
  { operation, fields, next, reference, known = {} }: Described<Key>,
  values: Values,
  unit: CreditType,
): Promise<FormRequest[]> {
  const all = [...fields, ...(next?.fields ?? [])];
  const idOf = (name: string) => `the id of ${name}`;
  const { products, added } = await namedProducts(chargedNames(all, values), idOf);
  const sent = (key: ChangeKey) => ({ schema: bodySchema(reference, key), unit, products });
  const requests = added.map(
    (name): FormRequest => ({
      ...{ operation: PRODUCT, params: {} },
      body: { name, type: 'FIXED' },
    }),
  );
  requests.push({ operation, params: known, body: bodyOf(fields, values, sent(operation)) });
  if (next?.isWanted(values) === true) {
    const answered = { data: { id: 'the id in the answer' } } as AnswerOf<Key>;
    const further = bodyOf(next.fields, { ...values, ...next.known(answered) }, sent(next.operation));
    requests.push({ operation: next.operation, params: known, body: further });
  }
  return requests;
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
    const products = await chargedProducts(chargedNames(all, values), async (product) => {
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
