/**
 * Exact quantiles over all values of a group. The place of a quantile is computed with whole numbers, and what lies
 * between two values with decimals, so there is no double in it.
 */
import { decimal } from '../../core/decimal.ts';
import { bind } from './bind-sql.ts';
import type { NameSource } from './definitions.ts';
import { literalProductSql, NUMBER_TYPE } from './exact-sql.ts';
import type { Value } from './value.ts';

/** A level has at most 6 decimal places. */
const PARTS = 1_000_000;

/** `values`: the array of the numbers of a group. NULL where it has none. */
export function writeQuantile(
  kind: 'interpolated' | 'discrete' | 'quantile_exact',
  level: string,
  values: string,
  names: NameSource,
): Value {
  const millionths = Number(decimal(level).times(String(PARTS)).toString());
  const sql = bind(names, [`arraySort(${values})`], ([list = '']) => {
    const count = `toInt64(length(${list}))`;
    const at = (index: string) => `arrayElement(${list}, ${index})`;
    const result = {
      discrete: () => at(`greatest(1, intDiv(${count} * ${millionths} + ${PARTS - 1}, ${PARTS}))`),
      quantile_exact: () => at(`least(${count}, intDiv(${count} * ${millionths}, ${PARTS}) + 1)`),
      interpolated: () => interpolated(names, at, `(${count} - 1) * ${millionths}`, count),
    }[kind]();
    return `if(empty(${list}), NULL, CAST(${result}, '${NUMBER_TYPE}'))`;
  });
  return { sql, type: 'number' };
}

/** Between the two values around the place p·(n − 1), counted from 0. */
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

/** `values` and `weights`: arrays of the numbers of a group and of their weights, above 0, in one order. */
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
