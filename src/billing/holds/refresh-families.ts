/**
 * Evaluates families in the background (docs/explanation/holds.md, "Before it is needed"): for the next hour, and when
 * much usage has arrived since the last evaluation. A few at a time, with pauses, and after requests that wait.
 */
import type { Clock } from '../../core/clock.ts';
import { floorToHour, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { createPoll, type Poll } from '../../runtime/poll.ts';
import type { BillingContext } from '../billing-context.ts';
import type { HoldFamily } from './hold-family.ts';

/** Usage since the last evaluation is priced conservatively, so an evaluation may find more left. */
const RENEWED_AFTER_MS = MINUTE_MS;
/** Usage that may be counted too high, or has no price in the next hour: the next request would wait for an evaluation. */
const RENEWED_SOON_MS = SECOND_MS;
/** Usage in memory beyond which a family is evaluated even without requests. */
const PENDING_MAX = 1_000;
/** A family with a request within this time is assumed to get another one. */
const ASKED_WITHIN_MS = 10 * MINUTE_MS;
/** How long before the next hour families are evaluated for it. */
const AHEAD_MS = 10 * MINUTE_MS;
/** Families per run, so that other work is not delayed for long. */
const GROUP_MAX = 10;
const LOOK_INTERVAL_MS = SECOND_MS;
const REST_MIN_MS = SECOND_MS / 10;
/** The ratio of a pause to the work before it; it falls as usage in memory grows. */
const REST_FACTORS = [
  { pendingFrom: 400_000, factor: 1 },
  { pendingFrom: 100_000, factor: 3 },
  { pendingFrom: 0, factor: 9 },
];

interface Parts {
  readonly clock: Clock;
  readonly log: BillingContext['log'];
  /** Beside other processes each request waits for its own evaluation. */
  readonly isShared: boolean;
  families(): Iterable<HoldFamily>;
  isBusy(family: HoldFamily): boolean;
  forget(family: HoldFamily): void;
  /** `at`: for the hour that begins then; null: at present. */
  refresh(families: readonly HoldFamily[], at: Instant | null): Promise<void>;
}

interface Due {
  readonly family: HoldFamily;
  readonly kind: 'now' | 'ahead';
  /** The largest first. */
  readonly urgency: number;
}

export function createRefresh(parts: Parts): Poll {
  let pauseMs = LOOK_INTERVAL_MS;
  return createPoll({
    name: 'evaluations of holds',
    intervalMs: ({ hasFailed }) => (hasFailed ? LOOK_INTERVAL_MS : pauseMs),
    async work() {
      pauseMs = await refreshDue(parts);
    },
    onFailure: (err) =>
      parts.log.error({ err }, 'customers could not be evaluated ahead: it will be tried again'),
  });
}

/** Returns the length of the pause in milliseconds. */
async function refreshDue(parts: Parts): Promise<number> {
  const begun = performance.now();
  const { due, pending, nextHour } = lookAt(parts);
  if (due.length === 0) return LOOK_INTERVAL_MS;
  const of = (kind: Due['kind']) => due.filter((one) => one.kind === kind).map(({ family }) => family);
  await Promise.all([parts.refresh(of('now'), null), parts.refresh(of('ahead'), nextHour)]);
  const { factor = 1 } = REST_FACTORS.find(({ pendingFrom }) => pending >= pendingFrom) ?? {};
  return Math.max(REST_MIN_MS, factor * (performance.now() - begun));
}

/** The most urgent families. Forgets families with much usage and no recent request. */
function lookAt(parts: Parts): { due: readonly Due[]; pending: number; nextHour: Instant } {
  const elapsed = performance.now();
  const now = parts.clock.now();
  const due: Due[] = [];
  let pending = 0;
  for (const family of parts.families()) {
    pending += family.pending.size;
    if (parts.isBusy(family)) continue;
    const isAsked = elapsed - family.askedAt < ASKED_WITHIN_MS;
    if (!isAsked && family.active.size === 0) {
      if (family.pending.size >= PENDING_MAX) parts.forget(family);
      continue;
    }
    const one = dueOf(family, { elapsed, now, isAsked, isShared: parts.isShared });
    if (one !== null) keepMostUrgent(due, one);
  }
  return { due, pending, nextHour: nextHourOf(now) };
}

/** Selects a few of thousands without sorting them all. */
function keepMostUrgent(due: Due[], one: Due): void {
  const place = due.findIndex(({ urgency }) => one.urgency > urgency);
  if (place >= 0) due.splice(place, 0, one);
  else due.push(one);
  if (due.length > GROUP_MAX) due.pop();
}

interface Moment {
  readonly elapsed: number;
  readonly now: Instant;
  readonly isAsked: boolean;
  readonly isShared: boolean;
}

function dueOf(family: HoldFamily, moment: Moment): Due | null {
  const { elapsed, isAsked, isShared } = moment;
  if (elapsed < family.pausedUntil) return null;
  const { size } = family.pending;
  // Usage in memory is the most urgent, because it grows.
  if (size >= PENDING_MAX) return { family, kind: 'now', urgency: 2 + size };
  if (!isAsked || isShared) return null;
  if (isForNextHour(family, moment)) return { family, kind: 'ahead', urgency: 2 };
  const age = elapsed - family.begunAt;
  const isSoon = family.isStale || family.prices.isEstimated;
  const isOld = age >= (isSoon ? RENEWED_SOON_MS : RENEWED_AFTER_MS) && (family.isStale || size > 0);
  return isOld ? { family, kind: 'now', urgency: 1 - 1 / (1 + age) } : null;
}

function isForNextHour(family: HoldFamily, { now }: Moment): boolean {
  const { validUntil } = family.evaluated;
  return (
    !family.isStale &&
    !family.isAheadOf(now) &&
    validUntil === nextHourOf(now) &&
    now >= validUntil - AHEAD_MS
  );
}

function nextHourOf(now: Instant): Instant {
  return floorToHour(now) + HOUR_MS;
}
