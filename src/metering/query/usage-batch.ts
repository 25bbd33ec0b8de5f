/**
 * Usage of one metric for many customers in windows, for `POST /v1/usage`: every window is aggregated on
 * its own, in one query whatever the number of customers. Windows without a matching event are absent.
 */
import { ClickHouseError } from '@clickhouse/client';
import { z } from 'zod';
import type { Decimal } from '../../core/decimal.ts';
import { assert, Refusal } from '../../core/errors.ts';
import { type Instant, type Interval, SECOND_MS } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { whileKept } from '../client/kept-events.ts';
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
  /** More rows than this, windows and groups together, are refused as `too_large`. */
  readonly rowsMax: number;
}

export interface UsageBatchWindow {
  readonly customerId: string;
  readonly start: Instant;
  readonly value: Decimal;
  /** By group value, in byte order; empty without a group key. */
  readonly groups: ReadonlyMap<string, Decimal>;
}

/** The windows in which something matched, in no order. A query that takes too long is refused as `too_large`. */
export async function readUsageBatch(
  clickhouse: ClickHouse,
  request: UsageBatchRequest,
): Promise<UsageBatchWindow[]> {
  const customers = request.customers.filter(({ refs }) => refs.length > 0);
  const rows = await whileKept(clickhouse, request.range.start, async () =>
    customers.length === 0 ? [] : await queryBatch(clickhouse, { ...request, customers }),
  );
  const groups = new Map<string, Map<string, Decimal>>();
  for (const row of rows.filter(isGroup).sort((a, b) => byteOrder(a.row_group, b.row_group))) {
    const window = groups.get(windowKey(row)) ?? new Map<string, Decimal>();
    window.set(row.row_group, exactUsage(row.value));
    groups.set(windowKey(row), window);
  }
  return rows
    .filter((row) => row.row_group === null)
    .map((row) => {
      const customerId = customers[row.owner]?.customerId;
      assert(customerId !== undefined, 'every row belongs to a requested customer');
      return {
        customerId,
        start: row.window_start,
        value: exactUsage(row.value),
        groups: groups.get(windowKey(row)) ?? new Map(),
      };
    });
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
 * The last moment of ingestion among the events of these customers (null: of all) in the range, in epoch
 * microseconds; '0' where there is none. Counts events of every type: a cut through time, not a value.
 */
export async function readBatchWatermark(
  clickhouse: ClickHouse,
  refs: readonly string[] | null,
  range: Interval,
): Promise<string> {
  const { sql, parameters } = compileBatchWatermark(refs, range);
  const [row] = await whileKept(clickhouse, range.start, () =>
    clickhouse.query({
      sql,
      params: parameters.values(),
      eventsOf: refs ?? undefined,
      schema: watermarkRow,
    }),
  );
  return row?.ingested_up_to ?? '0';
}

/** Those of the references that events in the range have, of whatever type. */
export async function readPresentRefs(
  clickhouse: ClickHouse,
  refs: readonly string[],
  range: Interval,
): Promise<string[]> {
  const { sql, parameters } = compilePresentRefs(refs, range);
  const rows = await clickhouse.query({
    sql,
    params: parameters.values(),
    eventsOf: refs,
    schema: z.object({ ref: z.string() }),
  });
  return rows.map(({ ref }) => ref);
}

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

function byteOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
