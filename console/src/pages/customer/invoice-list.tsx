/** Invoices of one customer, drafts first. */
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import { periodText } from '../../format/time.ts';
import { Download } from '../../parts/download.tsx';
import { CopyId, Day, Money, Status } from '../../parts/figures.tsx';
import { Field, Filters, Section } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';

type Invoice = Schemas['Invoice'];
const route = getRouteApi('/customers/$customerId');
const LIST = 'GET /v1/customers/{customer_id}/invoices';

const COLUMNS: readonly Column<Invoice>[] = [
  {
    title: 'Invoice',
    cell: ({ id, customer_id, invoice_number, status, type }) => (
      <Link to="/invoices/$customerId/$invoiceId" params={{ customerId: customer_id, invoiceId: id }}>
        {invoice_number ?? (status === 'DRAFT' ? 'Draft' : 'not numbered yet')}
        {type === 'SCHEDULED' ? ', scheduled' : type === 'USAGE_CONSOLIDATED' ? ', consolidated' : ''}
      </Link>
    ),
  },
  { title: 'State', cell: ({ status }) => <Status state={status} /> },
  {
    title: 'Period (UTC)',
    cell: ({ start_timestamp, end_timestamp }) =>
      start_timestamp === undefined || end_timestamp === undefined
        ? ''
        : periodText(start_timestamp, end_timestamp),
  },
  { title: 'Issued or expected', cell: ({ issued_at }) => <Day at={issued_at} /> },
  { title: 'Lines', kind: 'number', cell: ({ line_items }) => line_items.length },
  {
    title: 'Warnings',
    kind: 'number',
    cell: ({ warnings }) => (warnings.length === 0 ? '' : <span className="warn">{warnings.length}</span>),
  },
  {
    title: 'Total',
    kind: 'number',
    cell: ({ total, credit_type }) => <Money amount={total} unit={credit_type} />,
  },
  { title: 'Id', cell: ({ id }) => <CopyId id={id} /> },
];

export function InvoiceTable({
  label,
  invoices,
}: {
  readonly label: string;
  readonly invoices: readonly Invoice[];
}) {
  return <Table label={label} columns={COLUMNS} rows={invoices} keyOf={({ id }) => id} />;
}

export function InvoiceList({ customerId }: { readonly customerId: string }) {
  const { status, page, cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const params = { customer_id: customerId };
  const query = useApi(LIST, {
    params,
    query: { limit: '25', next_page: cursor, status, sort: 'date_desc' },
  });
  return (
    <Section
      title="Invoices"
      aside={
        <Download
          operation={LIST}
          input={{ params, query: { status } }}
          mediaType="text/csv"
          fileName="invoices.csv"
        >
          CSV
        </Download>
      }
    >
      <Filters>
        <Field label="State">
          <select
            value={status ?? ''}
            onChange={({ target }) => void navigate({ search: { view: 'invoices', status: target.value } })}
          >
            <option value="">all</option>
            <option value="DRAFT">draft</option>
            <option value="FINALIZED">finalized</option>
            <option value="VOID">void</option>
          </select>
        </Field>
        <Pager
          list={`invoices ${customerId} ${status}`}
          search={{ page, cursor }}
          next={query.data?.next_page}
        />
      </Filters>
      <Loaded query={query} what="invoices">
        {({ data }) =>
          data.length === 0 ? (
            <Empty>No invoice matches. A contract creates one for each billing period.</Empty>
          ) : (
            <InvoiceTable label="Invoices" invoices={data} />
          )
        }
      </Loaded>
    </Section>
  );
}
