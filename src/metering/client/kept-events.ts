/**
 * Rejects usage queries that reach into removed events; the result would silently be too low
 * (docs/explanation/events.md, "Retention").
 */
import { Refusal } from '../../core/errors.ts';
import { formatInstant, type Instant } from '../../core/time.ts';

/** The start of event retention; null: all events are kept. */
interface KeptEvents {
  keptFrom(): Instant | null;
}

/**
 * Reads usage from `start` on. Refuses (`invalid`) if some of its events were removed, even during the read: it may
 * have waited for longer than removals are announced.
 */
export async function whileKept<Usage>(
  kept: KeptEvents,
  start: Instant,
  read: () => Promise<Usage>,
): Promise<Usage> {
  requireKept(kept, start);
  const usage = await read();
  requireKept(kept, start);
  return usage;
}

function requireKept(kept: KeptEvents, start: Instant): void {
  const from = kept.keptFrom();
  if (from !== null && start < from) throw new Refusal('invalid', eventsRemoved(from));
}

/** The message for requests that reach into removed events. */
export function eventsRemoved(keptFrom: Instant): string {
  return `usage before ${formatInstant(keptFrom)} cannot be counted: its events were removed (EVENT_RETENTION_MONTHS)`;
}
