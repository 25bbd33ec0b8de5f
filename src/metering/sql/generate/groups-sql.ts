/**
 * Writes the groups of a SELECT that aggregates, with the hours in which each result is valid.
 *
 * For values at every hour, groups are not recomputed per hour. Rows without an end are aggregated within their hour,
 * and the states of the hours are merged along each group. Rows of an inner aggregate have an end: counts and sums add
 * them at their start and subtract them at their end; all other functions repeat them for every hour in which they are
 * valid.
 */
import { renderStatement } from '../../query/usage-relation.ts';
import type { SelectQuery } from '../syntax/query-syntax.ts';
import type { Definitions } from '../values/definitions.ts';
import { NUMBER_TYPE } from '../values/exact-sql.ts';
import type { Value } from '../values/value.ts';
import type { EngineFunction } from './aggregate-function-sql.ts';
import type { Input, InputScope } from './input-scope.ts';
import { FOREVER, named, type StatementContext } from './relation.ts';

interface EngineCall {
  readonly name: EngineFunction;
  /** Name of the argument's column. */
  readonly argument: string;
  /** The deciding column of argMin and argMax; null for the order of events. */
  readonly by: string | null;
  readonly result: string;
}

/** The layer of rows and the requested columns of groups, while a SELECT is being written. */
export interface Grouping {
  readonly context: StatementContext;
  readonly input: Input;
  readonly query: SelectQuery;
  readonly rows: Definitions;
  readonly rowScope: InputScope;
  /** Names of the columns that hold the part and the order of events. */
  readonly part: string;
  readonly order: string;
  /** Identity of an expression → its column. */
  readonly keys: ReadonlyMap<number, Value>;
  readonly keyColumns: readonly string[];
  /** SQL → name of the column. */
  readonly arguments: Map<string, string>;
  readonly calls: Map<string, EngineCall>;
  /** Identity of a written aggregate → its value among the groups. */
  readonly aggregates: Map<number, Value>;
  /** Whether its rows are events by hour, which are spread over the parts only as groups. */
  readonly isByHour: boolean;
}

/** Rows of the groups: keys, results of the calls, and when they are valid. */
export interface Groups {
  readonly from: string;
  readonly conditions: readonly string[];
  readonly part: string;
  readonly until: string | null;
}

export function writeGroups(grouping: Grouping, where: readonly string[]): Groups {
  const { context, input, calls } = grouping;
  const { boundaries, firstPart } = context.time;
  const rows = { part: input.part, firstPart, where };
  if (boundaries === null) {
    const { hourly } = context.time;
    if (!grouping.isByHour || hourly === null) return writePlainGroups(grouping, rows);
    return writeSpreadGroups(grouping, { ...rows, firstPart: hourly.firstEnd }, hourly.ends);
  }
  if (input.until === null) {
    return calls.size === 0 ? writeFirstRows(grouping, rows) : writeRunningGroups(grouping, rows);
  }
  const onlyTotals = [...calls.values()].every(({ name }) => name === 'count' || name === 'sum');
  return onlyTotals
    ? writeBalancedGroups(grouping, rows, input.until)
    : writeRepeatedGroups(grouping, rows, input.until, boundaries);
}

interface RowsLayer {
  readonly part: string;
  /** Without keys there is always a row, from this part on; null if there need not be one. */
  readonly firstPart: string | null;
  readonly where: readonly string[];
  /** 1 or -1: whether the row is added or subtracted. */
  readonly sign?: { readonly sql: string; readonly name: string };
}

/** Groups within each part. */
function writePlainGroups(grouping: Grouping, rows: RowsLayer): Groups {
  const { part } = grouping;
  const calls = [...grouping.calls.values()].map((call) => `${callSql(grouping, call)} AS ${call.result}`);
  const sql = groupedByPart(grouping, rows, calls);
  return { from: `(\n${sql}\n)`, conditions: [], part, until: null };
}

/** Groups of events within each hour, whose states are merged for every later part. */
function writeSpreadGroups(grouping: Grouping, rows: RowsLayer, ends: string): Groups {
  const { part, context } = grouping;
  const states = statesOf(grouping);
  const hour = context.names.fresh('h');
  const perHour = groupedByPart(
    { ...grouping, part: hour },
    rows,
    states.map(({ call, state }) => `${callSql(grouping, call, 'State')} AS ${state}`),
  );
  const keys = keyNames(grouping);
  const spread = renderStatement({
    definitions: [],
    columns: [
      `arrayJoin(arrayFilter(x -> x >= ${hour}, ${ends})) AS ${part}`,
      ...keys,
      ...states.map(({ state }) => state),
    ],
    from: `(\n${perHour}\n)`,
    conditions: [],
    groupBy: [],
  });
  const sql = renderStatement({
    definitions: [],
    columns: [
      part,
      ...keys,
      ...states.map(({ call, state }) => `${call.name}Merge(${state}) AS ${call.result}`),
    ],
    from: `(\n${spread}\n)`,
    conditions: [],
    groupBy: [part, ...keys],
  });
  return { from: `(\n${sql}\n)`, conditions: [], part, until: null };
}

function statesOf({ calls, context }: Grouping): ReadonlyArray<{ call: EngineCall; state: string }> {
  return [...calls.values()].map((call) => ({ call, state: context.names.fresh('s') }));
}

function writeRepeatedGroups(grouping: Grouping, rows: RowsLayer, until: string, boundaries: string): Groups {
  const { part } = grouping;
  const groups = writePlainGroups(grouping, {
    ...rows,
    part: `arrayJoin(arrayFilter(x -> x >= ${rows.part} AND x < ${until}, ${boundaries}))`,
    firstPart: `arrayJoin(${boundaries})`,
  });
  const following = `arrayPushBack(arrayPopFront(${boundaries}), ${FOREVER})`;
  return { ...groups, until: `transform(${part}, ${boundaries}, ${following}, ${FOREVER})` };
}

/** Keys alone: each is valid from its first row on. */
function writeFirstRows(grouping: Grouping, rows: RowsLayer): Groups {
  const first = grouping.context.names.fresh('p');
  const sql = renderStatement({
    definitions: [],
    columns: [`min(${grouping.part}) AS ${first}`, ...keyNames(grouping)],
    from: rowsSql(grouping, rows),
    conditions: [],
    groupBy: keyNames(grouping),
  });
  return { from: `(\n${sql}\n)`, conditions: [], part: first, until: null };
}

function writeRunningGroups(grouping: Grouping, rows: RowsLayer): Groups {
  const states = statesOf(grouping);
  const perPart = groupedByPart(
    grouping,
    rows,
    states.map(({ call, state }) => `${callSql(grouping, call, 'State')} AS ${state}`),
  );
  return alongParts(grouping, perPart, (along) =>
    states.map(({ call, state }) => `${call.name}Merge(${state}) ${along} AS ${call.result}`),
  );
}

/** Counts and sums of rows with a start and an end. A group is valid while it has rows. */
function writeBalancedGroups(grouping: Grouping, rows: RowsLayer, until: string): Groups {
  const { names } = grouping.context;
  const pair = names.fresh('e');
  const sign = { sql: `tupleElement(${pair}, 2)`, name: names.fresh('m') };
  const balance = names.fresh('b');
  const total = names.fresh('b');
  const calls = [...grouping.calls.values()].map((call) => ({
    call,
    count: names.fresh('b'),
    sum: names.fresh('b'),
  }));
  grouping.rows.define(`arrayJoin([tuple(${rows.part}, 1), tuple(${until}, -1)])`, pair);
  const perPart = groupedByPart(grouping, { ...rows, part: `tupleElement(${pair}, 1)`, sign }, [
    `sum(${sign.name}) AS ${balance}`,
    ...calls.flatMap(({ call: { name, argument }, count, sum }) => [
      `sum(if(isNull(${argument}), 0, ${sign.name})) AS ${count}`,
      ...(name === 'sum' ? [`sum(if(${sign.name} > 0, ${argument}, -${argument})) AS ${sum}`] : []),
    ]),
  ]);
  const groups = alongParts(grouping, perPart, (along) => [
    `sum(${balance}) ${along} AS ${total}`,
    ...calls.map(({ call: { name, result }, count, sum }) => {
      const running = `sum(${count}) ${along}`;
      if (name === 'count') return `${running} AS ${result}`;
      const sums = `sum(ifNull(${sum}, toDecimal256(0, 30))) ${along}`;
      return `if(${running} = 0, CAST(NULL, '${NUMBER_TYPE}'), ${sums}) AS ${result}`;
    }),
  ]);
  return { ...groups, conditions: [`${total} > 0`, `${groups.part} < ${FOREVER}`] };
}

/** Accumulates along the parts of each group; a row is valid until the next part in which the group has one. */
function alongParts(
  grouping: Grouping,
  perPart: string,
  columns: (along: string) => readonly string[],
): Groups {
  const { part, context } = grouping;
  const keys = keyNames(grouping);
  const order = `${keys.length === 0 ? '' : `PARTITION BY ${keys.join(', ')} `}ORDER BY ${part}`;
  const next = context.names.fresh('n');
  const sql = renderStatement({
    definitions: [],
    columns: [
      part,
      ...keys,
      ...columns(`OVER (${order})`),
      `any(${part}) OVER (${order} ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS ${next}`,
    ],
    from: `(\n${perPart}\n)`,
    conditions: [],
    groupBy: [],
  });
  // There is no part 0 when hours are evaluated: it means that no row follows.
  return { from: `(\n${sql}\n)`, conditions: [], part, until: `if(${next} = 0, ${FOREVER}, ${next})` };
}

function groupedByPart(grouping: Grouping, rows: RowsLayer, columns: readonly string[]): string {
  const keys = [grouping.part, ...keyNames(grouping)];
  return renderStatement({
    definitions: [],
    columns: [...keys, ...columns],
    from: rowsSql(grouping, rows),
    conditions: [],
    groupBy: keys,
  });
}

export function keyNames({ keys }: Grouping): string[] {
  return [...keys.values()].map(({ sql }) => sql);
}

function callSql(grouping: Grouping, { name, argument, by }: EngineCall, suffix = ''): string {
  const order = name === 'argMin' || name === 'argMax' ? `, ${by ?? grouping.order}` : '';
  return `${name}${suffix}(${argument}${order})`;
}

/** The rows that are grouped. */
function rowsSql(grouping: Grouping, layer: RowsLayer): string {
  const { input, part, order, keyColumns, rows, query } = grouping;
  const { firstPart, sign } = layer;
  const source = grouping.rowScope.source();
  const hasOrder = [...grouping.calls.values()].some(
    ({ name, by }) => (name === 'argMin' || name === 'argMax') && by === null,
  );
  const sql = renderStatement({
    definitions: rows.list(),
    columns: [
      named(layer.part, part),
      ...(sign === undefined ? [] : [`${sign.sql} AS ${sign.name}`]),
      ...(hasOrder ? [`${input.eventOrder} AS ${order}`] : []),
      ...keyColumns,
      ...[...grouping.arguments].map(([argument, name]) => `${argument} AS ${name}`),
    ],
    from: source.from,
    conditions: [...source.conditions, ...layer.where],
    groupBy: [],
  });
  if (firstPart === null || query.groupBy.length > 0 || query.distinct) return `(\n${sql}\n)`;
  const nothing = [
    `${firstPart} AS ${part}`,
    ...(sign === undefined ? [] : [`1 AS ${sign.name}`]),
    ...(hasOrder ? [`${NO_EVENT_ORDER} AS ${order}`] : []),
    ...[...grouping.arguments.values()].map((name) => `NULL AS ${name}`),
  ];
  return `(\n${sql}\nUNION ALL\nSELECT ${nothing.join(', ')}\n)`;
}

/** Aggregates skip rows whose argument is NULL, so it never decides anything. */
const NO_EVENT_ORDER = "tuple(fromUnixTimestamp64Milli(0, 'UTC'), fromUnixTimestamp64Micro(0, 'UTC'), '')";
