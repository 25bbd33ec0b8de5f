/** Erases properties of stored events. Rows, their ids and their times stay. */
import type { Interval } from '../../core/time.ts';
import { NO_EVENTS } from '../client/around.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { stringLiteral } from '../client/clickhouse-parameters.ts';
import { CORRECTED_EVENTS_TABLE } from '../corrections/corrected-rows.ts';
import { USAGE_EVENTS_TABLE } from '../ingest/encode-events.ts';

/** Properties of events in an interval that are kept. */
export interface KeptProperties {
  readonly within: Interval;
  /** Null: all. */
  readonly names: readonly string[] | null;
}

/**
 * Removes the properties of all events with these references, and of their corrected versions, except the kept ones. Resolves when no read sees them any
 * longer. `cluster`: its name, or undefined for a single node.
 */
export async function eraseProperties(
  clickhouse: ClickHouse,
  cluster: string | undefined,
  refs: readonly string[],
  kept: readonly KeptProperties[],
): Promise<void> {
  const isKept = kept.map(isKeptIn);
  const value = `mapFilter((name, value) -> ${isKept.join(' OR ') || 'false'}, properties)`;
  for (const table of [USAGE_EVENTS_TABLE, CORRECTED_EVENTS_TABLE]) {
    await clickhouse.command(
      `ALTER TABLE ${tableOf(table, cluster)} UPDATE properties = ${value}` +
        ` WHERE customer_ref IN (${refs.map(stringLiteral).join(', ')}) SETTINGS mutations_sync = 2`,
    );
  }
}

/** Removes the stored copies of repeated events for event search. */
export async function eraseRepeats(
  clickhouse: ClickHouse,
  cluster: string | undefined,
  refs: readonly string[],
): Promise<void> {
  await clickhouse.command(
    `ALTER TABLE ${tableOf('event_repeats', cluster)} DELETE` +
      ` WHERE customer_ref IN (${refs.map(stringLiteral).join(', ')}) SETTINGS mutations_sync = 2`,
    { eventsOf: NO_EVENTS },
  );
}

function isKeptIn({ within: { start, end }, names }: KeptProperties): string {
  const time = (at: number) => `fromUnixTimestamp64Milli(${at}, 'UTC')`;
  const isNamed =
    names === null ? 'true' : `has(CAST([${names.map(stringLiteral).join(', ')}], 'Array(String)'), name)`;
  return `(timestamp >= ${time(start)} AND timestamp < ${time(end)} AND ${isNamed})`;
}

function tableOf(table: string, cluster: string | undefined): string {
  return cluster === undefined ? table : `${table}_local ON CLUSTER ${stringLiteral(cluster)}`;
}
