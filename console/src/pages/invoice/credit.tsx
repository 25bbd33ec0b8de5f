/** Issues a credit note for an invoice: its lines and amounts, then what happens where, then *Issue*. */
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { type BodyOf, call } from '../../api/client.ts';
import { writeExact } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { DraftNote } from '../../forms/draft-note.tsx';
import { keepDraft } from '../../forms/drafts.ts';
import { startOf, textOf, type Value } from '../../forms/field.ts';
import { Fields } from '../../forms/fields.tsx';
import formStyles from '../../forms/form.module.css';
import { problemsIn, useFocusOnProblem } from '../../forms/form.tsx';
import { useReference } from '../../forms/options.ts';
import { bodySchema, type Reference } from '../../forms/schema.ts';
import { useDraft } from '../../forms/use-draft.ts';
import { useSaid } from '../../forms/use-said.ts';
import { Money } from '../../parts/figures.tsx';
import { Page, Section, Switch } from '../../parts/page.tsx';
import { Failure, Loaded, Loading } from '../../parts/states.tsx';
import { useSession, useWriteRefusal } from '../../session/session.ts';
import {
  bodyFields,
  NOTE_FIELDS,
  noteBody,
  noteValues,
  problemsOfLines,
  WAYS,
  type Way,
  wayOf,
} from './credit-values.ts';
import { allOf, CreditedLines } from './credited-lines.tsx';
import type { Invoice } from './line.ts';
import { NoteEffect } from './note-effect.tsx';

const route = getRouteApi('/invoices/$customerId/$invoiceId/credit');
const CREATE = 'POST /v1/invoices/creditNotes/create';
const PREVIEW = 'POST /v1/invoices/creditNotes/preview';

export function CreditInvoice() {
  const { customerId, invoiceId } = route.useParams();
  const params = { customer_id: customerId, invoice_id: invoiceId };
  const query = useApi('GET /v1/customers/{customer_id}/invoices/{invoice_id}', {
    params,
    query: { include_list_prices: 'true' },
  });
  const open = useApi('GET /v1/customers/{customer_id}/invoices/{invoice_id}/creditable', { params });
  const reference = useReference();
  const name = query.data?.data.invoice_number;
  return (
    <Page
      title={name === undefined ? 'Credit an invoice' : `Credit ${name}`}
      about={
        <Link to="/invoices/$customerId/$invoiceId" params={{ customerId, invoiceId }}>
          The invoice
          {query.data === undefined ? '' : ` of ${query.data.data.customer_name ?? 'the customer'}`}
        </Link>
      }
    >
      <Loaded query={query} what="the invoice">
        {({ data: invoice }) => (
          <Loaded query={open} what="what can be credited">
            {({ data }) => (
              <Loaded query={reference} what="the form">
                {(read) => <CreditForm invoice={invoice} open={data} reference={read} />}
              </Loaded>
            )}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

interface CreditProps {
  readonly invoice: Invoice;
  readonly open: Schemas['CreditableInvoice'];
  readonly reference: Reference;
}

/** Tells a repeated request from a second note; browsers have no `randomUUID` over plain HTTP. */
function newKey(): string {
  return `console-${[...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-')}`;
}

/** The note as it is entered, and what the service says of it. A change of the form forgets what was said. */
function useNote({ invoice, open, reference }: CreditProps) {
  const today = useSession().now.slice(0, 10);
  const draft = useDraft(`credit ${invoice.id}`, startOf(NOTE_FIELDS, today));
  const [key] = useState(newKey);
  const lines = open.lines.map(({ line_item_id: id }) => id);
  const values = noteValues(draft.values, { invoiceId: invoice.id, lines, key });
  const schema = bodySchema(reference, CREATE);
  const body = noteBody(values, schema, open.credit_type);
  const { said, ask: askFor, refuse } = useSaid<Schemas['CreditNotePreview']>(writeExact(body));
  const error = said?.state === 'refused' ? said.error : undefined;
  const ask = () => askFor(async () => (await call(PREVIEW, { body: body as BodyOf<typeof PREVIEW> })).data);
  const problems = problemsIn(error, bodyFields(wayOf(values)), values);
  const place = useFocusOnProblem(error);
  return { draft, values, body, schema, today, said, problems, place, ask, refuse };
}

type Note = ReturnType<typeof useNote>;

function CreditForm(props: CreditProps) {
  const { invoice, open } = props;
  const note = useNote(props);
  const { draft, values, problems, said } = note;
  const way = wayOf(values);
  const set = (at: string, value: Value) => draft.change((before) => ({ ...before, [at]: value }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void note.ask();
  };
  return (
    <form ref={note.place} className={formStyles.whole} noValidate onSubmit={submit}>
      <DraftNote {...draft} />
      <Section
        title="What is credited"
        aside={
          <span>
            <Money amount={open.left_amount} unit={open.credit_type} /> is left of the invoice
          </span>
        }
      >
        <Ways invoice={invoice} way={way} choose={(chosen) => set('way', chosen)} />
        {way === 'difference' ? (
          <p>
            Each line is credited by what it would be less if the invoice were computed today: after a
            retroactive price, or usage that was taken back.
          </p>
        ) : (
          <>
            <CreditedLines
              {...{ invoice, open, way, values, set }}
              problems={problemsOfLines(values, problems.byField)}
            />
            {way === 'amount' ? (
              <p>
                <button
                  type="button"
                  onClick={() => draft.change((before) => ({ ...before, ...allOf(open, way) }))}
                >
                  Credit all that is left
                </button>
              </p>
            ) : null}
          </>
        )}
      </Section>
      <Section title="Why, and where the money goes">
        <div className={formStyles.form}>
          <Fields
            fields={NOTE_FIELDS}
            {...{ values, set }}
            {...{ schema: note.schema, today: note.today, unit: open.credit_type }}
            problems={problems.byField}
          />
          {[...problems.rest, ...ofTheWhole(problems.byField)].map((text) => (
            <Failure key={text} error={text} />
          ))}
          <div className={formStyles.buttons}>
            <button type="submit" data-kind={said?.state === 'shown' ? undefined : 'main'}>
              Show what happens
            </button>
          </div>
        </div>
      </Section>
      <Effect invoice={invoice} note={note} />
    </form>
  );
}

/** Problems of the lines together, or of the invoice, which no field shows. */
function ofTheWhole(problems: ReadonlyMap<string, string>): string[] {
  return ['lines', 'invoice_id', 'difference_to_regenerated', 'uniqueness_key'].flatMap(
    (place) => problems.get(place) ?? [],
  );
}

function Ways(props: { readonly invoice: Invoice; readonly way: Way; choose(way: Way): void }) {
  const { invoice, way, choose } = props;
  // Only usage is computed again.
  const views = WAYS.filter(([each]) => each !== 'difference' || invoice.type === 'USAGE');
  return <Switch label="How the credit is given" views={views} current={way} onChoose={choose} />;
}

function Effect({ invoice, note }: { readonly invoice: Invoice; readonly note: Note }) {
  const { said } = note;
  const id = useId();
  if (said === null || said.state === 'refused') return null;
  return (
    <Section title="What happens">
      {said.state === 'shown' ? (
        <>
          <NoteEffect invoice={invoice} preview={said.answer} />
          <Issue invoice={invoice} note={note} describedBy={id} />
        </>
      ) : (
        <Loading what="the preview" />
      )}
    </Section>
  );
}

function Issue(props: { readonly invoice: Invoice; readonly note: Note; readonly describedBy: string }) {
  const { invoice, note, describedBy } = props;
  const create = useChange(CREATE);
  const navigate = useNavigate();
  const refusal = useWriteRefusal();
  const issue = async () => {
    try {
      const { data } = await create.mutateAsync({ body: note.body as BodyOf<typeof CREATE> });
      keepDraft(`credit ${invoice.id}`, null);
      await navigate({
        to: '/invoices/$customerId/$invoiceId',
        params: { customerId: invoice.customer_id, invoiceId: invoice.id },
        search: { note: data.id },
      });
    } catch (error) {
      note.refuse(error);
    }
  };
  const reason = textOf(note.values, 'reason').replaceAll('_', ' ');
  return (
    <div className={formStyles.buttons}>
      <button
        type="button"
        data-kind="main"
        disabled={refusal !== undefined || create.isPending}
        aria-describedby={describedBy}
        onClick={() => void issue()}
      >
        Issue
      </button>
      <span className="soft" id={describedBy}>
        {refusal ??
          `The note gets its number at once (${reason}). It can be voided until the month of its issue is over.`}
      </span>
    </div>
  );
}
