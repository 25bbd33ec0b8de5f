/**
 * Writes the views as what a SELECT reads. The events lie in ClickHouse; rows of PostgreSQL come with the statement, as
 * one parameter for each view: an array of rows, each a JSON list of texts in the order of the columns.
 */
import { NUMBER_TYPE } from '../values/exact-sql.ts';
import { type ViewColumn, type ViewName, viewColumns } from '../values/views.ts';
import type { Relation, RelationColumn, StatementContext } from './relation.ts';

/** A row of a view, with a text or NULL for each column: plain decimals, epoch milliseconds, `true`, `false`. */
export type ViewRow = ReadonlyArray<string | null>;

/** What the references in events mean. A customer's own id means that customer. */
export interface EventOwners {
  /** All references of known customers. */
  readonly refs: readonly string[];
  readonly aliases: readonly string[];
  /** The customer of each alias, in the same order. */
  readonly ownersOfAliases: readonly string[];
}

/** Names of parameters. Those of the query itself begin with `q_`. */
const OWNERS = { refs: 's_refs', aliases: 's_aliases', owners: 's_owners' } as const;

const list = (name: string) => `{${name}:Array(String)}`;

export function ownerParameters({ refs, aliases, ownersOfAliases }: EventOwners): Record<string, unknown> {
  // ClickHouse takes no empty list of what is replaced; no event has an empty reference.
  return {
    [OWNERS.refs]: refs,
    [OWNERS.aliases]: ['', ...aliases],
    [OWNERS.owners]: ['', ...ownersOfAliases],
  };
}

export function viewParameter(view: ViewName, rows: readonly ViewRow[]): Record<string, unknown> {
  return { [parameterOf(view)]: rows.map((row) => JSON.stringify(row)) };
}

function parameterOf(view: ViewName): string {
  return `v_${view}`;
}

export function viewRelation(context: StatementContext, view: ViewName): Relation {
  if (view === 'events') return eventsOfAll(context);
  return view === 'event_repeats' ? repeatsOfAll(context) : copiedRows(context, view);
}

/** The customer whose reference an event has. */
const OWNER = `transform(customer_ref, ${list(OWNERS.aliases)}, ${list(OWNERS.owners)}, customer_ref)`;
const KNOWN = `customer_ref IN ${list(OWNERS.refs)}`;

const EVENT_COLUMNS = [
  ...['customer_id', 'transaction_id', 'event_type', 'timestamp', 'ingested_at', 'ingested'],
] as const;

/** The deduplicated events of all customers. Those whose reference nobody has are left out. */
function eventsOfAll({ names, time }: StatementContext): Relation {
  const from = `(
SELECT ${OWNER} AS customer_id, transaction_id, event_type, timestamp, toDateTime64(ingested_at, 3, 'UTC') AS ingested_at, ingested_at AS ingested, properties
FROM usage_events FINAL
WHERE ${KNOWN}
)`;
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

/** Events that were sent again, as far as they were kept. */
function repeatsOfAll({ names, time }: StatementContext): Relation {
  const columns = viewColumns('event_repeats').map((column) => ({ ...column, sql: names.fresh('e') }));
  const written = columns.map(({ name }) => (name === 'customer_id' ? `${OWNER} AS customer_id` : name));
  return {
    from: `(\nSELECT ${written.join(', ')}\nFROM event_repeats\nWHERE ${KNOWN}\n)`,
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
  const row = names.fresh('r');
  const rows = `JSONExtract(arrayJoin(${list(parameterOf(view))}), 'Array(Nullable(String))')`;
  const columns = viewColumns(view).map(({ name, type }, index) => ({
    column: { name, type, sql: names.fresh('e') },
    origin: cellSql(`arrayElement(${row}, ${index + 1})`, type),
  }));
  return {
    from: `(\nSELECT ${rows} AS ${row}\n)`,
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
