/** Functions of numbers. Inexact ones use `doubleSql` and are rounded to 12 significant digits. */
import { NUMBER_TYPE, OVERFLOW_MESSAGE } from '../values/exact-sql.ts';
import { type ScalarFunction, type ScalarPlan, scalar, special } from './scalar-function.ts';

/** Digits of a double that are reliable after one function of the platform's library. */
const DOUBLE_DIGITS = 12;
const DOUBLE_NOTE = `computed in double precision and rounded to ${DOUBLE_DIGITS} significant digits`;

/** A double as a number with 12 significant digits. NULL for NULL; an error if it has too many digits. */
export function doubleSql(double: string): string {
  const text = `printf('%.${DOUBLE_DIGITS - 1}e', ${double})`;
  const isTooLarge = `throwIf(ifNull(abs(${double}) >= 1e36, 0), '${OVERFLOW_MESSAGE}')`;
  return `if(${isTooLarge}, NULL, CAST(toDecimal256OrNull(${text}, 30), '${NUMBER_TYPE}'))`;
}

/** The square root of a number; NULL below 0. */
export function rootSql(number: string): string {
  return doubleSql(`sqrt(if(${number} >= 0, toFloat64(${number}), NULL))`);
}

function double(sql: (x: string) => string, condition: string | null): ScalarPlan {
  const within = (x: string) =>
    condition === null ? `toFloat64(${x})` : `if(${x} ${condition}, toFloat64(${x}), NULL)`;
  return { takes: ['number'], gives: 'number', sql: ([x = '']) => doubleSql(sql(within(x))) };
}

export const NUMBER_FUNCTIONS: readonly ScalarFunction[] = [
  scalar('ABS', 'ABS(number)', 'ABS(properties.change)', {
    takes: ['number'],
    gives: 'number',
    sql: ([x = '']) => `abs(${x})`,
  }),
  scalar('SIGN', 'SIGN(number)', 'SIGN(properties.change)', {
    takes: ['number'],
    gives: 'number',
    sql: ([x = '']) => `toDecimal256(sign(${x}), 30)`,
  }),
  scalar(
    'TRUNC',
    'TRUNC(number)',
    'TRUNC(properties.tokens / 1000)',
    { takes: ['number'], gives: 'number', sql: ([x = '']) => `CAST(trunc(${x}), '${NUMBER_TYPE}')` },
    { synonyms: ['TRUNCATE'], note: 'cuts towards zero' },
  ),
  special('ROUND', [1, 2], 'ROUND(number[, places])', 'ROUND(properties.seconds / 60, 2)', {
    note: 'half away from zero',
  }),
  special('CEIL', [1, 1], 'CEIL(number)', 'CEIL(properties.bytes / 1024)', { synonyms: ['CEILING'] }),
  special('FLOOR', [1, 1], 'FLOOR(number)', 'FLOOR(properties.bytes / 1024)'),
  special('LEAST', [2, 20], 'LEAST(x, y, …)', 'LEAST(properties.tokens, 1000)', { note: 'skips NULL' }),
  special('GREATEST', [2, 20], 'GREATEST(x, y, …)', 'GREATEST(COUNT(*), 100)', { note: 'skips NULL' }),
  special('MOD', [2, 2], 'MOD(x, y), x % y', 'properties.sequence % 10', {
    synonyms: ['modulo'],
    note: 'exact; the sign is that of x; NULL where y is 0',
  }),
  special('POWER', [2, 2], 'POWER(x, y)', 'POWER(properties.size, 2)', {
    synonyms: ['POW'],
    note: `exact to 30 decimal places for y = 2 … 8; otherwise ${DOUBLE_NOTE}`,
  }),
  scalar(
    'SQRT',
    'SQRT(number)',
    'SQRT(properties.area)',
    double((x) => `sqrt(${x})`, '>= 0'),
    {
      note: `${DOUBLE_NOTE}; NULL below 0`,
    },
  ),
  scalar(
    'LN',
    'LN(number)',
    'LN(1 + properties.tokens)',
    double((x) => `log(${x})`, '> 0'),
    {
      synonyms: ['LOG'],
      note: `${DOUBLE_NOTE}; NULL up to 0`,
    },
  ),
  scalar(
    'LOG2',
    'LOG2(number)',
    'LOG2(properties.size)',
    double((x) => `log2(${x})`, '> 0'),
    {
      note: `${DOUBLE_NOTE}; NULL up to 0`,
    },
  ),
  scalar(
    'LOG10',
    'LOG10(number)',
    'LOG10(properties.size)',
    double((x) => `log10(${x})`, '> 0'),
    {
      note: `${DOUBLE_NOTE}; NULL up to 0`,
    },
  ),
  scalar(
    'EXP',
    'EXP(number)',
    'EXP(properties.rate)',
    double((x) => `exp(${x})`, null),
    {
      note: DOUBLE_NOTE,
    },
  ),
];
