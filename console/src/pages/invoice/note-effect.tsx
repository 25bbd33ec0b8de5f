/** Where a credit note goes: money by its settlement, balances that get something back, and its lines. */
import Big from 'big.js';
import { type Exact, exact, sum } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import type { CreditType } from '../../format/money.ts';
import { CopyId, Difference, LineAmount, Money, Quantity } from '../../parts/figures.tsx';
import { wholeName } from '../../parts/line-names.ts';
import { Fact, Facts } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type Invoice, nameOfBalance } from './line.ts';

type Preview = Schemas['CreditNotePreview'];
type NoteLine = Schemas['CreditNoteLine'];

export function NoteEffect({ invoice, preview }: { readonly invoice: Invoice; readonly preview: Preview }) {
  const { credit_type: unit, payable_amount: payable } = invoice;
  const then = new Big(payable).minus(preview.subtotal);
  return (
    <>
      <Facts>
        <Fact label="Credited" note={<TaxNote preview={preview} />}>
          <Money amount={preview.total} unit={preview.credit_type} />
        </Fact>
        {SETTLED.filter(([name]) => !isZero(preview[name])).map(([name, label, note]) => (
          <Fact key={name} label={label} note={note}>
            <Money amount={preview[name]} unit={preview.credit_type} />
          </Fact>
        ))}
        {isZero(preview.balance_amount) ? null : (
          <Fact label="Back to balances" note="No money: usage that they had paid">
            <Money amount={preview.balance_amount} unit={preview.credit_type} />
          </Fact>
        )}
        <Fact
          label="To pay then"
          note={
            <>
              now <Money amount={payable} unit={unit} />
            </>
          }
        >
          <Money amount={then} unit={unit} />
        </Fact>
      </Facts>
      {preview.balances.length === 0 ? null : <ChangedBalances invoice={invoice} preview={preview} />}
      <NoteLines invoice={invoice} lines={preview.lines} unit={preview.credit_type} />
    </>
  );
}

const SETTLED = [
  ['offset_amount', 'Not to be paid any more', 'It was not paid yet'],
  ['refund_amount', 'To refund', 'It was paid: Stripe refunds it, else pay it back'],
  ['credit_balance_amount', 'Credit of the customer', 'Pays for the next usage here'],
] as const;

function isZero(amount: Exact): boolean {
  return new Big(amount).eq(0);
}

function TaxNote({ preview: { tax, subtotal, credit_type: unit } }: { readonly preview: Preview }) {
  if (isZero(tax)) return 'without tax';
  return (
    <>
      <Money amount={subtotal} unit={unit} /> and <Money amount={tax} unit={unit} /> of tax
    </>
  );
}

interface Changed {
  readonly id: string;
  readonly name: string | undefined;
  readonly amount: Big;
  readonly unit: CreditType;
}

/** Balances of a parent are not among those of the customer: their names are on the invoice. */
function ChangedBalances({ invoice, preview }: { readonly invoice: Invoice; readonly preview: Preview }) {
  const { data } = useApi('POST /v1/contracts/customerBalances/list', {
    body: { customer_id: invoice.customer_id, include_contract_balances: true },
  });
  const ids = [...new Set(preview.balances.map(({ commit_id }) => commit_id))];
  const rows = ids.map((id): Changed => {
    const own = data?.data.find((each) => each.id === id);
    return {
      id,
      name: own?.name ?? own?.product.name ?? nameOfBalance(invoice, id),
      amount: sum(preview.balances.filter(({ commit_id }) => commit_id === id).map(({ amount }) => amount)),
      unit: own?.access_schedule.credit_type ?? invoice.credit_type,
    };
  });
  return <Table label="Balances that change" columns={BALANCES} rows={rows} keyOf={({ id }) => id} />;
}

const BALANCES: readonly Column<Changed>[] = [
  { title: 'Balance', cell: ({ id, name }) => name ?? <CopyId id={id} /> },
  {
    title: 'Change',
    kind: 'number',
    cell: ({ amount, unit }) => <Difference amount={exact(amount)} unit={unit} />,
  },
];

export function NoteLines(props: {
  readonly invoice: Invoice;
  readonly lines: readonly NoteLine[];
  readonly unit: CreditType;
}) {
  const { invoice, lines, unit } = props;
  const known = new Map(invoice.line_items.map((line) => [line.id, line]));
  const columns: Column<NoteLine>[] = [
    {
      title: 'Credited line',
      cell: ({ line_item_id: id, name }) => {
        const line = known.get(id);
        return line === undefined ? name : wholeName(line);
      },
    },
    {
      title: 'Quantity',
      kind: 'number',
      cell: ({ quantity }) => (quantity === undefined ? '' : <Quantity value={quantity} />),
    },
    {
      title: 'Goes to',
      cell: ({ paid_by: payer, commit_id: id }) =>
        payer === 'money'
          ? 'the customer'
          : ((id && nameOfBalance(invoice, id)) ?? 'the balance that paid it'),
    },
    { title: 'Amount', kind: 'number', cell: ({ amount }) => <LineAmount amount={amount} unit={unit} /> },
  ];
  return (
    <Table
      label="Lines of the note"
      columns={columns}
      rows={lines}
      keyOf={({ line_item_id: id }, index) => `${id} ${index}`}
    />
  );
}
