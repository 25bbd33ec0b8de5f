/** Writes calls of scalar functions: functions of the table by their plan, the others by separate rules. */
import { documentOfTextSql } from '../../query/property-sql.ts';
import { doubleSql } from '../functions/number-functions.ts';
import { type ArgumentKind, type ScalarPlan, wholeResult } from '../functions/scalar-function.ts';
import type { Expression } from '../syntax/query-syntax.ts';
import { bind } from '../values/bind-sql.ts';
import { checkedSql, productSql, SUMMAND_DIGITS_MAX } from '../values/exact-sql.ts';
import { QueryProblem } from '../values/query-refusal.ts';
import {
  INTERVAL_UNITS,
  intervalUnit,
  inZoneSql,
  isTimeZone,
  ofZoneSql,
  TIME_PARTS,
  timePartSql,
  truncatedSql,
} from '../values/time-units.ts';
import { describe, instantOf, toNumber, toText, type Value, type Writer } from '../values/value.ts';

/** Writes operands at the place of the call. */
export interface OperandWriter extends Writer {
  readonly write: (operand: Expression) => Value;
}

type FunctionCall = Extract<Expression, { kind: 'function' }>;

/** Integers as arguments: beyond this they are NULL. */
const WHOLE_MAX = "toDecimal256('1000000000', 30)";

/** A call of a function of the table. */
export function writePlanned(scope: OperandWriter, plan: ScalarPlan, operands: readonly Expression[]): Value {
  const { names } = scope.definitions;
  const args = operands.map((operand, index) =>
    argumentSql(scope, plan.takes[index] ?? plan.takes.at(-1), operand),
  );
  // A placeholder or a column can be repeated; anything else is computed once.
  const isSimple = (sql: string) => sql.startsWith('{') || scope.definitions.isColumn(sql);
  const bound = [...new Set(args.filter((arg) => !isSimple(arg)))];
  const sql =
    bound.length === 0
      ? plan.sql(args, names)
      : bind(names, bound, (variables) =>
          plan.sql(
            args.map((arg) => (isSimple(arg) ? arg : (variables[bound.indexOf(arg)] ?? arg))),
            names,
          ),
        );
  return { sql: scope.definitions.define(sql), type: plan.gives };
}

function argumentSql(scope: OperandWriter, kind: ArgumentKind | undefined, operand: Expression): string {
  const { position } = operand;
  switch (kind) {
    case 'number':
      return numberOf(scope, operand);
    case 'whole': {
      const number = numberOf(scope, operand);
      return bind(
        scope.definitions.names,
        [number],
        ([x = '']) => `toInt64(if(abs(${x}) < ${WHOLE_MAX}, ${x}, NULL))`,
      );
    }
    case 'text':
      return textOf(scope, operand);
    case 'shown':
      return toText(scope, scope.write(operand));
    case 'timestamp':
      return timestampOf(scope, operand);
    case 'list':
      return listOf(scope, operand);
    case 'zone':
      return zoneOf(scope, operand);
    case 'pattern':
      return scope.parameters.bind('pattern', 'String', literalOf(operand));
    case 'literal':
    case 'replacement':
    case 'like':
      return scope.parameters.bind('text', 'String', literalOf(operand));
    default:
      throw new QueryProblem(position, 'this cannot stand here');
  }
}

/** A call of a function without a direct ClickHouse equivalent. */
export function writeSpecial(scope: OperandWriter, call: FunctionCall): Value {
  const { name, operands, position } = call;
  const [first, second, third] = operands;
  if (first === undefined) throw new QueryProblem(position, `${name} has the wrong number of arguments`);
  if (name === 'LENGTH') return writeLength(scope, first);
  if (name === 'TODATETIME') return writeDateTime(scope, first, second);
  if (second === undefined) throw new QueryProblem(position, `${name} has the wrong number of arguments`);
  switch (name) {
    case 'POWER':
      return writePower(scope, first, second);
    case 'DATE_TRUNC': {
      const unit = intervalUnit(literalOf(first));
      if (unit === null)
        throw new QueryProblem(first.position, `DATE_TRUNC takes one of ${list(INTERVAL_UNITS)} first`);
      if (third === undefined) return timed(scope, second, (t) => truncatedSql(t, unit), 'timestamp');
      const zone = zoneOf(scope, third);
      return timed(
        scope,
        second,
        (t) => ofZoneSql(truncatedSql(inZoneSql(t, zone), unit), zone),
        'timestamp',
      );
    }
    case 'EXTRACT': {
      const part = literalOf(first).toLowerCase();
      if (part !== 'epoch' && !Object.hasOwn(TIME_PARTS, part)) {
        throw new QueryProblem(
          first.position,
          `EXTRACT takes one of ${list(Object.keys(TIME_PARTS))}, 'epoch' first`,
        );
      }
      return timed(scope, second, (t) => timePartSql(t, part) ?? t, 'number');
    }
    case 'DATE_DIFF': {
      const unit = intervalUnit(literalOf(first));
      if (unit === null)
        throw new QueryProblem(first.position, `DATE_DIFF takes one of ${list(INTERVAL_UNITS)} first`);
      const [from, to] = [timestampOf(scope, second), timestampOf(scope, third ?? second)];
      return {
        sql: scope.definitions.define(wholeResult(`dateDiff('${unit}', ${from}, ${to})`)),
        type: 'number',
      };
    }
    case 'AT_TIME_ZONE': {
      const zone = zoneOf(scope, second);
      return timed(scope, first, (t) => inZoneSql(t, zone), 'timestamp');
    }
    case 'ELEMENT':
      return writeElement(scope, first, second);
    default:
      return writeMember(scope, call, first);
  }
}

function zoneOf(scope: OperandWriter, operand: Expression): string {
  const zone = literalOf(operand);
  if (!isTimeZone(zone)) throw new QueryProblem(operand.position, `there is no time zone ${zone}`);
  return scope.parameters.bind('zone', 'String', zone);
}

/** Seconds since 1970 that a timestamp may have: until 2261, as ClickHouse has them. */
const SECONDS_MAX = "toDecimal256('9000000000', 30)";

/**
 * A number is seconds since 1970, including fractions; a text is a time, in UTC if it has no offset and no zone is
 * given.
 */
function writeDateTime(scope: OperandWriter, operand: Expression, zone: Expression | undefined): Value {
  const value = scope.write(operand);
  const { define, names } = scope.definitions;
  if (value.type === 'number') {
    const sql = bind(names, [value.sql], ([x = '']) => {
      const seconds = `if(abs(${x}) < ${SECONDS_MAX}, ${x}, NULL)`;
      return `fromUnixTimestamp64Milli(toInt64(floor(${seconds} * 1000)), 'UTC')`;
    });
    return { sql: define(sql), type: 'timestamp' };
  }
  const time = writeTimestamp(scope, value, operand.position);
  if (zone === undefined || value.type === 'timestamp') return time;
  const bound = zoneOf(scope, zone);
  // A text with an offset identifies an instant.
  if (typeof value.literal === 'string' && !HAS_OFFSET.test(value.literal))
    return { sql: define(ofZoneSql(time.sql, bound)), type: 'timestamp' };
  if (typeof value.literal === 'string') return time;
  throw new QueryProblem(zone.position, 'a zone goes with a time in quotes: others are in UTC');
}

const HAS_OFFSET = /(?:z|[+-]\d{2}:\d{2})$/i;

function list(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

function timed(
  scope: OperandWriter,
  operand: Expression,
  sql: (time: string) => string,
  type: 'timestamp' | 'number',
): Value {
  const time = timestampOf(scope, operand);
  const { definitions } = scope;
  const written = definitions.isColumn(time)
    ? sql(time)
    : bind(definitions.names, [time], ([t = '']) => sql(t));
  return { sql: definitions.define(written), type };
}

const POWER_PRODUCTS_MAX = 8;

/** Small integer powers are products; all others use doubles. */
function writePower(scope: OperandWriter, base: Expression, exponent: Expression): Value {
  const { names } = scope.definitions;
  const x = numberOf(scope, base);
  const times =
    exponent.kind === 'number' && /^[2-8]$/.test(exponent.digits) ? Number(exponent.digits) : null;
  if (times === null || times > POWER_PRODUCTS_MAX) {
    const y = numberOf(scope, exponent);
    // A power of a negative number, or of 0, may be undefined, which is NULL.
    const sql = bind(names, [x, y], ([a = '', b = '']) =>
      doubleSql(`if(${a} > 0 OR (${a} = 0 AND ${b} > 0), pow(toFloat64(${a}), toFloat64(${b})), NULL)`),
    );
    return { sql: scope.definitions.define(sql), type: 'number' };
  }
  const sql = bind(names, [x], ([factor = '']) => {
    let product = factor;
    for (let count = 1; count < times; count += 1) {
      product = checkedSql(names, productSql(names, product, factor), SUMMAND_DIGITS_MAX);
    }
    return product;
  });
  return { sql: scope.definitions.define(sql), type: 'number' };
}

/** The number of characters of a text, or of elements of a list or of a property that is one. */
function writeLength(scope: OperandWriter, operand: Expression): Value {
  const value = scope.write(operand);
  const { define, names } = scope.definitions;
  if (value.type === 'list') return { sql: define(wholeResult(`length(${value.sql})`)), type: 'number' };
  const text = textValue(value, operand.position);
  if (value.type !== 'property') {
    return { sql: define(wholeResult(`lengthUTF8(${text})`)), type: 'number' };
  }
  const sql = bind(names, [text], ([x = '']) => {
    const length = `if(startsWith(ifNull(${x}, ''), '['), length(${elementsSql(x)}), lengthUTF8(ifNull(${x}, '')))`;
    return `if(isNull(${x}), NULL, ${wholeResult(length)})`;
  });
  return { sql: define(sql), type: 'number' };
}

function writeElement(scope: OperandWriter, operand: Expression, index: Expression): Value {
  const elements = listOf(scope, operand);
  const number = numberOf(scope, index);
  const sql = bind(scope.definitions.names, [elements, number], ([list = '', n = '']) => {
    const isThere = `ifNull(${n} != 0 AND abs(${n}) <= length(${list}), 0)`;
    return `if(${isThere}, arrayElement(${list}, toInt64(if(${isThere}, ifNull(${n}, toDecimal256(1, 30)), toDecimal256(1, 30)))), NULL)`;
  });
  return { sql: scope.definitions.define(sql), type: 'property' };
}

/** A member of the JSON object in a text: `->>`, JSONExtract…, JSON_VALUE. */
function writeMember(scope: OperandWriter, { name, operands }: FunctionCall, first: Expression): Value {
  const steps = operands
    .slice(1)
    .flatMap((step) => (name === 'JSON_VALUE' ? jsonPath(step) : [literalOf(step)]));
  const bound = steps.map((step) => scope.parameters.bind('member', 'String', step)).join(', ');
  const text = textOf(scope, first);
  const sql = bind(
    scope.definitions.names,
    [`ifNull(${text}, '')`],
    ([x = '']) => `JSONExtract(${documentOfTextSql(x)}, ${bound}, 'Nullable(String)')`,
  );
  return { sql: scope.definitions.define(sql), type: 'property' };
}

/** `$.a.b` */
function jsonPath(step: Expression): string[] {
  const path = literalOf(step);
  if (!/^\$(?:\.[^.[\]"'*\s]+)+$/.test(path)) {
    throw new QueryProblem(step.position, "a path is written as in '$.usage.tokens'");
  }
  return path.slice(2).split('.');
}

function literalOf(operand: Expression): string {
  if (operand.kind === 'text') return operand.value;
  throw new QueryProblem(operand.position, "a text in 'single quotes' is needed here");
}

function numberOf(scope: OperandWriter, operand: Expression): string {
  return toNumber(scope, scope.write(operand), operand.position);
}

function textOf(scope: OperandWriter, operand: Expression): string {
  return textValue(scope.write(operand), operand.position);
}

function textValue({ type, sql }: Value, position: number): string {
  if (type === 'property' || type === 'text') return sql;
  if (type === 'null') return "CAST(NULL, 'Nullable(String)')";
  throw new QueryProblem(
    position,
    `text is needed here, not ${describe(type)}: CAST(… AS VARCHAR) makes one`,
  );
}

/** DateTime64 in UTC. */
export function timestampOf(scope: OperandWriter, operand: Expression): string {
  const value = scope.write(operand);
  if (value.type === 'timestamp') return value.sql;
  if (value.type === 'text' && typeof value.literal === 'string') {
    return writeTimestamp(scope, value, operand.position).sql;
  }
  const hint = value.type === 'property' || value.type === 'text' ? ': CAST(… AS TIMESTAMP) makes one' : '';
  throw new QueryProblem(operand.position, `a timestamp is needed here, not ${describe(value.type)}${hint}`);
}

/** CAST to a timestamp: of a literal, or of text; NULL if the text is not a timestamp. */
export function writeTimestamp(scope: OperandWriter, value: Value, position: number): Value {
  if (value.type === 'timestamp') return value;
  if (typeof value.literal === 'string') {
    const at = instantOf(value.literal);
    if (at === null)
      throw new QueryProblem(position, "a timestamp is written as '2026-11-20T00:00:00Z' or '2026-11-20'");
    const sql = `fromUnixTimestamp64Milli(${scope.parameters.bind('instant', 'Int64', at)}, 'UTC')`;
    return { sql, type: 'timestamp' };
  }
  const text = textValue(value, position);
  return {
    sql: scope.definitions.define(`parseDateTime64BestEffortOrNull(${text}, 3, 'UTC')`),
    type: 'timestamp',
  };
}

/** Array(Nullable(String)): the elements of a list as texts. Empty for a property whose text is not a JSON list. */
export function listOf(scope: OperandWriter, operand: Expression): string {
  const value = scope.write(operand);
  if (value.type === 'list') return value.sql;
  const text = textValue(value, operand.position);
  return scope.definitions.define(bind(scope.definitions.names, [text], ([x = '']) => elementsSql(x)));
}

function elementsSql(text: string): string {
  return `JSONExtract(${documentOfTextSql(`ifNull(${text}, '')`, '[')}, 'Array(Nullable(String))')`;
}
