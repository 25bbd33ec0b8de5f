/** Every window function in every clause that may have one: each answer is compared with a model in JavaScript. */
import { beforeAll, describe, expect, test } from 'vitest';
import { groupBy } from '../../src/core/group-by.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api } = service;

/** Events on each of five days. */
const COUNTS = [3, 1, 4, 1, 5];
const DAYS = COUNTS.map((_, index) => `2026-11-0${index + 1}T00:00:00.000Z`);
let customerId = '';

beforeAll(async () => {
  customerId = await createdId(api, '/v1/customers', { name: 'Windows', ingest_aliases: ['windows'] });
  const events = COUNTS.flatMap((count, day) =>
    Array.from({ length: count }, (_, index) => ({
      transaction_id: `${day}-${index}`,
      customer_id: 'windows',
      event_type: 'call',
      timestamp: `2026-11-0${day + 1}T0${index}:00:00Z`,
      properties: {},
    })),
  );
  await api.post('/v1/ingest', events);
});

type Cell = string | number | null;

/** Rows as lists of cells; times as numbers of days, so that they compare with the model. */
async function answerTo(sql: string): Promise<Cell[][]> {
  const answer = await api.post('/v1/sql', { sql });
  const names = answer.list('columns').map((_, index) => answer.text(`columns[${index}].name`));
  return answer.list('data').map((_, row) =>
    names.map((name) => {
      const cell = answer.at(`data[${row}].${name}`);
      const day = typeof cell === 'string' ? DAYS.indexOf(cell) : -1;
      return day < 0 ? (cell === null ? null : Number(answer.digits(`data[${row}].${name}`))) : day;
    }),
  );
}

interface Case {
  /** With `n` for the count and `day` for the day. */
  readonly sql: string;
  /** By day. */
  readonly values: readonly (number | null)[];
}

const CASES: readonly Case[] = [
  { sql: 'ROW_NUMBER() OVER (ORDER BY day)', values: [1, 2, 3, 4, 5] },
  { sql: 'ROW_NUMBER() OVER (PARTITION BY n ORDER BY day)', values: [1, 1, 1, 2, 1] },
  { sql: 'RANK() OVER (ORDER BY n DESC)', values: [3, 4, 2, 4, 1] },
  { sql: 'DENSE_RANK() OVER (ORDER BY n)', values: [2, 1, 3, 1, 4] },
  { sql: 'LAG(n) OVER (ORDER BY day)', values: [null, 3, 1, 4, 1] },
  { sql: 'LAG(n, 2, 0) OVER (ORDER BY day)', values: [0, 0, 3, 1, 4] },
  { sql: 'n - LAG(n) OVER (ORDER BY day)', values: [null, -2, 3, -3, 4] },
  { sql: 'LEAD(n) OVER (ORDER BY day)', values: [1, 4, 1, 5, null] },
  { sql: 'FIRST_VALUE(n) OVER (ORDER BY day DESC)', values: [5, 5, 5, 5, 5] },
  {
    sql: 'LAST_VALUE(n) OVER (ORDER BY day ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)',
    values: [1, 4, 1, 5, 5],
  },
  { sql: 'COUNT(*) OVER (ORDER BY day)', values: [1, 2, 3, 4, 5] },
  { sql: 'COUNT(*) OVER (PARTITION BY n)', values: [1, 2, 1, 2, 1] },
  { sql: 'SUM(n) OVER (ORDER BY day)', values: [3, 4, 8, 9, 14] },
  { sql: 'SUM(n) OVER ()', values: [14, 14, 14, 14, 14] },
  { sql: 'AVG(n) OVER (ORDER BY day ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)', values: [3, 2, 2.5, 2.5, 3] },
  { sql: 'MIN(n) OVER (ORDER BY day)', values: [3, 1, 1, 1, 1] },
  { sql: 'MAX(n) OVER (ORDER BY day DESC)', values: [5, 5, 5, 5, 5] },
];

interface ModelRow {
  readonly day: number;
  readonly n: number;
  readonly g: number | null;
}

/** NULL is last, and days tell rows with equal values apart. */
function byValue(sign: 1 | -1) {
  return (a: ModelRow, b: ModelRow) => {
    if (a.g === null || b.g === null) return Number(a.g === null) - Number(b.g === null) || a.day - b.day;
    return sign * (a.g - b.g) || a.day - b.day;
  };
}

const D = `(SELECT DATE_TRUNC('day', timestamp) AS day, COUNT(*) AS n FROM events GROUP BY day)`;
const sum = (rows: readonly ModelRow[]) => rows.reduce((total, { g }) => total + (g ?? 0), 0);

interface Clause {
  readonly sql: (window: string) => string;
  readonly expected: (rows: readonly ModelRow[]) => Cell[][];
}

const CLAUSES: Readonly<Record<string, Clause>> = {
  SELECT: {
    sql: (w) => `SELECT day, ${w} AS g FROM ${D} ORDER BY day`,
    expected: (rows) => rows.map(({ day, g }) => [day, g]),
  },
  'ORDER BY its name with LIMIT': {
    sql: (w) => `SELECT day, ${w} AS g FROM ${D} ORDER BY g, day LIMIT 3`,
    expected: (rows) =>
      rows
        .toSorted(byValue(1))
        .slice(0, 3)
        .map(({ day, g }) => [day, g]),
  },
  'ORDER BY its name without LIMIT': {
    sql: (w) => `SELECT day, ${w} AS g FROM ${D} ORDER BY g DESC, day`,
    expected: (rows) => rows.toSorted(byValue(-1)).map(({ day, g }) => [day, g]),
  },
  'ORDER BY its place with LIMIT and OFFSET': {
    sql: (w) => `SELECT day, ${w} AS g FROM ${D} ORDER BY 2 DESC, 1 LIMIT 2 OFFSET 1`,
    expected: (rows) =>
      rows
        .toSorted(byValue(-1))
        .slice(1, 3)
        .map(({ day, g }) => [day, g]),
  },
  'ORDER BY itself with LIMIT': {
    sql: (w) => `SELECT day FROM ${D} ORDER BY ${w}, day LIMIT 3`,
    expected: (rows) =>
      rows
        .toSorted(byValue(1))
        .slice(0, 3)
        .map(({ day }) => [day]),
  },
  'ORDER BY an expression of it, beside another window': {
    sql: (w) => `SELECT day, COUNT(*) OVER () AS c FROM ${D} ORDER BY -(${w}), day LIMIT 3`,
    expected: (rows) =>
      rows
        .toSorted(byValue(-1))
        .slice(0, 3)
        .map(({ day }) => [day, 5]),
  },
  'a LIMIT that does not go by it': {
    sql: (w) => `SELECT day, ${w} AS g FROM ${D} ORDER BY n, day LIMIT 3`,
    expected: (rows) =>
      rows
        .toSorted((a, b) => a.n - b.n || a.day - b.day)
        .slice(0, 3)
        .map(({ day, g }) => [day, g]),
  },
  'WHERE above a CTE': {
    sql: (w) =>
      `WITH w AS (SELECT day, ${w} AS g FROM ${D}) SELECT day, g FROM w WHERE g >= 2 ORDER BY g, day LIMIT 4`,
    expected: (rows) =>
      rows
        .filter(({ g }) => g !== null && g >= 2)
        .toSorted(byValue(1))
        .slice(0, 4)
        .map(({ day, g }) => [day, g]),
  },
  'a CTE with LIMIT that is aggregated': {
    sql: (w) =>
      `WITH w AS (SELECT ${w} AS g, day FROM ${D} ORDER BY g, day LIMIT 3) SELECT SUM(g) AS s, COUNT(*) AS c FROM w`,
    expected: (rows) => [[sum(rows.toSorted(byValue(1)).slice(0, 3)), 3]],
  },
  'GROUP BY above a subquery': {
    sql: (w) => `SELECT g, COUNT(*) AS c FROM (SELECT ${w} AS g FROM ${D}) GROUP BY g ORDER BY g LIMIT 9`,
    expected: (rows) =>
      [...groupBy(rows.toSorted(byValue(1)), ({ g }) => g)].map(([g, same]) => [g, same.length]),
  },
  'a scalar subquery': {
    sql: (w) =>
      `SELECT day FROM ${D} WHERE n >= (SELECT MAX(g) FROM (SELECT ${w} AS g, day FROM ${D} ORDER BY g, day LIMIT 2)) ORDER BY day`,
    expected: (rows) => {
      const most = Math.max(
        ...rows
          .toSorted(byValue(1))
          .slice(0, 2)
          .map(({ g }) => g ?? -9),
      );
      return rows.filter(({ n }) => n >= most).map(({ day }) => [day]);
    },
  },
  IN: {
    sql: (w) =>
      `SELECT day FROM ${D} WHERE n IN (SELECT g FROM (SELECT ${w} AS g FROM ${D}) WHERE g IS NOT NULL) ORDER BY day`,
    expected: (rows) => rows.filter(({ n }) => rows.some(({ g }) => g === n)).map(({ day }) => [day]),
  },
  'UNION ALL': {
    sql: (w) =>
      `SELECT g FROM (SELECT ${w} AS g FROM ${D} UNION ALL SELECT 100 FROM ${D}) WHERE g IS NOT NULL ORDER BY g DESC LIMIT 7`,
    expected: (rows) =>
      [...rows.flatMap(({ g }) => (g === null ? [] : [g])), ...rows.map(() => 100)]
        .toSorted((a, b) => b - a)
        .slice(0, 7)
        .map((g) => [g]),
  },
  'a window over it': {
    sql: (w) =>
      `SELECT day, SUM(COALESCE(g, 0)) OVER (ORDER BY day) AS h FROM (SELECT day, ${w} AS g FROM ${D}) ORDER BY h DESC, day LIMIT 2`,
    expected: (rows) =>
      rows
        .map(({ day, n }, index) => ({ day, n, g: sum(rows.slice(0, index + 1)) }))
        .toSorted(byValue(-1))
        .slice(0, 2)
        .map(({ day, g }) => [day, g]),
  },
  'a JOIN': {
    sql: (w) =>
      `SELECT a.day AS day, a.g AS g FROM (SELECT day, ${w} AS g FROM ${D} ORDER BY g, day LIMIT 3) a JOIN ${D} b ON a.day = b.day ORDER BY day`,
    expected: (rows) =>
      rows
        .toSorted(byValue(1))
        .slice(0, 3)
        .toSorted((a, b) => a.day - b.day)
        .map(({ day, g }) => [day, g]),
  },
  'groups of its own SELECT': {
    sql: (w) =>
      `SELECT DATE_TRUNC('day', timestamp) AS day, ${w.replaceAll(/\bn\b/g, 'COUNT(*)').replaceAll(/\bday\b/g, "DATE_TRUNC('day', timestamp)")} AS g
       FROM events GROUP BY DATE_TRUNC('day', timestamp) HAVING COUNT(*) > 0 ORDER BY g, day LIMIT 3`,
    expected: (rows) =>
      rows
        .toSorted(byValue(1))
        .slice(0, 3)
        .map(({ day, g }) => [day, g]),
  },
  'CASE and ORDER BY that': {
    sql: (w) =>
      `SELECT day, CASE WHEN ${w} > 2 THEN 1 ELSE 0 END AS g FROM ${D} ORDER BY g DESC, day LIMIT 3`,
    expected: (rows) =>
      rows
        .map(({ day, n, g }) => ({ day, n, g: g !== null && g > 2 ? 1 : 0 }))
        .toSorted(byValue(-1))
        .slice(0, 3)
        .map(({ day, g }) => [day, g]),
  },
};

describe.each(CASES)('$sql', ({ sql, values }) => {
  const rows = COUNTS.map((n, day) => ({ day, n, g: values[day] ?? null }));

  test.each(Object.entries(CLAUSES))('%s', async (_, clause) => {
    expect(await answerTo(clause.sql(sql))).toEqual(clause.expected(rows));
  });

  test('the limit of a SQL metric', async () => {
    const preview = await api.post('/v1/billable-metrics/preview', {
      customer_id: customerId,
      sql: `SELECT SUM(g) AS value FROM (SELECT ${sql} AS g, day FROM ${D} ORDER BY g, day LIMIT 3)`,
      starting_on: '2026-11-01T00:00:00Z',
      ending_before: '2026-11-10T00:00:00Z',
      window_size: 'NONE',
    });
    expect(Number(preview.digits('data[0].value'))).toBe(sum(rows.toSorted(byValue(1)).slice(0, 3)));
  });
});

test.each(['WHERE', 'GROUP BY', 'HAVING', 'DISTINCT'])(
  '%s refuses one in words, with its place',
  async (clause) => {
    const window = 'ROW_NUMBER() OVER (ORDER BY n)';
    const sql = {
      WHERE: `SELECT day FROM ${D} WHERE ${window} = 1`,
      'GROUP BY': `SELECT COUNT(*) AS c FROM ${D} GROUP BY ${window}`,
      HAVING: `SELECT n FROM ${D} GROUP BY n HAVING ${window} = 1`,
      DISTINCT: `SELECT DISTINCT ${window} AS g FROM ${D}`,
    }[clause];
    const answer = await api.send('POST', '/v1/sql', { sql });
    expect([answer.status, answer.text('message')]).toEqual([
      400,
      expect.stringMatching(/^sql: .*line 1.*use a subquery to filter or group by one, or for DISTINCT/),
    ]);
  },
);
