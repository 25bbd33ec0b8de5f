/** The lines of an invoice that a credit note can take back, with what each still has and a field for the credit. */
import Big from 'big.js';
import type { Exact } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { type CreditType, currencyOf, inUnits, unitText } from '../../format/money.ts';
import { textOf, type Value, type Values } from '../../forms/field.ts';
import { LineAmount, Quantity } from '../../parts/figures.tsx';
import { wholeName } from '../../parts/line-names.ts';
import { Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import styles from './credit.module.css';
import { placeOfLine, type Way } from './credit-values.ts';
import { type Invoice, nameOfBalance } from './line.ts';

type Open = Schemas['CreditableLine'];

interface LinesProps {
  readonly invoice: Invoice;
  readonly open: Schemas['CreditableInvoice'];
  readonly way: 'amount' | 'quantity';
  readonly values: Values;
  /** By the id of the line. */
  readonly problems: ReadonlyMap<string, string>;
  set(at: string, value: Value): void;
}

export function CreditedLines(props: LinesProps) {
  const { open, invoice, way } = props;
  const unit = open.credit_type;
  const names = new Map(invoice.line_items.map((line) => [line.id, line]));
  const columns: Column<Open>[] = [
    {
      title: 'Line',
      cell: (line) => <Name line={line} of={names.get(line.line_item_id)} invoice={invoice} />,
    },
    {
      title: 'Quantity',
      kind: 'number',
      cell: ({ quantity }) => <Quantity value={quantity} />,
    },
    { title: 'Billed', kind: 'number', cell: ({ amount }) => <LineAmount amount={amount} unit={unit} /> },
    { title: 'Left', kind: 'number', cell: (line) => <LineAmount amount={line.left_amount} unit={unit} /> },
    {
      title: way === 'amount' ? `Credit (${unitText(unit)})` : 'Credit (quantity)',
      kind: 'number',
      cell: (line) => <Credit {...props} line={line} name={nameOf(line, names)} />,
    },
  ];
  return (
    <Table
      label="Lines that can be credited"
      columns={columns}
      rows={open.lines}
      keyOf={({ line_item_id: id }) => id}
    />
  );
}

type Names = ReadonlyMap<string, Invoice['line_items'][number]>;

function nameOf(line: Open, names: Names): string {
  const own = names.get(line.line_item_id);
  return own === undefined ? line.name : wholeName(own);
}

function Name(props: {
  readonly line: Open;
  readonly of: Invoice['line_items'][number] | undefined;
  readonly invoice: Invoice;
}) {
  const { line, of, invoice } = props;
  const payer = of?.commit_id === undefined ? undefined : nameOfBalance(invoice, of.commit_id);
  return (
    <span className={styles.line}>
      {of === undefined ? line.name : wholeName(of)}
      {line.paid_by === 'balance' ? (
        <span className="soft small"> paid by {payer ?? 'a balance'}, which gets it back</span>
      ) : null}
    </span>
  );
}

function Credit(props: LinesProps & { readonly line: Open; readonly name: string }) {
  const { line, way, values, name, problems, set } = props;
  const left = new Big(line.left_amount);
  if (left.eq(0)) return <span className="soft">all of it is credited</span>;
  const place = placeOfLine(way, line.line_item_id);
  const problem = problems.get(line.line_item_id) ?? null;
  return (
    <>
      <span className={styles.credit}>
        <input
          aria-label={`Credit of ${name}`}
          inputMode="decimal"
          autoComplete="off"
          value={textOf(values, place)}
          {...(problem === null ? {} : { 'aria-invalid': true as const })}
          onChange={({ target }) => set(place, target.value)}
        />
        {way === 'amount' ? (
          <button
            type="button"
            aria-label={`All of ${name}`}
            onClick={() => set(place, allText(line.left_amount, props.open.credit_type))}
          >
            All
          </button>
        ) : null}
      </span>
      <Problem text={problem} />
    </>
  );
}

/** An amount as it is typed: in dollars, with all its digits. */
function allText(amount: Exact, unit: CreditType): string {
  const currency = currencyOf(unit);
  return (currency === null ? new Big(amount) : inUnits(amount, currency)).toFixed();
}

/** The entries that credit all that is left of each line. */
export function allOf({ lines, credit_type: unit }: Schemas['CreditableInvoice'], way: Way): Values {
  return Object.fromEntries(
    lines
      .filter((line) => !new Big(line.left_amount).eq(0))
      .map((line) => [placeOfLine(way, line.line_item_id), allText(line.left_amount, unit)]),
  );
}
