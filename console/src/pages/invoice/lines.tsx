/** The lines of an invoice, grouped as on its PDF: by product in each unit, with sums. */
import { Link } from '@tanstack/react-router';
import type Big from 'big.js';
import { type Exact, sum } from '../../api/exact.ts';
import { quantityText } from '../../format/money.ts';
import { periodText } from '../../format/time.ts';
import { Money, Price, Quantity } from '../../parts/figures.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { ExplainedLine } from './explained-line.tsx';
import styles from './invoice.module.css';
import { countsInTotal, type Invoice, type Line } from './line.ts';

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
  return (
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
  );
}

function columnsFor(invoice: Invoice, explained: string | undefined): Column<Row>[] {
  return [
    {
      title: 'Line',
      cell: (row) => (row.kind === 'group' ? <b>{row.name}</b> : <LineName line={row.line} />),
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
      cell: (row) =>
        row.kind === 'group' ? (
          <b>
            <Money amount={row.total} unit={row.unit} />
          </b>
        ) : (
          <Money amount={row.line.total} unit={row.line.credit_type} />
        ),
      foot: <Money amount={invoice.total} unit={invoice.credit_type} />,
    },
    {
      title: 'Why',
      cell: (row) => (row.kind === 'line' ? <ExplainLink id={row.id} isOpen={row.id === explained} /> : ''),
    },
  ];
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

/** Lines that belong together follow one another, also what a balance pays of them. */
function groupKey(line: Line): string {
  return `${line.credit_type.id} ${line.product_id ?? line.type}`;
}

function groupName({ name }: Line): string {
  return name.replace(/ (?:applied|\(minimum\))$/, '');
}

function LineName({ line }: { readonly line: Line }) {
  const groups = { ...line.pricing_group_values, ...line.presentation_group_values };
  const isApplied = line.type === 'applied_commit_or_credit';
  const details = [
    ...(isApplied ? [line.name] : []),
    ...Object.entries(groups).map(([key, value]) => `${key} ${value}`),
    ...(line.tier === undefined ? [] : [tierText(line.tier)]),
    ...(!isApplied && line.commit_id !== undefined && line.type === 'usage' ? ['paid from a balance'] : []),
    ...(line.is_prorated ? ['part of a period'] : []),
    ...(countsInTotal(line) ? [] : ['counts towards the commit, not deducted']),
  ];
  return (
    <span className={styles.line}>
      {details.length === 0 ? line.name : details.join(' · ')}
      {line.starting_at === undefined || line.ending_before === undefined || line.type === 'usage' ? null : (
        <span className="soft small"> {periodText(line.starting_at, line.ending_before)}</span>
      )}
    </span>
  );
}

function tierText({ level, starting_at, size }: NonNullable<Line['tier']>): string {
  return size === undefined ? `tier ${level}, above ${quantityText(starting_at as Exact)}` : `tier ${level}`;
}

function LineQuantity({ line: { quantity } }: { readonly line: Line }) {
  return quantity === undefined ? null : <Quantity value={quantity} />;
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
