/** Rows that are read for large answers are counted, so that the budget of memory holds for them. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { countedBy } from '../../src/runtime/answer-memory.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';

const clickhouse = await clickhouseForFile();
const NUMBERS = 10_000;
const NOT_OF_EVENTS: readonly string[] = [];

async function countedFor(read: () => Promise<unknown>): Promise<number> {
  let bytes = 0;
  await countedBy(
    {
      add: (more) => {
        bytes += more;
      },
    },
    read,
  );
  return bytes;
}

test('rows of ClickHouse count as objects, bytes of it as bytes', async () => {
  const sql = `SELECT toString(number) AS n FROM numbers(${NUMBERS})`;
  const rows = await countedFor(() =>
    clickhouse.query({ sql, schema: z.object({ n: z.string() }), eventsOf: NOT_OF_EVENTS }),
  );
  const bytes = await countedFor(() =>
    clickhouse.queryBytes({ sql: `${sql} FORMAT TSV`, eventsOf: NOT_OF_EVENTS }),
  );
  // `9999` and the end of its line.
  expect(bytes).toBe([...Array(NUMBERS).keys()].reduce((sum, number) => sum + `${number}\n`.length, 0));
  expect(rows).toBeGreaterThan(8 * bytes);
});

test('reads that belong to no answer count nothing', async () => {
  const read = () => clickhouse.queryBytes({ sql: 'SELECT 1 FORMAT TSV', eventsOf: NOT_OF_EVENTS });
  let outside = 0;
  await countedBy(
    {
      add: (more) => {
        outside += more;
      },
    },
    async () => undefined,
  );
  await read();
  expect(outside).toBe(0);
});
