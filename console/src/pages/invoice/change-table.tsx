/** The change against the invoice before, split into its reasons. */
import { Link } from '@tanstack/react-router';
import type { Exact } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import type { CreditType } from '../../format/money.ts';
import { periodText } from '../../format/time.ts';
import { Difference, Money } from '../../parts/figures.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import type { Invoice } from './line.ts';

type Change = Schemas['InvoiceChange'];

export function ChangeView({ invoice }: { readonly invoice: Invoice }) {
  const { customer_id, id, start_timestamp } = invoice;
  const query = useApi('GET /v1/customers/{customer_id}/invoices/{invoice_id}/change', {
    params: { customer_id, invoice_id: id },
  });
  if (start_timestamp === undefined) return <Empty>A scheduled invoice has no invoice before it.</Empty>;
  return (
    <Loaded query={query} what="the invoice before">
      {({ data }) =>
        data.former_invoice === undefined ? (
          <Empty>There is no finalized invoice before this one: nothing to compare with.</Empty>
        ) : (
          <>
            <p className="small">
              Against{' '}
              <Link
                to="/invoices/$customerId/$invoiceId"
                params={{ customerId: customer_id, invoiceId: data.former_invoice.id }}
              >
                {data.former_invoice.invoice_number ?? 'the invoice before'}
              </Link>
              , {periodText(data.former_invoice.start_timestamp, data.former_invoice.end_timestamp)}, UTC.
              {invoice.status === 'DRAFT' ? ' This one is a draft: its period is not over.' : null}
            </p>
            <ChangeTable change={data} unit={invoice.credit_type} />
          </>
        )
      }
    </Loaded>
  );
}

interface Row {
  readonly name: string;
  readonly former_total?: Exact;
  readonly total?: Exact;
  readonly change?: Exact | undefined;
  readonly price_change?: Exact;
  readonly volume_change?: Exact;
  readonly mix_change?: Exact;
}

function ChangeTable({ change, unit }: { readonly change: Change; readonly unit: CreditType }) {
  return (
    <>
      <Table
        label="Change by product and reason"
        columns={columnsOf(change, unit)}
        rows={rowsOf(change)}
        keyOf={({ name }, index) => `${index} ${name}`}
      />
      <p className="soft small">
        Volume: the change of the quantity at the former average price. Price: the present quantities at the
        present and the former price of each group. Mix: what groups that grew or shrank against each other,
        or are new, add. Terms: subscriptions, charges, commits, credits and conversions. Together they are
        the change, exactly.
      </p>
    </>
  );
}

function rowsOf({ products, reasons }: Change): Row[] {
  const terms = reasons?.terms_change;
  return [
    ...products.map(({ product_name: name, ...rest }) => ({ name, ...rest })),
    ...(Number(terms ?? 0) === 0 ? [] : [{ name: 'Terms', change: terms }]),
  ];
}

function columnsOf({ total, former_invoice, change, reasons }: Change, unit: CreditType): Column<Row>[] {
  const column = (
    title: string,
    of: (row: Row) => Exact | undefined,
    foot: Exact | undefined,
    Shown: typeof Money | typeof Difference = Difference,
  ): Column<Row> => ({
    title,
    kind: 'number',
    cell: (row) => {
      const value = of(row);
      return value === undefined ? '' : <Shown amount={value} unit={unit} />;
    },
    foot: foot === undefined ? '' : <Shown amount={foot} unit={unit} />,
  });
  return [
    { title: 'Product', cell: ({ name }) => name, foot: 'Invoice' },
    column('Before', (row) => row.former_total, former_invoice?.total, Money),
    column('Now', (row) => row.total, total, Money),
    column('Change', (row) => row.change, change),
    column('Price', (row) => row.price_change, reasons?.price_change),
    column('Volume', (row) => row.volume_change, reasons?.volume_change),
    column('Mix', (row) => row.mix_change, reasons?.mix_change),
  ];
}
