/**
 * Usage of one metric for many customers in windows, for `POST /v1/usage`: every window is aggregated separately, in
 * one query for any number of customers. Windows without a matching event are absent.
 */
import { ClickHouseError } from '@clickhouse/client';
import { z } from 'zod';
import type { Decimal } from '../../core/decimal.ts';
import { assert, Refusal } from '../../core/errors.ts';
import { eachInChunks, mapInChunks, resultInChunks } from '../../core/in-chunks.ts';
import { sortedInSteps } from '../../core/sort-in-steps.ts';
import { type Instant, type Interval, SECOND_MS } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { readNumbers } from './read-numbers.ts';
import { refsOf } from './series-sql.ts';
import {
  compileBatchWatermark,
  compilePresentRefs,
  compileUsageBatch,
  type UsageBatchQuery,
} from './usage-batch-sql.ts';
import { queryUsage } from './usage-relation.ts';
import { exactUsage } from './usage-value.ts';

export type { UsageBatchGrouping } from './usage-batch-sql.ts';

export interface UsageBatchRequest extends UsageBatchQuery {
  /** More rows, windows and groups together, are refused as `too_large`. */
  readonly rowsMax: number;
}

export interface UsageBatchWindow {
  readonly customerId: string;
  readonly start: Instant;
  readonly value: Decimal;
  /** By group value, in byte order; empty without a group key. */
  readonly groups: ReadonlyMap<string, Decimal>;
}

/** The windows with matching events, in no particular order. A query that takes too long is refused as `too_large`. */
export async function readUsageBatch(
  clickhouse: ClickHouse,
  request: UsageBatchRequest,
): Promise<UsageBatchWindow[]> {
  const customers = request.customers.filter(({ refs }) => refs.length > 0);
  const rows = await queryParts(clickhouse, { ...request, customers });
  const groups = new Map<string, Map<string, Decimal>>();
  await eachInChunks(await inByteOrder(rows.filter(isGroup)), (row) => {
    const window = groups.get(windowKey(row)) ?? new Map<string, Decimal>();
    window.set(row.row_group, exactUsage(row.value));
    groups.set(windowKey(row), window);
  });
  return await mapInChunks(
    rows.filter((row) => row.row_group === null),
    (row) => {
      const customerId = customers[row.owner]?.customerId;
      assert(customerId !== undefined, 'every row belongs to a requested customer');
      return {
        customerId,
        start: row.window_start,
        value: exactUsage(row.value),
        groups: groups.get(windowKey(row)) ?? new Map(),
      };
    },
  );
}

/** By the bytes of their group. */
async function inByteOrder<Row extends { readonly row_group: string }>(rows: readonly Row[]): Promise<Row[]> {
  const withBytes = await mapInChunks(rows, (row) => ({ row, bytes: Buffer.from(row.row_group) }));
  const sorted = await resultInChunks(sortedInSteps(withBytes, (a, b) => Buffer.compare(a.bytes, b.bytes)));
  return await mapInChunks(sorted, ({ row }) => row);
}

/** The rows of all parts, each with the index of its customer among all of them. */
async function queryParts(clickhouse: ClickHouse, request: UsageBatchRequest): Promise<BatchRow[]> {
  const all: BatchRow[] = [];
  let before = 0;
  for (const customers of inTextParts(request.customers, ({ refs }) => refs)) {
    const rowsMax = Math.max(1, request.rowsMax - all.length);
    const rows = await queryBatch(clickhouse, { ...request, customers, rowsMax });
    for (const row of rows) all.push({ ...row, owner: before + row.owner });
    before += customers.length;
  }
  return all;
}

async function queryBatch(clickhouse: ClickHouse, request: UsageBatchRequest): Promise<BatchRow[]> {
  const { metric, rowsMax } = request;
  try {
    return await readNumbers([metric], (numbers) =>
      queryUsage(clickhouse, metric, {
        ...compileUsageBatch(request, numbers),
        schema: batchRow,
        rowsMax,
        eventsOf: refsOf(request.customers),
      }),
    );
  } catch (error) {
    if (!(error instanceof ClickHouseError) || error.type !== 'TIMEOUT_EXCEEDED') throw error;
    const problem = `usage of metric "${metric.name}" takes too long; ask for a shorter time or fewer customers`;
    throw new Refusal('too_large', problem);
  }
}

/**
 * The last ingestion time among the events of these customers (null: all) in the range, in epoch microseconds; '0' if
 * there is none. Includes events of every type: it is a cut through time, not a value.
 */
export async function readBatchWatermark(
  clickhouse: ClickHouse,
  refs: readonly string[] | null,
  range: Interval,
): Promise<string> {
  const parts = refs === null ? [null] : inTextParts(refs, (ref) => [ref]);
  let last = '0';
  for (const part of parts) {
    const { sql, parameters } = compileBatchWatermark(part, range);
    const params = parameters.values();
    const [row] = await clickhouse.query({ sql, params, eventsOf: part ?? undefined, schema: watermarkRow });
    const found = row?.ingested_up_to ?? '0';
    if (BigInt(found) > BigInt(last)) last = found;
  }
  return last;
}

/** The subset of the references with events of any type in the range. */
export async function readPresentRefs(
  clickhouse: ClickHouse,
  refs: readonly string[],
  range: Interval,
): Promise<string[]> {
  const present: string[] = [];
  for (const part of inTextParts(refs, (ref) => [ref])) {
    const { sql, parameters } = compilePresentRefs(part, range);
    const params = parameters.values();
    const rows = await clickhouse.query({ sql, params, eventsOf: part, schema: refRow });
    present.push(...rows.map(({ ref }) => ref));
  }
  return present;
}

const refRow = z.object({ ref: z.string() });

const batchRow = z.object({
  /** Index into the requested customers. */
  owner: z.number(),
  /** Unix seconds in the row; epoch milliseconds here. */
  window_start: z.string().transform((seconds) => Number(seconds) * SECOND_MS),
  /** Null for the whole of the window. */
  row_group: z.string().nullable(),
  value: z.string(),
});
type BatchRow = z.output<typeof batchRow>;

const watermarkRow = z.object({ ingested_up_to: z.string() });

function isGroup(row: BatchRow): row is BatchRow & { row_group: string } {
  return row.row_group !== null;
}

function windowKey({ owner, window_start }: BatchRow): string {
  return `${owner} ${window_start}`;
}

/** Maximum characters of the references of one statement, including their quotes: far from a megabyte. */
const TEXT_CHARACTERS_MAX = 400_000;
const AROUND_EACH = 3;

/**
 * The items in order, each in one part whose references fit the text of a statement. ClickHouse treats a list in a
 * statement as a constant up to a megabyte of text; beyond that the statement costs events × references. An item with
 * more references than that is a separate part.
 */
export function inTextParts<Item>(
  items: readonly Item[],
  refsOf: (item: Item) => readonly string[],
): Item[][] {
  const parts: Item[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const own = refsOf(item).reduce((sum, ref) => sum + ref.length + AROUND_EACH, 0);
    if (characters + own > TEXT_CHARACTERS_MAX) {
      parts.push([]);
      characters = 0;
    }
    parts.at(-1)?.push(item);
    characters += own;
  }
  return parts;
}
