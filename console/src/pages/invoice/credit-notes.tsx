/** The credit notes of an invoice. */
import { getRouteApi, Link } from '@tanstack/react-router';
import Big from 'big.js';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Download } from '../../parts/download.tsx';
import { Day, Money, Status } from '../../parts/figures.tsx';
import { Section } from '../../parts/page.tsx';
import { Failure } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useWriteRefusal } from '../../session/session.ts';
import styles from './credit.module.css';
import type { Invoice } from './line.ts';
import { NoteLines } from './note-effect.tsx';

type Note = Schemas['CreditNote'];
const LIST = 'GET /v1/invoices/creditNotes';
const route = getRouteApi('/invoices/$customerId/$invoiceId');

export function CreditNotes({ invoice }: { readonly invoice: Invoice }) {
  const { note: chosen } = route.useSearch();
  const input = { query: { invoice_id: invoice.id, limit: '100' } };
  const { data, error } = useApi(LIST, input, { enabled: invoice.status !== 'DRAFT' });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined || data.data.length === 0) return null;
  return (
    <Section
      title="Credit notes"
      aside={
        <Download
          operation={LIST}
          input={input}
          mediaType="text/csv"
          fileName={`credit-notes-${invoice.id}.csv`}
        >
          CSV
        </Download>
      }
    >
      <Table
        label="Credit notes of the invoice"
        columns={columnsFor(chosen)}
        rows={data.data}
        keyOf={({ id }) => id}
        below={(note) => (note.id === chosen ? <Below note={note} invoice={invoice} /> : null)}
      />
      {data.next_page === null ? null : (
        <p className="soft small">These are 100 of them; the CSV has more.</p>
      )}
    </Section>
  );
}

function columnsFor(chosen: string | undefined): Column<Note>[] {
  return [
    { title: 'Number', cell: ({ number }) => number },
    { title: 'Issued', cell: ({ issued_at: at }) => <Day at={at} /> },
    { title: 'Reason', cell: ({ reason }) => reason.replaceAll('_', ' ') },
    {
      title: 'State',
      cell: ({ status }) => <Status state={status} tone={status === 'VOID' ? 'quiet' : 'good'} />,
    },
    { title: 'Goes to', cell: goesTo },
    {
      title: 'Amount',
      kind: 'number',
      cell: ({ total, balance_amount: back, credit_type: unit }) => (
        <Money amount={new Big(total).plus(back)} unit={unit} />
      ),
    },
    { title: 'Lines', cell: ({ id }) => <LinesLink id={id} isOpen={id === chosen} /> },
    { title: '', cell: (note) => (note.status === 'ISSUED' ? <VoidNote note={note} /> : null) },
  ];
}

const WORDS = [
  ['offset_amount', 'not to be paid'],
  ['refund_amount', 'refund'],
  ['credit_balance_amount', 'credit'],
  ['balance_amount', 'back to balances'],
] as const;

function goesTo(note: Note) {
  const parts = WORDS.filter(([name]) => !new Big(note[name]).eq(0));
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) return only[1];
  return parts.map(([name, words]) => (
    <span key={name} className="line">
      {words} <Money amount={note[name]} unit={note.credit_type} />
    </span>
  ));
}

function LinesLink({ id, isOpen }: { readonly id: string; readonly isOpen: boolean }) {
  return (
    <Link
      to="."
      search={((before: object) => ({ ...before, note: isOpen ? undefined : id })) as never}
      resetScroll={false}
      replace
    >
      {isOpen ? 'Close' : 'Lines'}
    </Link>
  );
}

function Below({ note, invoice }: { readonly note: Note; readonly invoice: Invoice }) {
  return (
    <div className={styles.below}>
      {note.memo === undefined ? null : <p>{note.memo}</p>}
      <NoteLines invoice={invoice} lines={note.lines} unit={note.credit_type} />
      <p className="soft small">Issued by {note.created_by}.</p>
    </div>
  );
}

function VoidNote({ note }: { readonly note: Note }) {
  const refusal = useWriteRefusal();
  const change = useChange('POST /v1/invoices/creditNotes/void');
  return (
    <Confirm
      action="Void"
      kind="danger"
      title={`Void ${note.number}?`}
      disabled={refusal !== undefined}
      reason={refusal}
      run={() => change.mutateAsync({ body: { id: note.id } })}
    >
      <p>
        The note keeps its number and takes nothing back any more. What it gave to balances is taken from them
        again, and its lines of the invoice can be credited by another note.
      </p>
    </Confirm>
  );
}
