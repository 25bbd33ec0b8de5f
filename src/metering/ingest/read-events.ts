/** ClickHouse including all acknowledged events: reads of events wait until ClickHouse has them. */
import { around, type ClickHouseCall } from '../client/around.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import type { EventBlocks } from './event-blocks.ts';

/** Every statement waits for the blocks with rows of the customers whose events it reads (`eventsOf`). */
export function withAcknowledgedEvents(
  clickhouse: ClickHouse,
  blocks: Pick<EventBlocks, 'visible'>,
): ClickHouse {
  return around(clickhouse, {
    async run(call, work) {
      const refs = eventsReadBy(call);
      if (refs === undefined || refs.length > 0) await blocks.visible(refs ?? null);
      return await work();
    },
  });
}

/** Customer references; undefined: any. */
function eventsReadBy(call: ClickHouseCall): readonly string[] | undefined {
  if (call.kind === 'insert') return [];
  return call.kind === 'command' ? call.eventsOf : call.statement.eventsOf;
}
