/**
 * Refuses to count usage of a time whose events were removed: it would be too small without a word (docs/events.md,
 * "Retention").
 */
import { Refusal } from '../core/errors.ts';
import { formatInstant, type Instant } from '../core/time.ts';
import type { ClickHouse } from './client/clickhouse.ts';

/** The same ClickHouse, which knows from when on events are kept; null: from the first one. */
export function withKeptEvents(clickhouse: ClickHouse, keptFrom: () => Instant | null): ClickHouse {
  return { ...clickhouse, keptFrom };
}

/** Refuses (`invalid`) usage from `start` on if some of its events were removed. */
export function requireKept({ keptFrom }: Pick<ClickHouse, 'keptFrom'>, start: Instant): void {
  const from = keptFrom?.() ?? null;
  if (from !== null && start < from) throw new Refusal('invalid', eventsRemoved(from));
}

/** One sentence for whoever asks for earlier events. */
export function eventsRemoved(keptFrom: Instant): string {
  return `usage before ${formatInstant(keptFrom)} cannot be counted: its events were removed (EVENT_RETENTION_MONTHS)`;
}
