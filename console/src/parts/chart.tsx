/** A chart with its figures as a table. uPlot and its drawing are a separate chunk, loaded with the first chart. */
import { lazy, Suspense, useState } from 'react';
import { spoken } from '../format/language.ts';
import { dayText, timeText } from '../format/time.ts';
import styles from './chart.module.css';
import { type ChartProps, colourOf } from './series.ts';
import { type Column, Table } from './table.tsx';

const Plot = lazy(() => import('./plot.tsx'));

export function Chart(props: ChartProps) {
  const { label, starts, series } = props;
  const [at, setAt] = useState<number | null>(null);
  const startText = props.window === 'day' ? dayText : timeText;
  const start = at === null ? undefined : starts[at];
  return (
    <figure className={styles.chart} aria-label={label}>
      <div className={styles.legend} aria-hidden="true">
        {start === undefined ? null : <b>{startText(start)}</b>}
        {series.map((each, index) => {
          const value = at === null ? undefined : each.values[at];
          return (
            <span key={each.key}>
              <i className={styles.swatch} style={{ background: colourOf(index, each) }} />
              {each.label}
              {value === undefined || value === null ? null : <b>{props.text(value)}</b>}
            </span>
          );
        })}
      </div>
      <div className={styles.plot} data-size={props.size ?? 'large'} aria-hidden="true">
        <Suspense>
          <Plot {...props} onPoint={setAt} />
        </Suspense>
      </div>
      <FigureTable {...props} startText={startText} />
    </figure>
  );
}

function FigureTable(props: ChartProps & { readonly startText: (at: string) => string }) {
  const [isOpen, setOpen] = useState(props.isTableOpen ?? false);
  const rows = props.starts.map((start, index) => ({ start, index }));
  const columns: Column<(typeof rows)[number]>[] = [
    {
      title: props.window === 'day' ? spoken().day : spoken().hour,
      cell: (row) => props.startText(row.start),
    },
    ...props.series.map(
      (series): Column<(typeof rows)[number]> => ({
        title: series.label,
        kind: 'number',
        cell: ({ index }) => {
          const value = series.values[index];
          return value === null || value === undefined ? '' : props.text(value);
        },
      }),
    ),
  ];
  return (
    <details className={styles.figures} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{spoken().figures}</summary>
      {isOpen ? (
        <Table label={props.label} columns={columns} rows={rows} keyOf={({ start }) => start} />
      ) : null}
    </details>
  );
}
