/** Finds rows with the id of another event but other content: they are skipped like repeats, but are not repeats. */
import { groupBy } from '../../../core/group-by.ts';
import type { ClickHouse } from '../../../metering/client/clickhouse.ts';
import { findEvents } from '../../../metering/events/find-events.ts';
import type { StoredEvent } from '../../../metering/events/stored-event.ts';
import type { EventRows, ReadEvent } from '../../../metering/ingest/event-rows.ts';
import type { Finding } from './findings.ts';

/** Maximum repeats per batch that are compared: in a file that is read a second time every row is one. */
const COMPARED_MAX = 100;

/**
 * Compares the events at `repeated`, which are not stored, with those that are: in the same batch, at indexes `fresh`,
 * or stored before. Among those stored before, only the first hundred are compared.
 */
export async function findContradictions(
  clickhouse: ClickHouse,
  events: EventRows,
  { fresh, repeated }: { readonly fresh: ReadonlyMap<string, number>; readonly repeated: readonly number[] },
): Promise<Finding> {
  const again = repeated.map((index) => events.read(index));
  const beside = again.filter(({ transactionId }) => fresh.has(transactionId));
  const before = again.filter(({ transactionId }) => !fresh.has(transactionId)).slice(0, COMPARED_MAX);
  const found = [
    ...beside.filter((event) => differs(event, events.read(fresh.get(event.transactionId) ?? 0))),
    ...(await differingFromStored(clickhouse, before)),
  ];
  return { count: found.length, example: found[0]?.transactionId ?? null };
}

async function differingFromStored(
  clickhouse: ClickHouse,
  again: readonly ReadEvent[],
): Promise<readonly ReadEvent[]> {
  if (again.length === 0) return [];
  const ids = [...new Set(again.map(({ transactionId }) => transactionId))];
  const { accepted } = await findEvents(clickhouse, ids, 0, 1);
  const stored = groupBy(accepted, ({ transactionId }) => transactionId);
  // If it is missing, another process stored it a moment ago, and it is not visible yet.
  return again.filter(
    (event) => stored.get(event.transactionId)?.every((one) => differs(event, one)) ?? false,
  );
}

type Content = Pick<StoredEvent, 'customerRef' | 'eventType' | 'timestamp'> & {
  readonly properties: Iterable<readonly [name: string, text: string]>;
};

function differs(a: Content, b: Content): boolean {
  return contentOf(a) !== contentOf(b);
}

/** Equal for equal events, independent of the order of properties. */
function contentOf({ customerRef, eventType, timestamp, properties }: Content): string {
  const sorted = [...properties].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([customerRef, eventType, timestamp, sorted]);
}
