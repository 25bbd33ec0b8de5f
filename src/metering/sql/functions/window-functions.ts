/** The table of functions that require OVER. COUNT, SUM, AVG, MIN and MAX may also be used with it. */

export interface WindowFunction {
  readonly name: string;
  readonly signature: string;
  readonly example: string;
  readonly note?: string;
  readonly least: number;
  readonly most: number;
  readonly engine: string;
  /** A ClickHouse count, or one of the values. */
  readonly gives: 'count' | 'value';
  /** Whether its frame is fixed. */
  readonly hasNoFrame: boolean;
}

export const WINDOW_FUNCTIONS: readonly WindowFunction[] = [
  rank('ROW_NUMBER', 'row_number', 'rows with equal keys are numbered in the order of time, then of the id'),
  rank('RANK', 'rank'),
  rank('DENSE_RANK', 'dense_rank'),
  value('LAG', 'lag', [1, 3], 'LAG(x[, n[, default]]) OVER (… ORDER BY …)'),
  value('LEAD', 'lead', [1, 3], 'LEAD(x[, n[, default]]) OVER (… ORDER BY …)'),
  {
    ...value('FIRST_VALUE', 'first_value_respect_nulls', [1, 1], 'FIRST_VALUE(x) OVER (…)'),
    hasNoFrame: false,
  },
  { ...value('LAST_VALUE', 'last_value_respect_nulls', [1, 1], 'LAST_VALUE(x) OVER (…)'), hasNoFrame: false },
];

/** Aggregate functions that may be used with OVER. */
export const WINDOW_AGGREGATES = ['COUNT', 'SUM', 'AVG', 'MIN', 'MAX'];

function rank(name: string, engine: string, note?: string): WindowFunction {
  const signature = `${name}() OVER ([PARTITION BY …] ORDER BY …)`;
  const example = `${name}() OVER (PARTITION BY properties.user ORDER BY timestamp)`;
  return {
    name,
    signature,
    example,
    least: 0,
    most: 0,
    engine,
    gives: 'count',
    hasNoFrame: true,
    ...(note === undefined ? {} : { note }),
  };
}

function value(
  name: string,
  engine: string,
  [least, most]: readonly [number, number],
  signature: string,
): WindowFunction {
  const example = `${name}(properties.level) OVER (PARTITION BY properties.user ORDER BY timestamp)`;
  return { name, signature, example, least, most, engine, gives: 'value', hasNoFrame: true };
}
