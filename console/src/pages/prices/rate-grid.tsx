/** The rates of a card at an instant: a table for each product, its group values as rows and columns. */
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { Section } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type Catalogue, type RateCard, useCatalogue } from './catalogue.ts';
import { type DraftRate, keyOfSegment, rateKey, rateOfDraft } from './price-draft.ts';
import styles from './prices.module.css';
import { RateFigure } from './rate.tsx';

type Segment = Schemas['RateSegment'];

interface GridProps {
  readonly card: RateCard;
  readonly segments: readonly Segment[];
  readonly draft: ReadonlyMap<string, DraftRate>;
  /** The key of the rate that is chosen. */
  readonly chosen: string | undefined;
}

export function RateGrid(props: GridProps) {
  const { draft, chosen } = props;
  const query = useCatalogue(props.card);
  const segments = [...props.segments, ...newSegments(props, query.data)];
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
        <Section title={products.size === 0 ? 'Prices' : 'Without group values'}>
          <Table
            label="Without group values"
            stacks
            columns={singleColumns(draft, chosen)}
            rows={single}
            keyOf={keyOfSegment}
          />
        </Section>
      )}
    </>
  );
}

/** Rates of the draft that are not on the card. */
function newSegments({ segments, draft }: GridProps, catalogue: Catalogue | undefined): Segment[] {
  const known = new Set(segments.map(keyOfSegment));
  return [...draft]
    .filter(([key]) => !known.has(key))
    .map(([, rate]) => ({
      product_id: rate.product,
      product_name: catalogue?.products.find(({ id }) => id === rate.product)?.current.name ?? rate.product,
      product_tags: [],
      product_custom_fields: {},
      ...(Object.keys(rate.values).length === 0 ? {} : { pricing_group_values: rate.values }),
      ...(rate.frequency === undefined ? {} : { billing_frequency: rate.frequency }),
      starting_at: NOT_YET,
      entitled: rate.entitled,
      rate: rateOfDraft(rate, catalogue?.unit(rate.unit ?? '') ?? catalogue?.fiat),
    }));
}

/** In the place of the instant from which a rate of the card is in force. */
const NOT_YET = '';

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
  /** The values of the row. */
  readonly own: Readonly<Record<string, string>>;
  readonly cells: ReadonlyMap<string, Segment>;
}

/** The last key forms the columns, the keys before it the rows. A product with one key has one column. */
function ProductGrid({ segments, draft, chosen }: Omit<GridProps, 'card'>) {
  const [first] = segments;
  if (first === undefined) return null;
  const keys = keysOf(first);
  const columnKey = keys.length > 1 ? keys.at(-1) : undefined;
  const rowKeys = columnKey === undefined ? keys : keys.slice(0, -1);
  const rows = new Map<string, { own: Record<string, string>; cells: Map<string, Segment> }>();
  const columnsOfGrid = new Set<string>();
  for (const segment of segments) {
    const values = segment.pricing_group_values ?? {};
    const row = rowKeys.map((key) => values[key] ?? '').join(' · ');
    const column = columnKey === undefined ? '' : (values[columnKey] ?? '');
    columnsOfGrid.add(column);
    const own = Object.fromEntries(rowKeys.map((key) => [key, values[key] ?? '']));
    const known = rows.get(row) ?? { own, cells: new Map<string, Segment>() };
    known.cells.set(column, segment);
    rows.set(row, known);
  }
  const columns: Column<GridRow>[] = [
    { title: rowKeys.join(' · '), cell: ({ label }) => label },
    ...[...columnsOfGrid].sort().map(
      (column): Column<GridRow> => ({
        title: columnKey === undefined ? 'Price' : `${columnKey} ${column}`,
        kind: 'number',
        cell: ({ cells, own }) => {
          const segment = cells.get(column);
          return segment === undefined ? (
            <NoRate
              product={first.product_id}
              values={{ ...own, ...(columnKey && { [columnKey]: column }) }}
            />
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
        rows={[...rows].map(([label, row]) => ({ label, ...row }))}
        keyOf={({ label }) => label}
      />
    </Section>
  );
}

/** Links to a new price for these values. */
function NoRate(props: { readonly product: string; readonly values: Readonly<Record<string, string>> }) {
  return (
    <Link
      to="."
      search={((before: object) => ({ ...before, rate: rateKey(props) })) as never}
      resetScroll={false}
      className="soft"
      title="Add a price"
    >
      no rate
    </Link>
  );
}

/** A price, with links to its history and its change. */
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
      {segment.starting_at === NOT_YET ? (
        <>
          <span className="soft small">new</span>{' '}
          <b>
            <RateFigure rate={segment.rate} />
          </b>
        </>
      ) : changed === undefined ? (
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
  if (starting_at === NOT_YET) return 'Only in the draft';
  const raw = rate.price === undefined ? '' : `${rate.price} ${rate.credit_type?.name ?? ''}; `;
  return `${raw}since ${starting_at}${ending_before === undefined ? '' : `, before ${ending_before}`}`;
}
