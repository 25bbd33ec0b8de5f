/** The answer of a query: a chart if possible, and all rows as a table. */
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { forPixels } from '../../api/exact.ts';
import { quantityText } from '../../format/money.ts';
import { countText } from '../../format/words.ts';
import { Chart } from '../../parts/chart.tsx';
import { Quantity, Time } from '../../parts/figures.tsx';
import { Empty } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import styles from './ask.module.css';
import {
  barPlaces,
  pictureOf,
  type ResultColumn,
  type ResultPicture,
  type ResultRow,
} from './result-chart.ts';

interface Answer {
  readonly columns: readonly ResultColumn[];
  readonly data: readonly ResultRow[];
}

export function Result({ answer, show }: { readonly answer: Answer; readonly show: string }) {
  const { columns, data } = answer;
  const picture = useMemo(() => (show === 'table' ? null : pictureOf(columns, data)), [columns, data, show]);
  if (data.length === 0) return <Empty>The query has no rows.</Empty>;
  return (
    <>
      {picture === null ? null : <Picture picture={picture} kind={show === 'lines' ? 'lines' : 'bars'} />}
      <p className="soft small">{countText(data.length, 'row')}</p>
      <Table
        label="Rows of the answer"
        stacks={columns.length > 2}
        columns={columns.map(columnOf)}
        rows={data}
        keyOf={(_row, index) => String(index)}
      />
    </>
  );
}

function Picture({
  picture,
  kind,
}: {
  readonly picture: NonNullable<ResultPicture>;
  readonly kind: 'bars' | 'lines';
}) {
  if (picture.kind === 'time') {
    return (
      <Chart
        label="The answer over time"
        kind={kind}
        window={picture.window}
        starts={picture.starts}
        series={picture.series}
        text={(value) => quantityText(value)}
      />
    );
  }
  return <Bars {...picture} />;
}

function Bars({ label, bars, left }: Extract<ResultPicture, { readonly kind: 'values' }>) {
  const places = barPlaces(bars.map(({ value }) => forPixels(value)));
  return (
    <figure aria-label={`${label} by row`}>
      <dl className={styles.bars}>
        {bars.map(({ label: name, value }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows may have equal labels.
          <Bar key={index} name={name} value={value} place={places[index] ?? NO_PLACE} />
        ))}
      </dl>
      {left === 0 ? null : (
        <p className="soft small">
          The {bars.length} largest; {left === 1 ? '1 more is' : `${left.toLocaleString('en-US')} more are`}{' '}
          in the table.
        </p>
      )}
    </figure>
  );
}

const NO_PLACE = { start: 0, length: 0 };

function Bar(props: {
  readonly name: string;
  readonly value: Parameters<typeof quantityText>[0];
  readonly place: { readonly start: number; readonly length: number };
}) {
  const text = quantityText(props.value);
  const { start, length } = props.place;
  return (
    <>
      <dt title={props.name}>{props.name}</dt>
      <dd aria-hidden="true">
        <div
          className={styles.bar}
          data-negative={text.startsWith('−')}
          style={{ marginLeft: `${start * 100}%`, width: `${Math.max(0.3, length * 100)}%` }}
        />
      </dd>
      <dd>{text}</dd>
    </>
  );
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

function columnOf({ name, type }: ResultColumn): Column<ResultRow> {
  return {
    title: name,
    ...(type === 'number' ? { kind: 'number' as const } : {}),
    cell: (row) => <Cell name={name} type={type} value={row[name]} />,
  };
}

function Cell({ name, type, value }: ResultColumn & { readonly value: unknown }) {
  if (value === null || value === undefined) return <span className="soft">null</span>;
  const text = String(value);
  if (type === 'number') return <Quantity value={text as never} />;
  if (type === 'timestamp') return <Time at={text} />;
  if (name === 'customer_id' && UUID.test(text)) {
    return (
      <Link to="/customers/$customerId" params={{ customerId: text }} className="mono">
        {text}
      </Link>
    );
  }
  if (name === 'transaction_id') {
    return (
      <Link to="/events" search={{ id: text }} className="mono">
        {text}
      </Link>
    );
  }
  return <span className={UUID.test(text) ? 'mono' : ''}>{text}</span>;
}
