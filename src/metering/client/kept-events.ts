/**
 * Rejects usage queries that reach into removed events; the result would silently be too low
 * (docs/explanation/events.md, "Retention").
 */
import { Refusal } from '../../core/errors.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { ClickHouse } from './clickhouse.ts';

/** The same ClickHouse, which knows from when on events are kept; null: from the first one. */
export function withKeptEvents(clickhouse: ClickHouse, keptFrom: () => Instant | null): ClickHouse {
  return { ...clickhouse, keptFrom };
}

/**
 * Reads usage from `start` on. Refuses (`invalid`) if some of its events were removed, also while it was read: it may have
 * waited for longer than removals are announced.
 */
export async function whileKept<Usage>(
  clickhouse: Pick<ClickHouse, 'keptFrom'>,
  start: Instant,
  read: () => Promise<Usage>,
): Promise<Usage> {
  requireKept(clickhouse, start);
  const usage = await read();
  requireKept(clickhouse, start);
  return usage;
}

function requireKept({ keptFrom }: Pick<ClickHouse, 'keptFrom'>, start: Instant): void {
  const from = keptFrom?.() ?? null;
  if (from !== null && start < from) throw new Refusal('invalid', eventsRemoved(from));
}

/** One sentence for requests for earlier events. */
export function eventsRemoved(keptFrom: Instant): string {
  return `usage before ${formatInstant(keptFrom)} cannot be counted: its events were removed (EVENT_RETENTION_MONTHS)`;
}
