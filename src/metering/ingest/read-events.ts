/** ClickHouse with all acknowledged events in it: what reads events waits until ClickHouse has them. */
import type { ClickHouse } from '../client/clickhouse.ts';
import { USAGE_EVENTS_TABLE } from './encode-events.ts';
import type { EventBlocks } from './event-blocks.ts';

/**
 * Every statement that names the table of events waits for the blocks with rows of its customers (`eventsOf`), or for
 * all where it does not say whose events it reads. The others continue.
 */
export function withAcknowledgedEvents(
  clickhouse: ClickHouse,
  blocks: Pick<EventBlocks, 'visible'>,
): ClickHouse {
  const visible = async (sql: string, refs: readonly string[] | undefined) => {
    if (sql.includes(USAGE_EVENTS_TABLE)) await blocks.visible(refs ?? null);
  };
  return {
    ...clickhouse,
    query: async (query) => {
      await visible(query.sql, query.eventsOf);
      return await clickhouse.query(query);
    },
    queryBytes: async (query) => {
      await visible(query.sql, query.eventsOf);
      return await clickhouse.queryBytes(query);
    },
    async *queryStream(query) {
      await visible(query.sql, query.eventsOf);
      yield* clickhouse.queryStream(query);
    },
    command: async (sql) => {
      await visible(sql, undefined);
      await clickhouse.command(sql);
    },
  };
}
