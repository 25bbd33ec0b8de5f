/** The stores and settings of notifications. `app/` creates one when the service starts. */
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';
import type { Secrets } from '../core/secrets.ts';
import type { Tracer } from '../core/tracing.ts';
import type { Database } from '../store/base/database.ts';
import type { DueWatch } from '../store/base/due-watch.ts';
import type { UpcomingCommits } from './upcoming.ts';

export interface NotificationContext {
  readonly db: Database;
  /** Absent: each queue polls PostgreSQL by itself. */
  readonly dueWatch?: DueWatch;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;
  /** The commits and credits that recurring terms have not created yet. */
  readonly upcoming: UpcomingCommits;
  readonly secrets: Secrets;
  /** Whether URLs with http, and receivers in private networks, are allowed. */
  readonly allowPrivate: boolean;
}
