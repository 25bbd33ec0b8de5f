/** The language of queries across customers, and the input that is read for them. */
import { describe, expect, it } from 'vitest';
import { readReport } from '../../../../../src/metering/sql/read/read-report.ts';
import { viewColumns } from '../../../../../src/metering/sql/values/views.ts';
import { REFUSED_QUERIES } from '../../../../support/hostile-queries.ts';

/** Only a metric has a quantity, needs FROM, and must not ask for the time; only the views tell of ingestion. */
const ALLOWED = new Set([
  'SELECT COUNT(*)',
  'SELECT COUNT(*) FROM (SELECT 1 AS a FROM events UNION ALL SELECT 1)',
  'SELECT MAX(ingested_at) FROM events',
  'SELECT COUNT(now()) FROM events',
  'SELECT COUNT(today()) FROM events',
  'SELECT COUNT(CURRENT_TIMESTAMP) FROM events',
  'SELECT event_type FROM events',
  'SELECT timestamp AS value FROM events',
  'SELECT properties.model, COUNT(*) FROM events GROUP BY model',
  'SELECT * FROM events',
  'SELECT events.* FROM events',
  'SELECT e.* FROM events e',
]);

it.each(['SELECT * FROM events', 'SELECT e.* FROM events e'])(
  '%s has the columns of the view alone',
  (sql) => {
    const names = viewColumns('events').map(({ name }) => name);
    expect(readReport(sql).columns.map(({ name }) => name)).toEqual(names);
  },
);

describe.each(Object.entries(REFUSED_QUERIES))('%s', (_, queries) => {
  it.each(queries.filter((sql) => !ALLOWED.has(sql)))(
    'a faulty query is refused, naming line and column: %s',
    (sql) => {
      expect(() => readReport(sql)).toThrow(
        /^sql: (line \d+, column \d+: .+|the query is too complicated)$/s,
      );
    },
  );
});

const ID = '9903ddd7-42de-43d2-ad6a-e57b5f254f4d';
const OTHER = 'd10a5a43-1b1e-4bd5-9c0e-3fd0b1b1f0a1';

describe('the customers whose rows are fetched', () => {
  it.each<[string, readonly string[] | null]>([
    ['SELECT name FROM customers', null],
    [`SELECT name FROM customers WHERE customer_id = '${ID}'`, [ID]],
    [`SELECT name FROM customers WHERE '${ID}' = customer_id AND name LIKE 'a%'`, [ID]],
    [`SELECT name FROM customers WHERE customer_id = '${ID}' OR name LIKE 'a%'`, null],
    [`SELECT name FROM customers WHERE NOT customer_id = '${ID}'`, null],
    [`SELECT name FROM customers WHERE customer_id <> '${ID}'`, null],
    [`SELECT total FROM invoices WHERE customer_id IN ('${ID}', '${OTHER}')`, [ID, OTHER]],
    ["SELECT total FROM invoices WHERE customer_id = 'nobody'", []],
    [
      `SELECT COUNT(*) AS n FROM events WHERE customer_id = '${ID}' UNION ALL SELECT COUNT(*) FROM events`,
      null,
    ],
    [`SELECT name FROM customers WHERE customer_id IN (SELECT customer_id FROM invoices)`, null],
    [`SELECT name FROM customers WHERE customer_id = '${ID}' AND name IN (SELECT name FROM contracts)`, null],
    [
      `SELECT n.name FROM customers n JOIN invoices i ON n.customer_id = i.customer_id WHERE n.customer_id = '${ID}'`,
      null,
    ],
    [
      `SELECT x.total FROM (SELECT total FROM invoices WHERE customer_id = '${ID}') x
       CROSS JOIN (SELECT name FROM customers WHERE customer_id = '${OTHER}') y`,
      [ID, OTHER],
    ],
  ])('the customers whose rows are fetched of %s', (sql, ids) => {
    expect(readReport(sql).customerIds).toEqual(ids);
  });
});

it('a query reads only the views that it names, also in WITH and in expressions', () => {
  const sql = `WITH paid AS (SELECT invoice_id FROM invoices) SELECT COUNT(*) FROM paid
    WHERE invoice_id IN (SELECT invoice_id FROM invoice_lines)`;
  expect(readReport(sql).views.toSorted()).toEqual(['invoice_lines', 'invoices']);
});
