/**
 * Makes the tables of one ClickHouse equal to those of another, portion by portion: a portion that differs is copied,
 * and compared again. The rows of the target are the only record of progress, so an interrupted copy is repeated, and
 * existing rows are not copied again.
 *
 * Requires that nothing else writes to the tables of `to`.
 */
import { z } from 'zod';
import type { ClickHouse } from '../client/clickhouse.ts';
import { stringLiteral } from '../client/clickhouse-parameters.ts';
import type { RemoteInserts } from '../client/clickhouse-remote.ts';
import type { CopiedTable } from './copied-tables.ts';

/** The two still differ after copying. The message is for the operator. */
export class TableCopyError extends Error {
  override readonly name = 'TableCopyError';
}

export interface TableCopy {
  readonly from: ClickHouse;
  readonly to: ClickHouse & Pick<RemoteInserts, 'insert'>;
  /** The cluster of `to`; undefined for a single node. */
  readonly cluster: string | undefined;
  /** Called for every portion that was compared. */
  readonly onRows: (rows: number) => void;
}

export interface CopiedRows {
  readonly table: string;
  /** Rows in both, compared through the sums of their hashes. */
  readonly rows: number;
  /** The rows of portions that were copied now. */
  readonly copiedRows: number;
}

/** Resolves when both have the same rows. Throws a `TableCopyError` otherwise. */
export async function copyTable(copy: TableCopy, table: CopiedTable): Promise<CopiedRows> {
  let [rows, copiedRows] = [0, 0];
  const ofSource = await monthsOf(copy.from, table);
  const ofTarget = await monthsOf(copy.to, table);
  for (const month of [...new Set([...ofSource, ...ofTarget])].sort((a, b) => a - b)) {
    const where = `${table.month} = ${month}`;
    const [source, target] = await Promise.all([
      portionsOf(copy.from, table, where),
      portionsOf(copy.to, table, where),
    ]);
    for (const portion of new Set([...source.keys(), ...target.keys()])) {
      const wanted = source.get(portion) ?? NO_ROWS;
      const found = target.get(portion) ?? NO_ROWS;
      if (!isSame(wanted, found)) {
        await bring(copy, table, { where: `${where} AND ${table.portion} = ${portion}`, wanted, found });
        copiedRows += wanted.rows;
      }
      rows += wanted.rows;
      copy.onRows(wanted.rows);
    }
  }
  return { table: table.name, rows, copiedRows };
}

/** The number of rows of a portion, and the sum of their hashes. */
interface Portion {
  readonly rows: number;
  readonly sum: string;
}

const NO_ROWS: Portion = { rows: 0, sum: '0' };

const isSame = (a: Portion, b: Portion) => a.rows === b.rows && a.sum === b.sum;

/** It reads all rows of a month. */
const SECONDS_MAX = 600;
const BULK = { settings: { max_execution_time: SECONDS_MAX }, lane: 'requests' } as const;

const monthRow = z.object({ month: z.int() });

async function monthsOf(clickhouse: ClickHouse, { name, month, condition }: CopiedTable): Promise<number[]> {
  const rows = await clickhouse.query({
    ...BULK,
    sql: `SELECT DISTINCT toUInt32(${month}) AS month FROM ${name} WHERE ${condition}`,
    schema: monthRow,
  });
  return rows.map((row) => row.month);
}

/** The number of rows, including copies: for progress. */
export async function countRows(clickhouse: ClickHouse, { name, condition }: CopiedTable): Promise<number> {
  const [row] = await clickhouse.query({
    ...BULK,
    sql: `SELECT toString(count()) AS rows FROM ${name} WHERE ${condition}`,
    schema: z.object({ rows: z.coerce.number() }),
  });
  return row?.rows ?? 0;
}

const portionRow = z.object({ portion: z.int(), rows: z.coerce.number(), sum: z.string() });

async function portionsOf(
  clickhouse: ClickHouse,
  table: CopiedTable,
  where: string,
): Promise<ReadonlyMap<number, Portion>> {
  const { name, portion, values, condition, acceptedAt } = table;
  const rows = await clickhouse.query({
    ...BULK,
    sql: `SELECT toUInt32(${portion}) AS portion, count() AS rows, toString(sum(sipHash64(${values}))) AS sum
      FROM ${name}${acceptedAt === null ? '' : ' FINAL'}
      WHERE ${condition} AND ${where} GROUP BY portion ORDER BY portion`,
    schema: portionRow,
  });
  return new Map(rows.map((row) => [row.portion, { rows: row.rows, sum: row.sum }]));
}

interface Difference {
  readonly where: string;
  readonly wanted: Portion;
  readonly found: Portion;
}

async function bring(copy: TableCopy, table: CopiedTable, difference: Difference): Promise<void> {
  const { where, wanted } = difference;
  for (const attempt of attemptsFor(table, difference)) {
    if (attempt === 'anew') await clear(copy, table, where);
    const newer = attempt === 'newer' ? await newerThanFound(copy.to, table, where) : 'true';
    if (wanted.rows > 0) await insertRows(copy, table, `${where} AND ${newer}`);
    const [now = NO_ROWS] = (await portionsOf(copy.to, table, where)).values();
    if (isSame(wanted, now)) return;
  }
  throw new TableCopyError(
    `rows of ${table.name} (${where}) differ after they were copied: the ClickHouse server does not keep them as they are`,
  );
}

/**
 * The attempts, one after the other, until both are equal. Most often events were added since the last copy; copies of
 * an event count once, so rows may be sent again. In other tables, and if there are surplus rows, the portion is
 * removed first.
 */
function attemptsFor(
  { acceptedAt }: CopiedTable,
  { wanted, found }: Difference,
): readonly ('newer' | 'all' | 'anew')[] {
  if (found.rows === 0) return ['all', 'anew'];
  if (acceptedAt !== null && found.rows < wanted.rows) return ['newer', 'all', 'anew'];
  return ['anew'];
}

/** Events of one second may have been accepted in another order than they were stored. */
const OVERLAP_MICROSECONDS = 300_000_000;

async function newerThanFound(to: ClickHouse, table: CopiedTable, where: string): Promise<string> {
  const [row] = await to.query({
    ...BULK,
    sql: `SELECT toString(max(${table.acceptedAt})) AS last FROM ${table.name} WHERE ${where}`,
    schema: z.object({ last: z.string().regex(/^-?\d+$/) }),
  });
  return row === undefined ? 'true' : `${table.acceptedAt} >= ${row.last} - ${OVERLAP_MICROSECONDS}`;
}

async function insertRows({ from, to }: TableCopy, table: CopiedTable, where: string): Promise<void> {
  const { name, columns, condition } = table;
  const pieces = from.queryStream({
    ...BULK,
    sql: `SELECT ${columns.join(', ')} FROM ${name} WHERE ${condition} AND ${where}`,
    format: 'Native',
  });
  await to.insert(name, columns, pieces);
}

async function clear({ to, cluster }: TableCopy, { name }: CopiedTable, where: string): Promise<void> {
  const table = cluster === undefined ? name : `${name}_local ON CLUSTER ${stringLiteral(cluster)}`;
  await to.command(`ALTER TABLE ${table} DELETE WHERE ${where} SETTINGS mutations_sync = 2`);
}
