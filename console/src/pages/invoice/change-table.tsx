/** The change against the invoice before, split into its reasons. */
import type Big from 'big.js';
import type { Schemas } from '../../api/operations.gen.d.ts';
import type { CreditType } from '../../format/money.ts';
import { Difference, Money } from '../../parts/figures.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type Change, changeOf } from './change.ts';

interface Row {
  readonly name: string;
  readonly before: Big | null;
  readonly now: Big | null;
  readonly change: Big;
  readonly price: Big | null;
  readonly volume: Big | null;
  readonly mix: Big | null;
}

export function ChangeTable(props: {
  readonly now: Schemas['Invoice'];
  readonly before: Schemas['Invoice'];
}) {
  const unit = props.now.credit_type;
  const change = changeOf(props.now, props.before);
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

function rowsOf({ products, terms }: Change): Row[] {
  const rows: Row[] = products.map((each) => ({ ...each, change: each.now.minus(each.before) }));
  return terms.eq(0)
    ? rows
    : [
        ...rows,
        { name: 'Terms', before: null, now: null, change: terms, price: null, volume: null, mix: null },
      ];
}

function columnsOf(change: Change, unit: CreditType): Column<Row>[] {
  const figure = (title: string, of: (row: Row) => Big | null, foot: Big): Column<Row> => ({
    title,
    kind: 'number',
    cell: (row) => {
      const value = of(row);
      return value === null ? '' : <Difference amount={value} unit={unit} />;
    },
    foot: <Difference amount={foot} unit={unit} />,
  });
  const amount = (title: string, of: (row: Row) => Big | null, foot: Big): Column<Row> => ({
    ...figure(title, of, foot),
    cell: (row) => {
      const value = of(row);
      return value === null ? '' : <Money amount={value} unit={unit} />;
    },
    foot: <Money amount={foot} unit={unit} />,
  });
  return [
    { title: 'Product', cell: ({ name }) => name, foot: 'Invoice' },
    amount('Before', ({ before }) => before, change.before),
    amount('Now', ({ now }) => now, change.now),
    figure('Change', (row) => row.change, change.now.minus(change.before)),
    figure('Price', ({ price }) => price, change.price),
    figure('Volume', ({ volume }) => volume, change.volume),
    figure('Mix', ({ mix }) => mix, change.mix),
  ];
}
