/** ClickHouse whose queries, streams, commands and inserts are steps of their traces. */
import { NO_TRACER, type TraceFacts, type Tracer } from '../../core/tracing.ts';
import { around, type ClickHouseCall } from './around.ts';
import type { ClickHouse } from './clickhouse.ts';

export function withTracedQueries(clickhouse: ClickHouse, tracer: Tracer): ClickHouse {
  if (tracer === NO_TRACER) return clickhouse;
  return around(clickhouse, {
    run: (call, work) => {
      const { name, facts } = stepOf(call);
      return tracer.step(name, facts, async (span) => {
        const result = await work();
        if (Array.isArray(result)) span.set({ 'db.response.returned_rows': result.length });
        return result;
      });
    },
  });
}

function stepOf(call: ClickHouseCall): { readonly name: string; readonly facts: TraceFacts } {
  const system = { 'db.system.name': 'clickhouse' };
  switch (call.kind) {
    case 'select':
      return {
        name: 'query ClickHouse',
        facts: { ...system, 'tallyhouse.lane': call.statement.lane ?? 'requests' },
      };
    case 'command':
      return { name: 'command to ClickHouse', facts: system };
    case 'insert':
      return {
        name: 'insert into ClickHouse',
        facts: { ...system, 'db.collection.name': call.insert.table },
      };
  }
}
