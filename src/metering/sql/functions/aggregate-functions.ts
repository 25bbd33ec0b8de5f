/** The table of aggregate functions. All skip NULL, and accept FILTER (WHERE …) or the suffix -If. */

/** How a call of it is written in SQL. */
export type AggregateKind =
  | 'count'
  | 'sum'
  | 'avg'
  | 'min'
  | 'max'
  | 'earliest'
  | 'latest'
  | 'least_by'
  | 'greatest_by'
  | 'variance'
  | 'deviation'
  | 'bits'
  | 'any_true'
  | 'all_true'
  | 'interpolated'
  | 'discrete'
  | 'quantile_exact'
  | 'weighted';

export interface AggregateFunction {
  readonly name: string;
  readonly synonyms?: readonly string[];
  readonly signature: string;
  readonly example: string;
  readonly note?: string;
  readonly kind: AggregateKind;
  readonly operands: number;
  /** Whether its states can be merged along the hours; otherwise a query with it is evaluated again at each hour. */
  readonly isHourly: boolean;
  /** The place of the level of a quantile. */
  readonly level?: 'parameter' | 'half' | 'first';
  /** Whether it applies to a sample rather than to all rows. */
  readonly isSample?: boolean;
  /** ClickHouse's name, if the kind has several. */
  readonly engine?: 'groupBitOr' | 'groupBitAnd' | 'groupBitXor';
  /** Whether only distinct values count, even without DISTINCT. */
  readonly isDistinct?: boolean;
}

const ROOT = 'the root is rounded to 12 significant digits';
const EXACT_VARIANCE = 'exact to 30 decimal places';

export const AGGREGATE_FUNCTIONS: readonly AggregateFunction[] = [
  of('COUNT', 'count', 'COUNT(*), COUNT(x), COUNT(DISTINCT x, …)', 'COUNT(DISTINCT properties.user)'),
  {
    ...of('UNIQ', 'count', 'uniqExact(x)', 'uniqExact(properties.user)', 'exact: as COUNT(DISTINCT x)'),
    synonyms: ['uniqExact', 'countDistinct', 'APPROX_COUNT_DISTINCT', 'uniqCombined', 'uniqHLL12'],
    isDistinct: true,
  },
  of('SUM', 'sum', 'SUM(number)', 'SUM(properties.tokens)'),
  { ...of('AVG', 'avg', 'AVG(number)', 'AVG(properties.tokens)'), synonyms: ['MEAN'] },
  of('MIN', 'min', 'MIN(x)', 'MIN(properties.price)'),
  of('MAX', 'max', 'MAX(x)', 'MAX(properties.price)'),
  {
    ...of(
      'ANY',
      'min',
      'ANY_VALUE(x)',
      'ANY_VALUE(properties.price)',
      'always the least one, so that the result does not depend on the order',
    ),
    synonyms: ['ANY_VALUE', 'anyHeavy'],
  },
  of('EARLIEST', 'earliest', 'EARLIEST(x)', 'EARLIEST(properties.level)', 'by the time of the events'),
  of('LATEST', 'latest', 'LATEST(x)', 'LATEST(properties.level)', 'by the time of the events'),
  {
    ...of(
      'ARG_MAX',
      'greatest_by',
      'argMax(x, by)',
      'argMax(properties.level, timestamp)',
      'among equals the greatest x',
    ),
    synonyms: ['argMax', 'MAX_BY'],
    operands: 2,
  },
  {
    ...of(
      'ARG_MIN',
      'least_by',
      'argMin(x, by)',
      'argMin(properties.level, timestamp)',
      'among equals the least x',
    ),
    synonyms: ['argMin', 'MIN_BY'],
    operands: 2,
  },
  {
    ...of('VAR_SAMP', 'variance', 'VARIANCE(number)', 'VARIANCE(properties.latency)', EXACT_VARIANCE),
    synonyms: ['VARIANCE', 'varSamp'],
    isSample: true,
  },
  {
    ...of('VAR_POP', 'variance', 'VAR_POP(number)', 'VAR_POP(properties.latency)', EXACT_VARIANCE),
    synonyms: ['varPop'],
  },
  {
    ...of('STDDEV_SAMP', 'deviation', 'STDDEV(number)', 'STDDEV(properties.latency)', ROOT),
    synonyms: ['STDDEV', 'STDEV', 'stddevSamp'],
    isSample: true,
  },
  {
    ...of('STDDEV_POP', 'deviation', 'STDDEV_POP(number)', 'STDDEV_POP(properties.latency)', ROOT),
    synonyms: ['stddevPop'],
  },
  ...(['OR', 'AND', 'XOR'] as const).map((name): AggregateFunction => {
    const engine = ({ OR: 'groupBitOr', AND: 'groupBitAnd', XOR: 'groupBitXor' } as const)[name];
    return {
      ...of(
        `BIT_${name}`,
        'bits',
        `BIT_${name}(number)`,
        `BIT_${name}(properties.flags)`,
        'whole numbers below 2^63',
      ),
      synonyms: [engine],
      engine,
    };
  }),
  {
    ...of('BOOL_OR', 'any_true', 'BOOL_OR(condition)', 'MAX(CASE WHEN properties.a > 1 THEN 1 ELSE 0 END)'),
    synonyms: ['logical_or'],
  },
  {
    ...of('BOOL_AND', 'all_true', 'BOOL_AND(condition)', 'MIN(CASE WHEN properties.a > 1 THEN 1 ELSE 0 END)'),
    synonyms: ['logical_and', 'EVERY'],
  },
  quantile('PERCENTILE_CONT', 'interpolated', 'PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x)', 'first'),
  quantile('PERCENTILE_DISC', 'discrete', 'PERCENTILE_DISC(p) WITHIN GROUP (ORDER BY x)', 'first'),
  {
    ...quantile('QUANTILE', 'interpolated', 'quantile(p)(x)', 'parameter'),
    synonyms: ['quantileExactInclusive', 'quantileTDigest'],
    note: 'exact and interpolated, as PERCENTILE_CONT',
  },
  { ...quantile('MEDIAN', 'interpolated', 'MEDIAN(x)', 'half') },
  {
    ...quantile('QUANTILEEXACT', 'quantile_exact', 'quantileExact(p)(x)', 'parameter'),
    note: "ClickHouse's: the element ⌊p·n⌋ of the sorted values, counted from 0",
  },
  {
    ...quantile('QUANTILEEXACTWEIGHTED', 'weighted', 'quantileExactWeighted(p)(x, weight)', 'parameter'),
    synonyms: ['PERCENTILE_WEIGHTED'],
    operands: 2,
    note: 'the least x at which the weights of all up to it reach p of their sum; rows without a positive weight are skipped',
  },
];

function of(
  name: string,
  kind: AggregateKind,
  signature: string,
  example: string,
  note?: string,
): AggregateFunction {
  return {
    name,
    kind,
    signature,
    example,
    operands: 1,
    isHourly: true,
    ...(note === undefined ? {} : { note }),
  };
}

function quantile(
  name: string,
  kind: AggregateKind,
  signature: string,
  level: 'parameter' | 'half' | 'first',
): AggregateFunction {
  const example = signature
    .replace('(p)', '(0.95)')
    .replace('x, weight', 'properties.latency, properties.requests')
    .replace(/\bx\b/, 'properties.latency');
  const note =
    kind === 'interpolated'
      ? 'interpolated exactly, to 30 decimal places'
      : 'the least x that p of the values do not exceed';
  return { name, kind, signature, example, note, operands: 1, isHourly: false, level };
}
