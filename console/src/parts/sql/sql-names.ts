/** The names that a query may use: tables with columns, functions, and the properties that were seen in events. */
import { useMemo } from 'react';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';

interface SqlColumn {
  readonly name: string;
  readonly type: string;
  readonly description?: string;
}

interface SqlTable {
  readonly name: string;
  readonly columns: readonly SqlColumn[];
}

export interface SqlNames {
  readonly tables: readonly SqlTable[];
  readonly functions: readonly Schemas['SqlFunction'][];
  readonly properties: readonly string[];
}

const NOTHING: SqlNames = { tables: [], functions: [], properties: [] };
const FRESH_MS = 10 * 60_000;

/** `metric`: a query over the events of one customer. `report`: one across customers. */
export function useSqlNames(kind: 'metric' | 'report'): SqlNames {
  const reference = useApi('GET /v1/billable-metrics/sql-reference', {}, { staleTime: FRESH_MS });
  const seen = useSeenEvents();
  if (reference.data === undefined) return NOTHING;
  const { columns, functions, views } = reference.data.data;
  const events = { name: 'events', columns: columns.filter(({ name }) => !name.startsWith('properties.')) };
  return { tables: kind === 'metric' ? [events] : views, functions, properties: seen.properties };
}

export interface SeenEvents {
  readonly types: readonly string[];
  readonly properties: readonly string[];
}

/** Types of events, and the properties of the first and the last of each. */
export function useSeenEvents(): SeenEvents {
  const { data } = useApi('GET /v1/events/types', {}, { staleTime: FRESH_MS });
  return useMemo(() => {
    const all = data?.data ?? [];
    const properties = [...new Set(all.flatMap((type) => type.properties))].sort();
    return { types: all.map(({ event_type }) => event_type), properties };
  }, [data]);
}
