/** Writes window functions, each restricted to rows of its part. */

import { findWindowFunction } from '../functions/table.ts';
import type { Expression, OrderItem, WindowFrame } from '../syntax/query-syntax.ts';
import { QueryProblem } from '../values/query-refusal.ts';
import { toNumber, type Value } from '../values/value.ts';
import { aggregateOf, writeAggregate, writeOperands } from './aggregate-function-sql.ts';
import { type Scope, writeExpression } from './expression-sql.ts';

type WindowExpression = Extract<Expression, { kind: 'window' }>;

/** The rows over which windows are defined. */
export interface WindowRows {
  /** The column that holds the part. */
  readonly part: string;
  /** Columns that distinguish every row from any different one: they break ties. */
  readonly ties: readonly string[];
}

const OFFSET_MAX = 1_000;

/** The value of a window function in a SELECT over `rows`. `scope` has no window functions: they are not nested. */
export function writeWindow(scope: Scope, expression: WindowExpression, rows: WindowRows): Value {
  const { call, position } = expression;
  const own = findWindowFunction(call.name);
  const inner: Scope = { ...scope, window: null };
  const write = (operand: Expression) => writeExpression(inner, operand);
  if (own === null) {
    aggregateOf(call.name);
    const over = overSql(inner, expression, rows, expression.frame !== null);
    const value = writeAggregate(writeOperands(call, position, write), scope, {
      names: scope.definitions.names,
      compute: (name, argument) => `${name}(${argument}) OVER (${over})`,
    });
    return { ...value, sql: scope.definitions.define(value.sql) };
  }
  if (expression.orderBy.length === 0)
    throw new QueryProblem(position, `${call.name} needs ORDER BY in OVER (…)`);
  if (own.hasNoFrame && expression.frame !== null)
    throw new QueryProblem(position, `${call.name} has no ROWS`);
  // Rows with equal keys have one rank.
  const isRank = call.name === 'RANK' || call.name === 'DENSE_RANK';
  const over = overSql(inner, expression, rows, !isRank);
  const [operand, ...more] = call.operands;
  if (operand === undefined) {
    return {
      sql: scope.definitions.define(`toDecimal256(${own.engine}() OVER (${over}), 30)`),
      type: 'number',
    };
  }
  const value = write(operand);
  const type =
    value.type === 'null' || (value.type === 'property' && isNumberWanted(more[1])) ? 'number' : value.type;
  const argument = type === 'number' ? toNumber(inner, value, operand.position) : value.sql;
  const further = furtherArguments(inner, more, type);
  // Without such a row, a column that is never NULL would have a default value, such as 1970.
  const sql = `${own.engine}(${[`toNullable(${argument})`, ...further].join(', ')}) OVER (${over})`;
  return { sql: scope.definitions.define(sql), type };
}

function isNumberWanted(otherwise: Expression | undefined): boolean {
  return otherwise?.kind === 'number';
}

/** The offset and the default of LAG and LEAD. */
function furtherArguments(
  scope: Scope,
  [offset, otherwise]: readonly Expression[],
  type: Value['type'],
): string[] {
  if (offset === undefined) return [];
  if (offset.kind !== 'number' || !/^\d{1,4}$/.test(offset.digits) || Number(offset.digits) > OFFSET_MAX) {
    throw new QueryProblem(offset.position, `the offset is a whole number up to ${OFFSET_MAX}`);
  }
  if (otherwise === undefined) return [offset.digits];
  const value = writeExpression(scope, otherwise);
  if (value.type !== type && value.type !== 'null') {
    throw new QueryProblem(otherwise.position, 'the default has another type than the value');
  }
  return [offset.digits, type === 'number' ? toNumber(scope, value, otherwise.position) : value.sql];
}

function overSql(
  scope: Scope,
  { partitionBy, orderBy, frame }: WindowExpression,
  rows: WindowRows,
  isTotal: boolean,
): string {
  const keys = [rows.part, ...partitionBy.map((key) => writeExpression(scope, key).sql)];
  const ties = isTotal && (orderBy.length > 0 || frame !== null) ? rows.ties : [];
  const order = [...orderKeys(scope, orderBy).map(orderOf), ...ties];
  return [
    `PARTITION BY ${keys.join(', ')}`,
    ...(order.length === 0 ? [] : [`ORDER BY ${order.join(', ')}`]),
    ...(frame === null ? [] : [frameSql(frame)]),
  ].join(' ');
}

export interface OrderKey {
  readonly sql: string;
  /** Empty: ascending, of a value that is never NULL. */
  readonly direction: string;
}

/** A property is ordered as its number, and then as text. NULL is last unless specified otherwise. */
export function orderKeys(scope: Scope, items: readonly OrderItem[]): OrderKey[] {
  return items.flatMap(({ expression, isDescending, areNullsFirst }) => {
    const value = writeExpression(scope, expression);
    const forms =
      value.type === 'property' ? [toNumber(scope, value, expression.position), value.sql] : [value.sql];
    const direction = `${isDescending ? 'DESC' : 'ASC'} NULLS ${areNullsFirst ? 'FIRST' : 'LAST'}`;
    return forms.map((form) => ({ sql: scope.definitions.define(form), direction }));
  });
}

export function orderOf({ sql, direction }: OrderKey): string {
  return direction === '' ? sql : `${sql} ${direction}`;
}

function frameSql({ preceding, following }: WindowFrame): string {
  const bound = (rows: number | null, word: string) =>
    rows === 0 ? 'CURRENT ROW' : `${rows ?? 'UNBOUNDED'} ${word}`;
  return `ROWS BETWEEN ${bound(preceding, 'PRECEDING')} AND ${bound(following, 'FOLLOWING')}`;
}
