/** The invoices of the customer, and one of them with its lines. */
import Big from 'big.js';
import { useState } from 'react';
import type { Schemas } from '../api/operations.gen.d.ts';
import { useApi } from '../api/queries.ts';
import { lineAmountText } from '../format/money.ts';
import { periodText } from '../format/time.ts';
import { balanceName, countsInTotal } from '../parts/billed-lines.ts';
import { Download } from '../parts/download.tsx';
import { Day, DocumentQuantity, LineAmount, Money, Price, Status } from '../parts/figures.tsx';
import { Empty, Loaded, Note } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';
import styles from './dashboard.module.css';
import { PageNumbers, usePages } from './pages.tsx';
import { useWords } from './shown.tsx';
import type { Words } from './words.ts';

type Listed = Schemas['DashboardInvoice'];
type Whole = Schemas['DashboardInvoiceWithLines'];
type Line = Schemas['DashboardInvoiceLine'];

const LIST = 'GET /v1/dashboards/invoices';
const ONE = 'GET /v1/dashboards/invoices/{invoice_id}';
const PDF = 'GET /v1/dashboards/invoices/{invoice_id}/pdf';

export function Invoices() {
  const [opened, setOpened] = useState<string | null>(null);
  const pages = usePages();
  const words = useWords();
  if (opened === null) return <InvoiceList pages={pages} open={setOpened} />;
  return (
    <>
      <button type="button" className={styles.action} onClick={() => setOpened(null)}>
        ← {words.allInvoices}
      </button>
      <OneInvoice id={opened} />
    </>
  );
}

function InvoiceList({
  pages,
  open,
}: {
  readonly pages: ReturnType<typeof usePages>;
  open(id: string): void;
}) {
  const words = useWords();
  const query = useApi(LIST, { query: { next_page: pages.cursor } });
  return (
    <Loaded query={query}>
      {({ data, next_page: next }) =>
        data.length === 0 ? (
          <Empty>{words.noInvoices}</Empty>
        ) : (
          <>
            <Table
              label={words.titles.invoices}
              columns={listColumns(words, open)}
              rows={data}
              keyOf={({ id }) => id}
            />
            <PageNumbers pages={pages} next={next} />
          </>
        )
      }
    </Loaded>
  );
}

function listColumns(words: Words, open: (id: string) => void): Column<Listed>[] {
  return [
    {
      title: words.invoice,
      cell: (invoice) => (
        <button type="button" data-kind="plain" className={styles.link} onClick={() => open(invoice.id)}>
          {nameOf(invoice, words)}
        </button>
      ),
    },
    { title: words.state, cell: ({ status }) => <State status={status} /> },
    { title: words.period, cell: periodOf },
    { title: words.date, cell: ({ issued_at: at }) => <Day at={at} /> },
    {
      title: words.total,
      kind: 'number',
      cell: ({ total, credit_type: unit }) => <Money amount={total} unit={unit} />,
    },
  ];
}

function nameOf({ invoice_number: number, status }: Listed, words: Words): string {
  return number ?? (status === 'DRAFT' ? words.draft : words.numberFollows);
}

function State({ status }: { readonly status: string }) {
  const { states } = useWords();
  return <Status state={states[status] ?? status} tone={status === 'FINALIZED' ? 'good' : 'quiet'} />;
}

function periodOf({ start_timestamp: start, end_timestamp: end }: Listed): string {
  return start === undefined || end === undefined ? '' : periodText(start, end);
}

function OneInvoice({ id }: { readonly id: string }) {
  const words = useWords();
  const params = { invoice_id: id };
  const query = useApi(ONE, { params });
  return (
    <Loaded query={query}>
      {({ data: invoice }) => (
        <section className={styles.part} aria-label={words.invoice}>
          <div className={styles.head}>
            <h2>{nameOf(invoice, words)}</h2>
            <State status={invoice.status} />
            <span className="soft">{periodOf(invoice)}</span>
            <span className="soft">
              {words.toPay} <Money amount={invoice.payable_amount} unit={invoice.credit_type} />
            </span>
            {invoice.due_at === undefined ? null : (
              <span className="soft">
                {words.due} <Day at={invoice.due_at} />
              </span>
            )}
            <span className={styles.end}>
              <Download
                operation={PDF}
                input={{ params }}
                mediaType="application/pdf"
                fileName={`${invoice.invoice_number ?? `draft-${id}`}.pdf`}
              >
                PDF
              </Download>
            </span>
          </div>
          {invoice.status === 'DRAFT' ? <Note>{words.draftNote}</Note> : null}
          <Table
            label={words.line}
            columns={lineColumns(invoice, words)}
            rows={invoice.line_items}
            keyOf={(line) => line.id}
          />
        </section>
      )}
    </Loaded>
  );
}

function lineColumns({ total, credit_type: unit }: Whole, words: Words): Column<Line>[] {
  return [
    { title: words.line, cell: (line) => <LineName line={line} words={words} />, foot: words.total },
    {
      title: words.quantity,
      kind: 'number',
      cell: ({ quantity }) => (quantity === undefined ? '' : <DocumentQuantity value={quantity} />),
    },
    {
      title: words.price,
      kind: 'number',
      cell: ({ unit_price: price, credit_type: own }) =>
        price === undefined ? '' : <Price amount={price} unit={own} />,
    },
    {
      title: words.amount,
      kind: 'number',
      cell: (line) =>
        countsInTotal(line) ? (
          <LineAmount amount={line.total} price={line.unit_price} unit={line.credit_type} />
        ) : null,
      foot: <LineAmount amount={total} unit={unit} />,
    },
  ];
}

function LineName({ line, words }: { readonly line: Line; readonly words: Words }) {
  const groups = { ...line.pricing_group_values, ...line.presentation_group_values };
  const details = [
    ...Object.entries(groups).map(([key, value]) => `${key} ${value}`),
    ...(line.tier === undefined ? [] : [`${words.tier} ${line.tier.level}`]),
    ...(line.is_prorated === true ? [words.prorated] : []),
  ];
  return (
    <>
      {countsInTotal(line) ? line.name : countedText(line, words)}
      {details.length === 0 ? null : <span className="soft"> {details.join(' · ')}</span>}
    </>
  );
}

/** An amount that counts towards a postpaid commit is due, and not deducted. */
function countedText(line: Line, words: Words): string {
  const total = new Big(line.total).abs();
  return `${balanceName(line)}: ${lineAmountText(total, total, line.credit_type)} ${words.counted}`;
}
