/** The options of a reconciliation. */
import { formatInstant, type Instant, type Interval } from '../../../core/time.ts';
import { WrongCall } from '../../failures/command-failure.ts';
import type { ServiceArguments } from '../running-service.ts';

export interface ReconcileOptions extends ServiceArguments {
  readonly range: Interval;
  /** Null: all customers. */
  readonly customerId: string | null;
  /** One JSON document instead of lines. */
  readonly json: boolean;
}

/** The last month and this one by default. Throws `WrongCall` if the range is empty. */
export function rangeOf(from: Instant | undefined, to: Instant | undefined, now: Instant): Interval {
  const start = from ?? startOfLastMonth(now);
  const end = to ?? now;
  if (end > start) return { start, end };
  throw new WrongCall(
    `the range from ${formatInstant(start)} to ${formatInstant(end)} has no time in it\nSee: tallyhouse reconcile --help`,
  );
}

function startOfLastMonth(now: Instant): Instant {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1);
}
