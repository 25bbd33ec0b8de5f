/**
 * Exact quantiles over all values of a group. The position of a quantile is computed with integers, and interpolated
 * values with decimals, so no double is involved.
 */
import { decimal } from '../../../core/decimal.ts';
import { bind } from '../values/bind-sql.ts';
import type { NameSource } from '../values/definitions.ts';
import { literalProductSql, NUMBER_TYPE } from '../values/exact-sql.ts';
import type { Value, Writer } from '../values/value.ts';

/** A level has at most 6 decimal places. */
const PARTS = 1_000_000;

/** Below this, a number in millionths fits 64 bits. */
const SHORT_MAX = "toDecimal256('100000000000', 30)";
/** Replaces a number that would not fit, and does not equal it. NULL would keep the number below. */
const ZERO = 'toDecimal256(0, 30)';
const SHORT_TYPE = 'Nullable(Decimal(18, 6))';

/**
 * A number as two columns, one of which is NULL: its millionths as Int64 if it has no further places and is not large,
 * else itself. ClickHouse sorts 64-bit integers ten times as fast as decimals, and they take a quarter of the memory.
 */
export function splitNumber({ definitions }: Writer, number: string): [millionths: string, other: string] {
  const { names } = definitions;
  const short = bind(
    names,
    [number],
    ([x = '']) => `CAST(if(ifNull(abs(${x}) < ${SHORT_MAX}, 0), ${x}, ${ZERO}), '${SHORT_TYPE}')`,
  );
  const millionths = definitions.define(
    bind(names, [number, short], ([x = '', cut = '']) => {
      const digits = `reinterpret(assumeNotNull(${cut}), 'Int64')`;
      return `if(ifNull(${cut} = ${x}, 0), ${digits}, NULL)`;
    }),
  );
  return [millionths, `if(isNull(${millionths}), ${number}, NULL)`];
}

/** `lists`: the arrays of both columns of `splitNumber` in a group. NULL if both are empty. */
export function writeQuantile(
  kind: 'interpolated' | 'discrete' | 'quantile_exact',
  level: string,
  [short = '', others = '']: readonly string[],
  names: NameSource,
): Value {
  const millionths = Number(decimal(level).times(String(PARTS)).toString());
  const lists = [`arraySort(${short})`, sortedTogether(names, short, others)];
  const sql = bind(names, lists, ([list = '', all = '']) => {
    const count = `toInt64(length(${list}) + if(empty(${all}), 0, length(${others})))`;
    const at = (index: string) =>
      `if(empty(${all}), ${numberOf(`arrayElement(${list}, ${index})`)}, arrayElement(${all}, ${index}))`;
    const result = {
      discrete: () => at(`greatest(1, intDiv(${count} * ${millionths} + ${PARTS - 1}, ${PARTS}))`),
      quantile_exact: () => at(`least(${count}, intDiv(${count} * ${millionths}, ${PARTS}) + 1)`),
      interpolated: () => interpolated(names, at, `(${count} - 1) * ${millionths}`, count),
    }[kind]();
    return `if(${count} = 0, NULL, CAST(${result}, '${NUMBER_TYPE}'))`;
  });
  return { sql, type: 'number' };
}

/** All numbers of a group, sorted as decimals; empty if all of them are short. */
function sortedTogether(names: NameSource, short: string, others: string): string {
  const each = names.fresh('x');
  const needed = `if(empty(${others}), arrayResize(${short}, 0), ${short})`;
  return `arraySort(arrayConcat(arrayMap(${each} -> ${numberOf(each)}, ${needed}), ${others}))`;
}

/** Millionths as a number. */
function numberOf(millionths: string): string {
  return `reinterpret(toInt256(${millionths}) * toInt256('1${'0'.repeat(24)}'), 'Decimal(76, 30)')`;
}

/** Between the two values around the position p·(n − 1), counted from 0. */
function interpolated(
  names: NameSource,
  at: (index: string) => string,
  place: string,
  count: string,
): string {
  const low = `greatest(1, least(${count}, intDiv(${place}, ${PARTS}) + 1))`;
  const high = `greatest(1, least(${count}, intDiv(${place}, ${PARTS}) + 2))`;
  return bind(names, [at(low), at(high)], ([x = '', y = '']) => {
    const share =
      literalProductSql(`((${y} - ${x}) * modulo(${place}, ${PARTS}))`, decimal('0.000001')) ?? '';
    return `${x} + ${share}`;
  });
}

/** `values` and `weights`: arrays of the numbers of a group and of their weights, above 0, in the same order. */
export function writeWeightedQuantile(
  level: string,
  values: string,
  weights: string,
  names: NameSource,
): Value {
  const sql = bind(names, [`arraySort(arrayZip(${values}, ${weights}))`], ([list = '']) => {
    const pair = names.fresh('x');
    const sorted = `arrayMap(${pair} -> tupleElement(${pair}, 1), ${list})`;
    const sums = `arrayCumSum(arrayMap(${pair} -> tupleElement(${pair}, 2), ${list}))`;
    return bind(names, [sorted, sums], ([x = '', sum = '']) => {
      const needed = literalProductSql(`arrayElement(${sum}, -1)`, decimal(level)) ?? '';
      const [value, reached] = [names.fresh('x'), names.fresh('x')];
      const first = bind(
        names,
        [needed],
        ([limit = '']) => `arrayFirst((${value}, ${reached}) -> ${reached} >= ${limit}, ${x}, ${sum})`,
      );
      return `if(empty(${x}), NULL, CAST(${first}, '${NUMBER_TYPE}'))`;
    });
  });
  return { sql, type: 'number' };
}
