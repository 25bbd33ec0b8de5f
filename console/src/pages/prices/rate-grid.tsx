/** The rates of a card at an instant: a table for each product, its group values as rows and columns. */
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { Section } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type DraftRate, keyOfSegment, rateOfDraft } from './price-draft.ts';
import styles from './prices.module.css';
import { RateFigure } from './rate.tsx';

type Segment = Schemas['RateSegment'];

interface GridProps {
  readonly segments: readonly Segment[];
  readonly draft: ReadonlyMap<string, DraftRate>;
  /** The key of the rate that is chosen. */
  readonly chosen: string | undefined;
}

export function RateGrid({ segments, draft, chosen }: GridProps) {
  const products = new Map<string, Segment[]>();
  for (const segment of segments) {
    const hasValues = Object.keys(segment.pricing_group_values ?? {}).length > 0;
    const key = hasValues ? `${segment.product_id} ${keysOf(segment).join()}` : '';
    products.set(key, [...(products.get(key) ?? []), segment]);
  }
  const single = products.get('') ?? [];
  products.delete('');
  return (
    <>
      {[...products].map(([key, own]) => (
        <ProductGrid key={key} segments={own} draft={draft} chosen={chosen} />
      ))}
      {single.length === 0 ? null : (
        <Section title={products.size === 0 ? 'Prices' : 'Products with one price'}>
          <Table
            label="Products with one price"
            columns={singleColumns(draft, chosen)}
            rows={single}
            keyOf={keyOfSegment}
          />
        </Section>
      )}
    </>
  );
}

function keysOf({ pricing_group_values: values = {} }: Segment): string[] {
  return Object.keys(values).sort();
}

function singleColumns(draft: GridProps['draft'], chosen: string | undefined): Column<Segment>[] {
  return [
    { title: 'Product', cell: ({ product_name }) => product_name },
    { title: 'Billed', cell: ({ billing_frequency }) => billing_frequency?.toLowerCase() ?? '' },
    {
      title: 'Price',
      kind: 'number',
      cell: (segment) => <Rated segment={segment} draft={draft} chosen={chosen} />,
    },
  ];
}

interface GridRow {
  readonly label: string;
  readonly cells: ReadonlyMap<string, Segment>;
}

/** The last key makes the columns, the keys before it the rows. A product with one key has one column. */
function ProductGrid({ segments, draft, chosen }: GridProps) {
  const [first] = segments;
  if (first === undefined) return null;
  const keys = keysOf(first);
  const columnKey = keys.length > 1 ? keys.at(-1) : undefined;
  const rowKeys = columnKey === undefined ? keys : keys.slice(0, -1);
  const rows = new Map<string, Map<string, Segment>>();
  const columnsOfGrid = new Set<string>();
  for (const segment of segments) {
    const values = segment.pricing_group_values ?? {};
    const row = rowKeys.map((key) => values[key] ?? '').join(' · ');
    const column = columnKey === undefined ? '' : (values[columnKey] ?? '');
    columnsOfGrid.add(column);
    rows.set(row, (rows.get(row) ?? new Map<string, Segment>()).set(column, segment));
  }
  const columns: Column<GridRow>[] = [
    { title: rowKeys.join(' · '), cell: ({ label }) => label },
    ...[...columnsOfGrid].sort().map(
      (column): Column<GridRow> => ({
        title: columnKey === undefined ? 'Price' : `${columnKey} ${column}`,
        kind: 'number',
        cell: ({ cells }) => {
          const segment = cells.get(column);
          return segment === undefined ? (
            <span className="soft">no rate</span>
          ) : (
            <Rated segment={segment} draft={draft} chosen={chosen} />
          );
        },
      }),
    ),
  ];
  return (
    <Section title={first.product_name}>
      <Table
        label={`Prices of ${first.product_name}`}
        columns={columns}
        rows={[...rows].map(([label, cells]) => ({ label, cells }))}
        keyOf={({ label }) => label}
      />
    </Section>
  );
}

/** A price, which leads to its history and to its change. */
function Rated(props: {
  readonly segment: Segment;
  readonly draft: GridProps['draft'];
  readonly chosen: string | undefined;
}) {
  const { segment, draft, chosen } = props;
  const key = keyOfSegment(segment);
  const changed = draft.get(key);
  return (
    <Link
      to="."
      search={((before: object) => ({ ...before, rate: key === chosen ? undefined : key })) as never}
      resetScroll={false}
      className={styles.price ?? ''}
      {...(key === chosen ? { 'aria-current': 'true' as const } : {})}
      title={titleOf(segment)}
    >
      {changed === undefined ? (
        <span className={segment.entitled ? '' : 'soft'}>
          <RateFigure rate={segment.rate} />
        </span>
      ) : (
        <>
          <s className="soft">
            <RateFigure rate={segment.rate} />
          </s>{' '}
          <b>
            <RateFigure rate={rateOfDraft(changed, segment.rate.credit_type)} />
          </b>
        </>
      )}
      {(changed ?? segment).entitled ? null : <span className="soft small"> not entitled</span>}
    </Link>
  );
}

function titleOf({ starting_at, ending_before, rate }: Segment): string {
  const raw = rate.price === undefined ? '' : `${rate.price} ${rate.credit_type?.name ?? ''}; `;
  return `${raw}since ${starting_at}${ending_before === undefined ? '' : `, before ${ending_before}`}`;
}
