/** When backups are due: five fields as cron has them (minute, hour, day, month, weekday), in UTC. */
import { Cron } from 'croner';
import type { Instant } from './time.ts';

/** The first due instant after `from`; null: there is none. Throws for what is no schedule. */
export function nextDue(schedule: string, from: Instant): Instant | null {
  // With a schedule alone nothing is started.
  const cron = new Cron(schedule, { mode: '5-part', timezone: 'UTC' });
  return cron.nextRun(new Date(from))?.getTime() ?? null;
}

/** Whether it can be read, and names an instant at all: 30 February does not. */
export function isSchedule(text: string): boolean {
  try {
    return text.trim().split(/\s+/).length === FIELDS && nextDue(text, Date.UTC(2026, 0, 1)) !== null;
  } catch {
    return false;
  }
}

const FIELDS = 5;
