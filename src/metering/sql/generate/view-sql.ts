/**
 * Writes the views as sources of a SELECT. The events are in ClickHouse; rows of PostgreSQL are sent with the
 * statement, as a table for each view, and so are the owners of events.
 */
import { type SentTable, tabSeparated } from '../../client/sent-tables.ts';
import { NUMBER_TYPE } from '../values/exact-sql.ts';
import { type ViewColumn, type ViewName, viewColumns } from '../values/views.ts';
import type { Relation, RelationColumn, StatementContext } from './relation.ts';

/** A row of a view, with a text or NULL for each column: plain decimals, epoch milliseconds, `true`, `false`. */
export type ViewRow = ReadonlyArray<string | null>;

/** The table with the owners of all references of known customers. */
export const OWNERS_TABLE = 'sent_owners';

/** `lines`: pairs of a reference and its customer's id. A reference has one owner, even if it looks like an id. */
export function ownersTable(lines: readonly Buffer[]): SentTable {
  return {
    name: OWNERS_TABLE,
    columns: [
      { name: 'ref', type: 'String' },
      { name: 'owner', type: 'String' },
    ],
    rows: Buffer.concat(lines),
  };
}

/** The rows of a view of PostgreSQL. */
export function viewTable(view: ViewName, rows: readonly ViewRow[]): SentTable {
  const columns = viewColumns(view).map((_, index) => ({ name: cellName(index), type: 'Nullable(String)' }));
  return { name: viewTableName(view), columns, rows: tabSeparated(rows) };
}

export function viewTableName(view: ViewName): string {
  return `sent_${view}`;
}

function cellName(index: number): string {
  return `cell_${index + 1}`;
}

export function viewRelation(context: StatementContext, view: ViewName): Relation {
  if (view === 'events') return eventsOfAll(context);
  return view === 'event_repeats' ? repeatsOfAll(context) : copiedRows(context, view);
}

/**
 * The rows of a table of events whose reference has an owner, with that customer. The owners are a table because there
 * may be hundreds of thousands; shards receive it too. The events of named customers are found by their references; for
 * all customers the join alone finds the same events, and looking each reference up twice takes a third longer.
 */
function ownedRows(
  { names, ofAllCustomers }: StatementContext,
  table: string,
  columns: readonly string[],
): string {
  const [events, owners] = [names.fresh('s'), names.fresh('s')];
  const read = columns.filter((column) => column !== 'customer_id');
  const shown = read.map((column) => column.slice(column.lastIndexOf(' ') + 1));
  const named = ofAllCustomers ? '' : `\nWHERE customer_ref GLOBAL IN (SELECT ref FROM ${OWNERS_TABLE})`;
  return `(
SELECT ${owners}.owner AS customer_id, ${shown.join(', ')}
FROM (
SELECT customer_ref, ${read.join(', ')}
FROM ${table}${named}
) AS ${events} SEMI LEFT JOIN (
SELECT ref, owner FROM ${OWNERS_TABLE}
) AS ${owners} ON ${events}.customer_ref = ${owners}.ref
)`;
}

const EVENT_COLUMNS = [
  ...['customer_id', 'transaction_id', 'event_type', 'timestamp', 'ingested_at', 'ingested'],
] as const;

/** The deduplicated events of all customers. Events without an owner are left out. */
function eventsOfAll(context: StatementContext): Relation {
  const { names, time } = context;
  const from = ownedRows(context, 'usage_events FINAL', [
    ...['customer_id', 'transaction_id', 'event_type', 'timestamp'],
    ...[`toDateTime64(ingested_at, 3, 'UTC') AS ingested_at`, 'ingested_at AS ingested', 'properties'],
  ]);
  const own = EVENT_COLUMNS.map((column) => ({ column, sql: names.fresh('e') }));
  const named = (name: (typeof EVENT_COLUMNS)[number]) =>
    own.find(({ column }) => column === name)?.sql ?? name;
  return {
    from,
    names: own.map(({ sql }) => sql),
    origins: new Map(own.map(({ column, sql }) => [sql, column])),
    conditions: [],
    columns: viewColumns('events').map(({ name, type }): RelationColumn => {
      const sql = own.find(({ column }) => column === name)?.sql;
      if (sql === undefined) throw new Error(`events have no column ${name}`);
      return { name, type, sql };
    }),
    hasProperties: true,
    part: names.fresh('p'),
    partSql: time.eventPart,
    until: null,
    eventOrder: `tuple(${named('timestamp')}, ${named('ingested')}, ${named('transaction_id')})`,
  };
}

/** Repeated events that were recorded. */
function repeatsOfAll(context: StatementContext): Relation {
  const { names, time } = context;
  const columns = viewColumns('event_repeats').map((column) => ({ ...column, sql: names.fresh('e') }));
  const written = columns.map(({ name }) => name);
  return {
    from: ownedRows(context, 'event_repeats', written),
    names: columns.map(({ sql }) => sql),
    origins: new Map(columns.map(({ name, sql }) => [sql, name])),
    conditions: [],
    columns: columns.map(({ name, type, sql }) => ({ name, type, sql })),
    hasProperties: false,
    part: names.fresh('p'),
    partSql: time.eventPart,
    until: null,
    eventOrder: null,
  };
}

function copiedRows({ names, time }: StatementContext, view: ViewName): Relation {
  const columns = viewColumns(view).map(({ name, type }) => {
    const cell = names.fresh('r');
    return { cell, column: { name, type, sql: names.fresh('e') }, origin: cellSql(cell, type) };
  });
  const cells = columns.map(({ cell }, index) => `${cellName(index)} AS ${cell}`);
  return {
    from: `(\nSELECT ${cells.join(', ')}\nFROM ${viewTableName(view)}\n)`,
    names: columns.map(({ column }) => column.sql),
    origins: new Map(columns.map(({ column, origin }) => [column.sql, origin])),
    conditions: [],
    columns: columns.map(({ column }) => column),
    hasProperties: false,
    part: names.fresh('p'),
    partSql: time.eventPart,
    until: null,
    eventOrder: null,
  };
}

/** A text of a row as a value of its column. */
function cellSql(cell: string, type: ViewColumn['type']): string {
  switch (type) {
    case 'number':
      return `CAST(${cell}, '${NUMBER_TYPE}')`;
    case 'timestamp':
      return `fromUnixTimestamp64Milli(toInt64OrNull(${cell}), 'UTC')`;
    case 'boolean':
      return `equals(${cell}, 'true')`;
    default:
      return cell;
  }
}
