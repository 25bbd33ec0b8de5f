/** Queries of SQL metrics in which one construct stands inside itself as often as it is let through. */

function nest(levels: number, around: (inner: string) => string, innermost = 'properties.x'): string {
  let expression = innermost;
  for (let level = 0; level < levels; level += 1) expression = around(expression);
  return expression;
}

function list(count: number, item: (index: number) => string, separator = ', '): string {
  return Array.from({ length: count }, (_, index) => item(index)).join(separator);
}

const sumOf = (expression: string) => `SELECT SUM(${expression}) AS value FROM events`;
const countWhere = (condition: string) => `SELECT COUNT(*) AS value FROM events WHERE ${condition}`;

const SIMPLE_CASE = (e: string) => `CASE ${e} WHEN 1 THEN 1 WHEN 2 THEN 2 END`;
const IS_LARGE = '(properties.x > 1)';

/** A chain of subqueries that each compute a column from that of the one before. */
function chain(levels: number, item: string, first: string, condition: string): string {
  const queries = list(levels, (i) => `, a${i + 1} AS (SELECT ${item} AS v FROM a${i})`, '');
  return `WITH a0 AS (SELECT ${first} AS v FROM events)${queries} SELECT COUNT(*) AS value FROM a${levels} WHERE ${condition}`;
}

export const NESTED_QUERIES: ReadonlyArray<readonly [what: string, sql: string]> = [
  ['CASE of a CASE, 26 times', sumOf(nest(26, SIMPLE_CASE))],
  ['CASE of a CASE', sumOf(nest(41, SIMPLE_CASE))],
  [
    'CASE of an aggregate',
    `SELECT SUM(properties.x) AS value FROM events HAVING ${nest(40, SIMPLE_CASE, 'value')} > 1`,
  ],
  [
    'CASE of a time',
    countWhere(
      `${nest(30, (e) => `CASE ${e} WHEN '2026-01-01' THEN timestamp END`, 'timestamp')} > '2026-01-01'`,
    ),
  ],
  ['CASE of a quotient', sumOf(nest(14, (e) => `CASE ${e} / properties.y WHEN 1 THEN 2 WHEN 2 THEN 1 END`))],
  ['CASE in a result', sumOf(nest(38, (e) => `CASE properties.y + 1 WHEN 1 THEN ${e} END`))],
  ['CASE in a WHEN', sumOf(nest(38, (e) => `CASE properties.y + 1 WHEN ${e} THEN 2 END`))],
  ['BETWEEN of a BETWEEN', countWhere(nest(45, (e) => `(${e} BETWEEN FALSE AND TRUE)`, IS_LARGE))],
  ['NOT BETWEEN', countWhere(nest(45, (e) => `(${e} NOT BETWEEN FALSE AND TRUE)`, IS_LARGE))],
  ['texts of conditions', countWhere(nest(23, (e) => `(CAST(${e} AS VARCHAR) = 'true')`, IS_LARGE))],
  ['texts of numbers', sumOf(nest(24, (e) => `CAST(CAST(${e} AS VARCHAR) AS DECIMAL)`))],
  ['IF', sumOf(nest(40, (e) => `IF(${e} > 1, 1, 2)`))],
  ['COALESCE', sumOf(nest(40, (e) => `COALESCE(${e}, 1)`))],
  ['NULLIF', sumOf(nest(40, (e) => `NULLIF(${e}, 1)`))],
  ['GREATEST', sumOf(nest(40, (e) => `GREATEST(${e}, 1)`))],
  ['ROUND', sumOf(nest(45, (e) => `ROUND(${e}, 1)`))],
  ['DATE_TRUNC', countWhere(`${nest(45, (e) => `DATE_TRUNC('day', ${e})`, 'timestamp')} > '2026-01-01'`)],
  ['powers', sumOf(nest(8, (e) => `POWER(${e}, 8)`))],
  ['roots', sumOf(nest(40, (e) => `SQRT(${e})`))],
  ['remainders', sumOf(nest(40, (e) => `(${e} % 3)`))],
  ['parts of a text', countWhere(`${nest(40, (e) => `SPLIT_PART(${e}, '/', 1)`)} = 'x'`)],
  ['members of members', countWhere(`${nest(40, (e) => `JSON_EXTRACT(${e}, 'a')`)} = 'x'`)],
  [
    'time zones',
    countWhere(`${nest(45, (e) => `(${e} AT TIME ZONE 'Asia/Tokyo')`, 'timestamp')} > '2026-01-01'`),
  ],
  ['products', sumOf(nest(45, (e) => `(${e} * properties.y)`))],
  ['quotients', sumOf(nest(20, (e) => `(properties.y / ${e})`))],
  ['quotients by a number', sumOf(nest(45, (e) => `(${e} / 3)`))],
  [
    'a column in HAVING',
    `SELECT SUM(properties.x) / COUNT(*) / AVG(properties.y) AS value FROM events HAVING ${list(70, (i) => `value > ${i}`, ' AND ')}`,
  ],
  [
    'a key again and again',
    `SELECT CASE WHEN event_type = 'x' THEN 1 END AS a, COUNT(*) AS value FROM events GROUP BY ${list(285, () => '1')}`,
  ],
  [
    'a long list in a deep sum',
    `SELECT CASE WHEN SUM(properties.x) IN (${list(999, (i) => String(i % 10))}) THEN 1 ELSE 2 END${' + 1'.repeat(140)} AS value FROM events`,
  ],
  ['a long path', sumOf(`properties${list(700, (i) => `.p${i.toString(36)}`, '')}`)],
  ['columns of subqueries', chain(8, 'v + v', 'properties.x', 'v > 5')],
  ['sums of columns of subqueries', chain(30, 'v + v', 'properties.x', 'TRUE')],
];

/** Short queries that double with every subquery. */
export const DOUBLING_QUERIES: ReadonlyArray<readonly [what: string, sql: string]> = [
  ['sums of a column with itself', chain(60, 'v + v', 'properties.x', 'v > 5')],
  [
    'a time in its own CASE',
    chain(
      16,
      "CASE WHEN v > '2026-01-01' THEN v WHEN v < '2025-01-01' THEN v END",
      'timestamp',
      "v > '2026-01-01'",
    ),
  ],
  ['a type in its own IF', chain(20, "IF(v = 'a', 'b', v)", 'event_type', "v = 'c'")],
];
