/** The lines of an invoice, grouped as on its PDF: by product in each unit, with sums. */
import { Link } from '@tanstack/react-router';
import Big from 'big.js';
import { sum } from '../../api/exact.ts';
import { lineAmountText } from '../../format/money.ts';
import { periodText } from '../../format/time.ts';
import { balanceName, countsInTotal, isApplied, isRounded } from '../../parts/billed-lines.ts';
import { DocumentQuantity, LineAmount, Price } from '../../parts/figures.tsx';
import { detailsOf } from '../../parts/line-names.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { ExplainedLine } from './explained-line.tsx';
import styles from './invoice.module.css';
import type { Invoice, Line } from './line.ts';

type Row =
  | {
      readonly kind: 'group';
      readonly id: string;
      readonly name: string;
      readonly total: Big;
      readonly unit: Line['credit_type'];
    }
  | { readonly kind: 'line'; readonly id: string; readonly line: Line; readonly number: number };

export function Lines(props: { readonly invoice: Invoice; readonly explained: string | undefined }) {
  const { invoice, explained } = props;
  const notes = [
    ...(invoice.line_items.some(isRounded)
      ? ['Quantities and amounts are rounded for reading; sums are of the exact amounts, which the CSV has.']
      : []),
    ...(invoice.line_items.every(countsInTotal)
      ? []
      : [
          'What counts towards a commit is due with this invoice and is not deducted; what is missing at the end of the commit is billed then.',
        ]),
  ];
  return (
    <>
      <Table
        label="Lines of the invoice"
        columns={columnsFor(invoice, explained)}
        rows={rowsOf(invoice.line_items)}
        keyOf={({ id }) => id}
        below={(row) =>
          row.kind === 'line' && row.id === explained ? (
            <ExplainedLine invoice={invoice} line={row.line} number={row.number} />
          ) : null
        }
      />
      {notes.length === 0 ? null : <p className="soft small">{notes.join(' ')}</p>}
    </>
  );
}

function columnsFor(invoice: Invoice, explained: string | undefined): Column<Row>[] {
  return [
    {
      title: 'Line',
      cell: (row) =>
        row.kind === 'group' ? <b>{row.name}</b> : <LineName line={row.line} invoice={invoice} />,
      foot: 'Total',
    },
    {
      title: 'Quantity',
      kind: 'number',
      cell: (row) => (row.kind === 'line' ? <LineQuantity line={row.line} /> : ''),
    },
    {
      title: 'Unit price',
      kind: 'number',
      cell: (row) => (row.kind === 'line' ? <LinePrice line={row.line} /> : ''),
    },
    {
      title: 'Amount',
      kind: 'number',
      cell: (row) => <RowAmount row={row} />,
      foot: <LineAmount amount={invoice.total} unit={invoice.credit_type} />,
    },
    {
      title: 'Why',
      cell: (row) => (row.kind === 'line' ? <ExplainLink id={row.id} isOpen={row.id === explained} /> : ''),
    },
  ];
}

/** A line that is not deducted has no amount in the column, which a reader adds up; its name contains the amount. */
function RowAmount({ row }: { readonly row: Row }) {
  if (row.kind === 'line') {
    const { line } = row;
    if (!countsInTotal(line)) return null;
    return <LineAmount amount={line.total} price={line.unit_price} unit={line.credit_type} />;
  }
  return (
    <b>
      <LineAmount amount={row.total} unit={row.unit} />
    </b>
  );
}

function ExplainLink({ id, isOpen }: { readonly id: string; readonly isOpen: boolean }) {
  return (
    <Link
      to="."
      search={((before: object) => ({ ...before, line: isOpen ? undefined : id })) as never}
      resetScroll={false}
      replace
    >
      {isOpen ? 'Close' : 'Explain'}
    </Link>
  );
}

function rowsOf(lines: readonly Line[]): Row[] {
  const rows: Row[] = [];
  let group: Line[] = [];
  const closeGroup = () => {
    const [first] = group;
    if (first === undefined) return;
    const number = rows.filter(({ kind }) => kind === 'line').length;
    rows.push({
      kind: 'group',
      id: `group ${rows.length}`,
      name: groupName(first),
      total: sum(group.filter(countsInTotal).map(({ total }) => total)),
      unit: first.credit_type,
    });
    for (const [index, line] of group.entries()) {
      rows.push({ kind: 'line', id: line.id, line, number: number + index });
    }
    group = [];
  };
  for (const line of lines) {
    const [first] = group;
    if (first !== undefined && groupKey(first) !== groupKey(line)) closeGroup();
    group.push(line);
  }
  closeGroup();
  return rows;
}

/** Related lines are adjacent, including applied lines. */
function groupKey(line: Line): string {
  return `${line.credit_type.id} ${line.product_id ?? line.type}`;
}

function groupName({ name }: Line): string {
  return name.replace(/ (?:applied|\(minimum\))$/, '');
}

function LineName({ line, invoice }: { readonly line: Line; readonly invoice: Invoice }) {
  const hasGroups =
    Object.keys({ ...line.pricing_group_values, ...line.presentation_group_values }).length > 0;
  const isPaid =
    line.type === 'usage' && line.commit_id !== undefined && line.commit_type !== 'PostpaidCommit';
  // The group values of usage are its name: the heading above is the product.
  const isNamed = isApplied(line) || !hasGroups;
  const details = [
    ...(isNamed ? [nameOf(line)] : []),
    ...detailsOf(line),
    ...(isPaid ? ['paid from a balance'] : []),
    ...(line.is_prorated ? ['part of a period'] : []),
  ];
  return (
    <span className={styles.line}>
      {details.join(' · ')}
      {isPartOf(line, invoice) ? (
        <span className="soft small"> {periodText(line.starting_at, line.ending_before)}</span>
      ) : null}
    </span>
  );
}

/**
 * Whether the interval of a line differs from that of the invoice; usage covers a part of the period by its windows.
 */
function isPartOf(
  line: Line,
  { start_timestamp, end_timestamp }: Invoice,
): line is Line & { readonly starting_at: string; readonly ending_before: string } {
  const { starting_at, ending_before, type } = line;
  if (starting_at === undefined || ending_before === undefined || type === 'usage') return false;
  return starting_at !== start_timestamp || ending_before !== end_timestamp;
}

function nameOf(line: Line): string {
  if (countsInTotal(line)) return line.name;
  const total = new Big(line.total).abs();
  return `${balanceName(line)}: ${lineAmountText(total, total, line.credit_type)} counts towards it, not deducted`;
}

function LineQuantity({ line: { quantity } }: { readonly line: Line }) {
  return quantity === undefined ? null : <DocumentQuantity value={quantity} />;
}

function LinePrice({ line: { unit_price, credit_type, list_price } }: { readonly line: Line }) {
  if (unit_price === undefined) return null;
  const list = list_price?.price;
  return (
    <>
      {list === undefined || list === unit_price ? null : (
        <s className="soft" title="List price">
          <Price amount={list} unit={credit_type} />
        </s>
      )}{' '}
      <Price amount={unit_price} unit={credit_type} />
    </>
  );
}
