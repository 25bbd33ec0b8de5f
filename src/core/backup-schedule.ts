/** When backups are due: a cron expression with five fields (minute, hour, day, month, weekday), in UTC. */
import { Cron } from 'croner';
import type { Instant } from './time.ts';

/** The first due instant after `from`; null: there is none. Throws if `schedule` is invalid. */
export function nextDue(schedule: string, from: Instant): Instant | null {
  // Without a callback, nothing is started.
  const cron = new Cron(schedule, { mode: '5-part', timezone: 'UTC' });
  return cron.nextRun(new Date(from))?.getTime() ?? null;
}

/** Whether it can be parsed, and is ever due: 30 February is not. */
export function isSchedule(text: string): boolean {
  try {
    return text.trim().split(/\s+/).length === FIELDS && nextDue(text, Date.UTC(2026, 0, 1)) !== null;
  } catch {
    return false;
  }
}

const FIELDS = 5;
