/** The names available in a query: tables with columns, functions, and the properties seen in events. */
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
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

const NO_EVENTS: SeenEvents = { types: [], properties: [] };

/** Types of events, and the properties of the first and the last of each. */
export function useSeenEvents(): SeenEvents {
  const { data } = useQuery({
    queryKey: ['seen events'],
    queryFn: ({ signal }) => readSeen(signal),
    staleTime: FRESH_MS,
  });
  return data ?? NO_EVENTS;
}

const TYPES_MAX = 50;

async function readSeen(signal: AbortSignal): Promise<SeenEvents> {
  const sql = `SELECT event_type, COUNT(*) AS sent, argMax(transaction_id, timestamp) AS last,
    argMin(transaction_id, timestamp) AS first FROM events WHERE timestamp >= now() - INTERVAL 30 DAY
    GROUP BY event_type ORDER BY sent DESC LIMIT ${TYPES_MAX}`;
  const { data } = await call('POST /v1/sql', { body: { sql } }, signal);
  const ids = data.flatMap(({ first, last }) => [first, last]).map(String);
  if (ids.length === 0) return NO_EVENTS;
  const found = await call('POST /v1/events/search', { body: { transactionIds: [...new Set(ids)] } }, signal);
  const properties = new Set(found.flatMap((event) => Object.keys(event.properties)));
  return { types: data.map(({ event_type }) => String(event_type)), properties: [...properties].sort() };
}
