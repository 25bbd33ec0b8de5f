/** Comparisons and lists. NULL is unknown, on either side and in NOT IN, as in the SQL standard. */
import { Decimal } from '../../../core/decimal.ts';
import type { ComparisonOperator, Expression } from '../syntax/query-syntax.ts';
import { bind } from '../values/bind-sql.ts';
import { QueryProblem } from '../values/query-refusal.ts';
import { describe, instantOf, toNumber, toText, type Value, type Writer } from '../values/value.ts';

interface Place {
  readonly operator: ComparisonOperator;
  readonly position: number;
}

const SQL_OPERATORS: Readonly<Record<ComparisonOperator, string>> = {
  '=': 'equals',
  '<>': 'notEquals',
  '<': 'less',
  '<=': 'lessOrEquals',
  '>': 'greater',
  '>=': 'greaterOrEquals',
};

/**
 * A property is compared by the type of the other side: as a number with numbers, as text with text. Two properties are
 * compared as text for = and <>, as numbers for order. Text is compared bytewise.
 */
export function writeComparison(writer: Writer, place: Place, left: Value, right: Value): Value {
  const [a, b] = sidesOf(writer, place, left, right);
  return { sql: writer.definitions.define(`${SQL_OPERATORS[place.operator]}(${a}, ${b})`), type: 'boolean' };
}

/** One of several comparisons of the same value, written as a condition or as part of a larger expression. */
export interface ComparisonWith extends Place {
  readonly other: Value;
}

/**
 * An expression over several comparisons of `value`, which is computed once: unless it is a column it is bound to a
 * name, because ClickHouse would plan it again for each comparison.
 */
export function writeComparisons(
  writer: Writer,
  value: Value,
  comparisons: readonly ComparisonWith[],
  write: (conditions: readonly string[]) => string,
): string {
  const sides = comparisons.map((comparison) => sidesOf(writer, comparison, value, comparison.other));
  const written = (nameOf: (side: string) => string) =>
    write(
      sides.map(([own, other], index) => {
        const { operator = '=' } = comparisons[index] ?? {};
        return `${SQL_OPERATORS[operator]}(${nameOf(own)}, ${other})`;
      }),
    );
  const { definitions } = writer;
  // Compared as a number and as text, a value has two forms.
  const repeated = [...new Set(sides.map(([own]) => own))];
  if (value.isPlain === true || repeated.every(definitions.isColumn)) {
    return definitions.define(written((own) => own));
  }
  const sql = bind(definitions.names, repeated, (variables) =>
    written((own) => variables[repeated.indexOf(own)] ?? own),
  );
  return definitions.define(sql);
}

function sidesOf(writer: Writer, { operator, position }: Place, left: Value, right: Value): [string, string] {
  const types = new Set([left.type, right.type]);
  const both = (convert: (value: Value) => string): [string, string] => [convert(left), convert(right)];
  if (types.has('null')) return both(({ sql }) => sql);
  if (types.has('timestamp')) return both((value) => instantSql(writer, value, position));
  if (types.has('number')) return both((value) => toNumber(writer, value, position));
  if (types.has('boolean')) {
    if (types.has('text')) throw incomparable(position, 'boolean', 'text');
    return types.has('property') ? both((value) => toText(writer, value)) : both(({ sql }) => sql);
  }
  const isOrderOfProperties = !types.has('text') && operator !== '=' && operator !== '<>';
  return both((value) => (isOrderOfProperties ? toNumber(writer, value, position) : value.sql));
}

/** `value IN (literals)`. The literals decide whether a property is compared as text or as a number. */
export function writeIn(
  writer: Writer,
  { position, values }: Extract<Expression, { kind: 'in' }>,
  operand: Value,
  literals: readonly Value[],
): Value {
  const [first] = literals;
  if (first === undefined) throw new QueryProblem(position, 'a list has at least one value');
  const mixed = literals.findIndex(({ type }) => type !== first.type);
  if (mixed >= 0) {
    throw new QueryProblem(values[mixed]?.position ?? position, 'a list holds only numbers or only texts');
  }
  const { sql, list } = listSql(writer, position, operand, literals);
  return { sql: writer.definitions.define(`in(${sql}, ${list})`), type: 'boolean' };
}

function listSql(
  writer: Writer,
  position: number,
  operand: Value,
  literals: readonly Value[],
): { sql: string; list: string } {
  const texts = literals.flatMap(({ literal }) => (typeof literal === 'string' ? [literal] : []));
  if (operand.type === 'timestamp') {
    return {
      sql: operand.sql,
      list: `(${literals.map((literal) => instantSql(writer, literal, position)).join(', ')})`,
    };
  }
  if (texts.length === literals.length) {
    if (operand.type !== 'property' && operand.type !== 'text')
      throw incomparable(position, operand.type, 'text');
    return { sql: operand.sql, list: writer.parameters.bind('texts', 'Array(String)', texts) };
  }
  if (literals.every(({ literal }) => literal instanceof Decimal)) {
    const list = literals.map(({ sql }) => sql).join(', ');
    return { sql: toNumber(writer, operand, position), list: `(${list})` };
  }
  // The rest are booleans: compared with a property they are the texts true and false.
  if (operand.type !== 'property') throw incomparable(position, operand.type, 'boolean');
  return { sql: operand.sql, list: `(${literals.map((literal) => toText(writer, literal)).join(', ')})` };
}

function instantSql(writer: Writer, value: Value, position: number): string {
  if (value.type === 'timestamp') return value.sql;
  const at = typeof value.literal === 'string' ? instantOf(value.literal) : null;
  if (at === null) {
    throw new QueryProblem(
      position,
      "a timestamp is compared with a timestamp or with a literal such as '2026-11-20T00:00:00Z'",
    );
  }
  return `fromUnixTimestamp64Milli(${writer.parameters.bind('instant', 'Int64', at)}, 'UTC')`;
}

function incomparable(position: number, a: Value['type'], b: Value['type']): QueryProblem {
  return new QueryProblem(position, `${describe(a)} cannot be compared with ${describe(b)}`);
}
