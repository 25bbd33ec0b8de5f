/**
 * Tables of figures: a real `<table>`, sticky headers, figures to the right, sums below. Above 200 rows only visible
 * ones are rendered.
 *
 * A table library would add sorting, grouping and paging, which the API does here.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useRef } from 'react';
import styles from './table.module.css';

export interface Column<Row> {
  readonly title: string;
  /** Figures are aligned to the right. */
  readonly kind?: 'text' | 'number';
  cell(row: Row): ReactNode;
  /** The cell below the column: a sum. */
  readonly foot?: ReactNode;
}

interface TableProps<Row> {
  /** The title of the list, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  keyOf(row: Row, index: number): string;
  /** Whether each row is a list of its cells on a phone; by default if the table has more than three columns. */
  readonly stacks?: boolean;
  /** Details of a row, below it. */
  below?(row: Row): ReactNode;
}

/** Above this number, rows are rendered as they are scrolled into view. */
const PLAIN_ROWS_MAX = 200;
const ROW_HEIGHT = 33;
/** Rows on each side that are rendered ahead. */
const OVERSCAN = 16;

export function Table<Row>(props: TableProps<Row>) {
  return props.rows.length > PLAIN_ROWS_MAX ? <LongTable {...props} /> : <PlainTable {...props} />;
}

/** This many short columns fit a phone. */
const PHONE_COLUMNS_MAX = 3;

function doesStack<Row>({ stacks, columns }: TableProps<Row>): boolean {
  return stacks ?? columns.length > PHONE_COLUMNS_MAX;
}

function PlainTable<Row>(props: TableProps<Row>) {
  const { columns, rows, below } = props;
  return (
    <section className={styles.scroll} aria-label={props.label} tabIndex={0}>
      <table className={styles.table} data-stacks={doesStack(props)}>
        <Head columns={columns} />
        <tbody>
          {rows.map((row, index) => {
            const key = props.keyOf(row, index);
            const more = below?.(row) ?? null;
            return [
              <Row key={key} columns={columns} row={row} />,
              more === null ? null : (
                <tr key={`${key} more`}>
                  <td colSpan={columns.length}>{more}</td>
                </tr>
              ),
            ];
          })}
        </tbody>
        <Foot columns={columns} />
      </table>
    </section>
  );
}

function LongTable<Row>(props: TableProps<Row>) {
  const { columns, rows, below } = props;
  const scroller = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  });
  const shown = virtual.getVirtualItems();
  const before = shown[0]?.start ?? 0;
  const behind = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <section
      className={`${styles.scroll} ${styles.tall}`}
      aria-label={props.label}
      tabIndex={0}
      ref={scroller}
    >
      <table className={styles.table} data-stacks={doesStack(props)} aria-rowcount={rows.length + 1}>
        <Head columns={columns} />
        {before > 0 ? <Space height={before} columns={columns.length} /> : null}
        {shown.map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          return (
            <LongRow
              key={props.keyOf(row, item.index)}
              columns={columns as readonly Column<unknown>[]}
              row={row}
              index={item.index}
              below={below as ((row: unknown) => ReactNode) | undefined}
              measure={virtual.measureElement}
            />
          );
        })}
        {behind > 0 ? <Space height={behind} columns={columns.length} /> : null}
        <Foot columns={columns} />
      </table>
    </section>
  );
}

interface LongRowProps {
  readonly columns: readonly Column<unknown>[];
  readonly row: unknown;
  readonly index: number;
  readonly below: ((row: unknown) => ReactNode) | undefined;
  measure(element: Element | null): void;
}

/** While a table is scrolled, visible rows are not rendered again. */
const LongRow = memo(function LongRow({ columns, row, index, below, measure }: LongRowProps) {
  const more = below?.(row) ?? null;
  return (
    <tbody data-index={index} ref={measure}>
      <Row columns={columns} row={row} rowIndex={index + 2} />
      {more === null ? null : (
        <tr>
          <td colSpan={columns.length}>{more}</td>
        </tr>
      )}
    </tbody>
  );
});

function Space({ height, columns }: { readonly height: number; readonly columns: number }) {
  return (
    <tbody aria-hidden="true" className={styles.space}>
      <tr>
        <td colSpan={columns} style={{ height, padding: 0, border: 0 }} />
      </tr>
    </tbody>
  );
}

function Head<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  return (
    <thead>
      <tr>
        {columns.map(({ title, kind }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: columns stay in their order, and two may have one title.
          <th key={index} scope="col" className={kind === 'number' ? styles.number : undefined}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Row<Row>(props: {
  readonly columns: readonly Column<Row>[];
  readonly row: Row;
  readonly rowIndex?: number;
}) {
  return (
    <tr {...(props.rowIndex === undefined ? {} : { 'aria-rowindex': props.rowIndex })}>
      {props.columns.map(({ title, kind, cell }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: as in the head.
        <td key={index} data-title={title} className={kind === 'number' ? styles.number : undefined}>
          {cell(props.row)}
        </td>
      ))}
    </tr>
  );
}

function Foot<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  if (columns.every(({ foot }) => foot === undefined)) return null;
  return (
    <tfoot>
      <tr>
        {columns.map(({ title, kind, foot }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: as in the head.
          <td key={index} data-title={title} className={kind === 'number' ? styles.number : undefined}>
            {foot}
          </td>
        ))}
      </tr>
    </tfoot>
  );
}
