/**
 * Reading a query takes work in proportion to its length: what is counted are the expressions that are read and
 * the characters of SQL that are written.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../../src/core/errors.ts';
import { readSqlMetric } from '../../../../src/metering/sql/read/read-metric.ts';
import { parseQuery } from '../../../../src/metering/sql/syntax/parse-query.ts';
import {
  type Expression,
  partsOf,
  queriesIn,
  type SelectQuery,
} from '../../../../src/metering/sql/syntax/query-syntax.ts';
import { DOUBLING_QUERIES, NESTED_QUERIES } from '../../../support/nested-queries.ts';

/** A quotient is the longest to be written: two characters of a query become some 1,700. */
const WRITTEN_PER_CHARACTER_MAX = 1_000;
const WRITTEN_MAX = 262_144;

/** Expressions in the tree of a query, where one that stands there twice counts twice. */
function expressionCount(query: SelectQuery): number {
  const { items, where, having, groupBy } = query;
  const own = items.map(({ expression }) => expression);
  const roots = new Set([...own, ...groupBy, ...[where, having].filter((each) => each !== null)]);
  const count = (expression: Expression): number =>
    partsOf(expression).reduce((sum, part) => sum + count(part), 1);
  const below = queriesIn(query).reduce((sum, each) => sum + expressionCount(each), 0);
  return [...roots].reduce((sum, root) => sum + count(root), below);
}

function expectBoundedWork(sql: string): void {
  expect(expressionCount(parseQuery(sql))).toBeLessThanOrEqual(sql.length);
  const { whole, windows, hours } = readSqlMetric(sql).query;
  for (const { from } of [whole, windows, hours]) {
    expect(from.length).toBeLessThan(Math.min(WRITTEN_MAX, 10_000 + WRITTEN_PER_CHARACTER_MAX * sql.length));
  }
}

describe('a query with one construct inside itself', () => {
  it.each(NESTED_QUERIES)(
    'a query with one construct inside itself is read and written in proportion to its length: %s',
    (_, sql) => {
      expectBoundedWork(sql);
    },
  );

  it.each(DOUBLING_QUERIES)(
    'a query with one construct inside itself is refused where ClickHouse would put it together without end: %s',
    (_, sql) => {
      expect(() => readSqlMetric(sql)).toThrow(
        'the query is too long: its conditions read columns that stand for too much',
      );
    },
  );
});

type Type = 'number' | 'condition' | 'text' | 'time';
interface Typed {
  readonly sql: string;
  readonly type: Type;
}

/** Whatever the grammar can put around an expression, by the type of what is inside: the result and its type. */
const AROUND: Readonly<Record<Type, ReadonlyArray<readonly [type: Type, around: (e: string) => string]>>> = {
  number: [
    ['number', (e) => `CASE ${e} WHEN 1 THEN properties.a WHEN 2 THEN 3 ELSE 4 END`],
    ['text', (e) => `CASE ${e} WHEN 1 THEN 'a' END`],
    ['number', (e) => `CASE properties.k WHEN 'x' THEN ${e} WHEN 'y' THEN 1 END`],
    ['number', (e) => `CASE properties.k + 1 WHEN ${e} THEN 2 END`],
    ['number', (e) => `IF(properties.k = 'x', ${e}, 1)`],
    ['number', (e) => `COALESCE(${e}, properties.b, 0)`],
    ['number', (e) => `NULLIF(${e}, 0)`],
    ['number', (e) => `GREATEST(${e}, LEAST(properties.a, 3))`],
    ['number', (e) => `ROUND(${e}, 2)`],
    ['number', (e) => `CAST(${e} AS INTEGER)`],
    ['text', (e) => `CAST(${e} AS VARCHAR)`],
    ['number', (e) => `(-(${e}))`],
    ['number', (e) => `(${e} + properties.a.b)`],
    ['number', (e) => `(${e} * 0.5)`],
    ['number', (e) => `(${e} * properties.a)`],
    ['number', (e) => `(${e} / 3)`],
    ['number', (e) => `(properties.a / ${e})`],
    ['condition', (e) => `(${e} > 1)`],
    ['condition', (e) => `(${e} BETWEEN 1 AND properties.b)`],
    ['condition', (e) => `(${e} NOT IN (1, 2, 3))`],
    ['condition', (e) => `(${e} IS NULL)`],
  ],
  condition: [
    ['condition', (e) => `(${e} BETWEEN FALSE AND TRUE)`],
    ['condition', (e) => `(NOT (${e} AND properties.k = 'x'))`],
    ['condition', (e) => `(${e} OR properties.k IS NOT NULL)`],
    ['condition', (e) => `CASE ${e} WHEN TRUE THEN FALSE WHEN FALSE THEN TRUE END`],
    ['text', (e) => `CAST(${e} AS VARCHAR)`],
    ['number', (e) => `CASE WHEN ${e} THEN 1 ELSE 0 END`],
    ['time', (e) => `CASE WHEN ${e} THEN timestamp END`],
  ],
  text: [
    ['text', (e) => `CASE ${e} WHEN 'a' THEN 'b' WHEN properties.k THEN properties.k END`],
    ['text', (e) => `COALESCE(${e}, event_type)`],
    ['number', (e) => `CAST(${e} AS DECIMAL(20, 4))`],
    ['condition', (e) => `(${e} = 'true')`],
    ['condition', (e) => `(${e} BETWEEN 'a' AND 'b')`],
    ['condition', (e) => `(${e} IN ('a', 'b'))`],
  ],
  time: [
    ['time', (e) => `DATE_TRUNC('day', ${e})`],
    ['time', (e) => `CASE ${e} WHEN timestamp THEN timestamp WHEN '2026-01-01' THEN timestamp END`],
    ['time', (e) => `GREATEST(${e}, timestamp)`],
    ['text', (e) => `CAST(${e} AS VARCHAR)`],
    ['condition', (e) => `(${e} BETWEEN '2026-01-01' AND '2026-02-01')`],
  ],
};

const step = fc.nat();
const expression: fc.Arbitrary<Typed> = fc.array(step, { maxLength: 45 }).map((steps) => {
  let inner: Typed = { sql: 'properties.x', type: 'number' };
  for (const choice of steps) {
    const choices = AROUND[inner.type];
    const [type, around] = choices[choice % choices.length] ?? ['number', (e: string) => e];
    inner = { sql: around(inner.sql), type };
  }
  return inner;
});

const AGGREGATES = ['SUM', 'AVG', 'MAX', 'LATEST', 'COUNT', 'COUNT(DISTINCT'] as const;

function toNumber({ sql, type }: Typed): string {
  if (type === 'number') return sql;
  return type === 'text' ? `CAST(${sql} AS DECIMAL)` : `CASE WHEN ${sql} IS NULL THEN 0 ELSE 1 END`;
}

function toCondition({ sql, type }: Typed): string {
  return type === 'condition' ? sql : `(${sql} IS NOT NULL)`;
}

/** One SELECT over the column `x`, which is the property `x` where it reads the events. */
const select = fc
  .record({
    value: expression,
    key: expression,
    where: expression,
    aggregate: fc.constantFrom(...AGGREGATES),
    form: fc.constantFrom('rows', 'groups', 'having', 'distinct'),
  })
  .map(({ value, key, where, aggregate, form }) => {
    const total = `${aggregate}${aggregate.includes('(') ? ' ' : '('}${toNumber(value)})`;
    const columns = {
      rows: `${toNumber(value)} AS x, ${key.sql} AS k, timestamp`,
      groups: `${total} AS x, ${key.sql} AS k, MIN(timestamp) AS timestamp`,
      having: `${total} AS x, MIN(timestamp) AS timestamp`,
      distinct: `DISTINCT ${toNumber(value)} AS x, ${key.sql} AS k, timestamp`,
    }[form];
    const tail = {
      rows: '',
      groups: ' GROUP BY k',
      having: ' HAVING x BETWEEN 1 AND 9 OR x = 0',
      distinct: '',
    };
    return (source: string) => `SELECT ${columns} FROM ${source} WHERE ${toCondition(where)}${tail[form]}`;
  });

const query = fc
  .array(select, { minLength: 1, maxLength: 4 })
  .map((selects) => {
    let source = 'events';
    for (const [depth, write] of selects.entries()) {
      const sql = write(source);
      // Only events have properties; further out there is the column x and little else.
      source = `(${depth === 0 ? sql : sql.replaceAll(/properties\.[a-z.]+|event_type/g, 'x')})`;
    }
    return `SELECT SUM(x) AS value FROM ${source}`;
  })
  .filter((sql) => sql.length <= 10_000);

describe('a query of any shape', () => {
  it('a query of any shape is read and written in proportion to its length, or refused at a place in it', () => {
    const outcomes = { read: 0, refused: 0 };
    fc.assert(
      fc.property(query, (sql) => {
        try {
          readSqlMetric(sql);
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal);
          expect(error).toMatchObject({
            kind: 'invalid',
            message: expect.stringMatching(/^sql: line \d+, column/),
          });
          outcomes.refused += 1;
          return;
        }
        outcomes.read += 1;
        expectBoundedWork(sql);
      }),
      { numRuns: 300 },
    );
    expect(outcomes.read).toBeGreaterThan(20);
  });
});
