/** The state machine of an alert of one customer (docs/explanation/notifications.md, "Alerts"). Pure. */
import {
  type Alert,
  type AlertState,
  firesAtLeast,
  hasTargets,
  keyedField,
  subjectRule,
  type TargetDetails,
  WHOLE_TARGET,
} from '../../core/alerts.ts';
import { ZERO } from '../../core/decimal.ts';
import type { Instant } from '../../core/time.ts';
import type { Reading } from './readings.ts';

/** The state of one alarm. Alarms of single targets that are ok are not stored. */
interface TargetState {
  readonly state: AlertState;
  /** Whether the alarm was reported, so that its end is reported too. */
  readonly isTold: boolean;
  /** The start of the period that it was evaluated for; null if the alert has no periods. */
  readonly since: Instant | null;
}

/** States by target. Empty before the first evaluation. */
export type AlertStates = ReadonlyMap<string, TargetState>;

/** A message to send. `reading` has the value that crossed the threshold in either direction. */
export interface AlertTurn {
  readonly kind: 'reached' | 'resolved';
  readonly reading: Reading;
}

interface Advance {
  readonly states: AlertStates;
  readonly turns: readonly AlertTurn[];
}

const NO_DETAILS: TargetDetails = {};

/**
 * The states after an evaluation, and its messages. `isNew`: the customer was created after the alert, so any threshold
 * that is exceeded was crossed while the alert existed.
 */
export function advance(
  alert: Alert,
  before: AlertStates,
  readings: readonly Reading[],
  isNew: boolean,
): Advance {
  const isFirst = !before.has(WHOLE_TARGET);
  const isQuiet = isFirst && !alert.evaluateOnCreate && !isNew;
  const turns: AlertTurn[] = [];
  const states = new Map<string, TargetState>();
  for (const reading of readings) {
    const next = advanceOne(alert, before.get(reading.target), reading, isQuiet, turns);
    if (next.state === 'in_alarm' || reading.target === WHOLE_TARGET) states.set(reading.target, next);
  }
  endGone(alert, before, readings, turns);
  if (!states.has(WHOLE_TARGET)) states.set(WHOLE_TARGET, whole(alert, before, states, turns));
  return { states, turns };
}

function advanceOne(
  alert: Alert,
  before: TargetState | undefined,
  reading: Reading,
  isQuiet: boolean,
  turns: AlertTurn[],
): TargetState {
  const { since } = reading;
  const isPast = isPastThreshold(alert, reading);
  const wasInAlarm = before?.state === 'in_alarm';
  const isInAlarm = wasInAlarm && !isNewPeriod(before, reading);
  const wasTold = wasInAlarm && before.isTold;
  if (wasTold && !(isInAlarm && isPast)) turns.push({ kind: 'resolved', reading });
  if (!isPast) return { state: 'ok', isTold: false, since };
  if (isInAlarm) return { ...before, since };
  if (!isQuiet) turns.push({ kind: 'reached', reading });
  return { state: 'in_alarm', isTold: !isQuiet, since };
}

/** A value equal to the threshold counts as past it. */
function isPastThreshold({ type, threshold }: Alert, { value }: Reading): boolean {
  return firesAtLeast(type) ? value.gte(threshold) : value.lte(threshold);
}

function isNewPeriod(before: TargetState, { since }: Reading): boolean {
  return since !== null && before.since !== null && since > before.since;
}

/**
 * Ends the alarms whose targets no longer exist. A group without any charge has spent 0, which is reported; other
 * alarms end silently.
 */
function endGone(alert: Alert, before: AlertStates, readings: readonly Reading[], turns: AlertTurn[]): void {
  if (subjectRule(alert.type).alarms !== 'by_group') return;
  const present = new Set(readings.map(({ target }) => target));
  for (const [target, { isTold }] of before) {
    if (!isTold || target === WHOLE_TARGET || present.has(target)) continue;
    turns.push({ kind: 'resolved', reading: { target, value: ZERO, since: null, details: NO_DETAILS } });
  }
}

/**
 * The state that represents several alarms. If a custom field has an alarm for each value, the first alarm is also
 * reported without the value, and so is the end of the last.
 */
function whole(alert: Alert, before: AlertStates, states: AlertStates, turns: AlertTurn[]): TargetState {
  const known = before.get(WHOLE_TARGET);
  const isInAlarm = states.size > 0;
  const wasTold = known?.isTold ?? false;
  const isTold = [...states.values()].some((one) => one.isTold);
  if (hasTargets(alert) && keyedField(alert) !== null && isTold !== wasTold) {
    const kind = isTold ? 'reached' : 'resolved';
    const first = turns.find((turn) => turn.kind === kind);
    if (first !== undefined) turns.push({ kind, reading: { ...first.reading, target: WHOLE_TARGET } });
  }
  return { state: isInAlarm ? 'in_alarm' : 'ok', isTold, since: null };
}

/** Whether two states of an alert are the same, so that nothing needs to be stored. */
export function areSame(a: AlertStates, b: AlertStates): boolean {
  return (
    a.size === b.size &&
    [...a].every(([target, one]) => {
      const other = b.get(target);
      return (
        other !== undefined &&
        one.state === other.state &&
        one.isTold === other.isTold &&
        one.since === other.since
      );
    })
  );
}
