/** ClickHouse whose queries and inserts are steps of the traces that they are part of. */
import { NO_TRACER, type Tracer } from '../../core/tracing.ts';
import type { ClickHouse, QueryLane } from './clickhouse.ts';

export function withTracedQueries(clickhouse: ClickHouse, tracer: Tracer): ClickHouse {
  if (tracer === NO_TRACER) return clickhouse;
  const facts = (lane: QueryLane = 'requests') => ({
    'db.system.name': 'clickhouse',
    'tallyhouse.lane': lane,
  });
  return {
    ...clickhouse,
    query: (query) =>
      tracer.step('query ClickHouse', facts(query.lane), async (span) => {
        const rows = await clickhouse.query(query);
        span.set({ 'db.response.returned_rows': rows.length });
        return rows;
      }),
    queryBytes: (query) =>
      tracer.step('query ClickHouse', facts(query.lane), () => clickhouse.queryBytes(query)),
    insertRows: (insert) => {
      const about = { 'db.system.name': 'clickhouse', 'db.collection.name': insert.table };
      return tracer.step('insert into ClickHouse', about, () => clickhouse.insertRows(insert));
    },
  };
}
