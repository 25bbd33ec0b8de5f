/**
 * The types of a SQL metric. A property has no fixed type: it is a number where a number is expected and text where
 * text is.
 */
import type { Decimal } from '../../../core/decimal.ts';
import { type Instant, parseRfc3339 } from '../../../core/time.ts';
import { numbersSql } from '../../query/number-sql.ts';
import type { Parameters } from '../../query/parameters.ts';
import type { Definitions } from './definitions.ts';
import { NUMBER_TYPE } from './exact-sql.ts';
import { QueryProblem } from './query-refusal.ts';

export type ValueType = 'property' | 'text' | 'number' | 'boolean' | 'timestamp' | 'list' | 'null';

/** A typed piece of SQL. Every value may be NULL. */
export interface Value {
  readonly sql: string;
  readonly type: ValueType;
  /** The value of a literal. */
  readonly literal?: Decimal | string;
  /** Set for a column, a property or a literal: it can be repeated at no cost, also as a number. */
  readonly isPlain?: true;
  /** Set for a property: its number, read below the SELECT that uses it. */
  readonly number?: () => string;
}

/** The state for writing expressions into one SELECT. */
export interface Writer {
  readonly parameters: Parameters;
  readonly definitions: Definitions;
}

/** A value as a number; a property that is not a number becomes NULL, by the rule of all metrics. */
export function toNumber(writer: Writer, value: Value, position: number): string {
  if (value.type === 'number') return value.sql;
  if (value.type === 'null') return `CAST(NULL, '${NUMBER_TYPE}')`;
  if (value.type === 'property') return value.number?.() ?? parsedNumber(writer.definitions, value.sql);
  throw new QueryProblem(
    position,
    `a number is needed here, not ${DESCRIPTIONS[value.type]}${HINTS[value.type] ?? ''}`,
  );
}

const DESCRIPTIONS: Readonly<Record<ValueType, string>> = {
  property: 'a property',
  text: 'text',
  number: 'a number',
  boolean: 'a condition',
  timestamp: 'a timestamp',
  list: 'a list',
  null: 'NULL',
};

const HINTS: Partial<Readonly<Record<ValueType, string>>> = {
  text: ': CAST(… AS DECIMAL) makes one',
  boolean: ': CASE WHEN … THEN 1 ELSE 0 END makes one',
};

export function describe(type: ValueType): string {
  return DESCRIPTIONS[type];
}

/** Parses a number like everywhere in metering. */
function parsedNumber(definitions: Definitions, text: string): string {
  return definitions.define(`arrayElement(${numbersSql([`ifNull(${text}, '')`])}, 1)`);
}

/** A value as text, in the form used for groups and CAST. */
export function toText(writer: Writer, value: Value): string {
  switch (value.type) {
    case 'property':
    case 'text':
      return value.sql;
    case 'boolean':
      // The condition is written once: an expression may nest many such texts.
      return `toString(CAST(${value.sql}, 'Nullable(Bool)'))`;
    case 'timestamp':
      return `concat(replaceOne(toString(${writer.definitions.define(value.sql)}), ' ', 'T'), 'Z')`;
    case 'list':
      return `toJSONString(${value.sql})`;
    case 'null':
      return "CAST(NULL, 'Nullable(String)')";
    default:
      return `toString(${value.sql})`;
  }
}

export function requireBoolean(value: Value, position: number): string {
  if (value.type === 'boolean') return value.sql;
  if (value.type === 'null') return "CAST(NULL, 'Nullable(UInt8)')";
  throw new QueryProblem(position, `a condition is needed here, not ${DESCRIPTIONS[value.type]}`);
}

/** The common type of several values, such as the results of CASE. Properties adapt to the others. */
export function commonType(types: readonly ValueType[], position: number): ValueType {
  const distinct = [...new Set(types)].filter((type) => type !== 'null');
  const [first, second] = distinct.filter((type) => type !== 'property');
  if (second !== undefined && first !== undefined) {
    throw new QueryProblem(position, `${describe(first)} and ${describe(second)} cannot stand in one column`);
  }
  if (first === 'boolean' || first === 'timestamp' || first === 'list') {
    if (distinct.includes('property')) {
      throw new QueryProblem(position, `${describe(first)} and a property cannot stand in one column`);
    }
    return first;
  }
  return first ?? distinct[0] ?? 'null';
}

/** A value as `type`, which must be its type or one it adapts to. */
export function convert(writer: Writer, value: Value, type: ValueType, position: number): string {
  return type === 'number' ? toNumber(writer, value, position) : value.sql;
}

/** A literal point in time, or null: RFC 3339, or a UTC date with or without a time. */
export function instantOf(text: string): Instant | null {
  const match = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?))?$/.exec(text);
  return match === null ? parseRfc3339(text) : parseRfc3339(`${match[1]}T${match[2] ?? '00:00:00'}Z`);
}
