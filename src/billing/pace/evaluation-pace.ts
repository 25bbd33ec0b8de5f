/**
 * How soon a customer with new usage is evaluated. A draft costs milliseconds, and most usage is far from every line:
 * the threshold of an alert, the level of a recharge, the spend that is charged. So the distance to each line at the
 * last evaluation is remembered, and the progress that each quantity of events caused before. With linear prices, usage
 * whose quantities are all k times those progresses at most k times as far: twice that is urgent if it could have
 * crossed a line. The nearer usage is to a line, the sooner it is evaluated, and never later than a limit.
 *
 * The estimate decides when an evaluation takes place, never its result. It is kept in memory, in floating point. For
 * quantities that are new for a customer, the effect on other customers is used.
 */
import type { UsageMeter } from '../../core/event-quantities.ts';
import { KindSums } from './kind-sums.ts';
import { createPriorEffects, type PriorEffects } from './prior-effects.ts';

/** Amounts are added up as floats here. An evaluation that is a little early finds the exact ones; a late one waits for a sweep. */
const NEARLY = 1 - 1e-9;

/** The distance of a customer to a line. */
export interface LineDistance {
  /** The amount that usage may still take; infinite where it cannot cross the line now. */
  readonly left: number;
  /** The unit of measure, where it compares with the lines of other customers. */
  readonly unit: string | null;
  /** The distance without holds, as new usage has changed it. Absent: holds do not count. */
  readonly leftByUsage?: number;
  /** The amount that may still be held until the line is reached; absent, as infinite: holds do not reach it. */
  readonly leftToHold?: number;
}

export interface EvaluationPace {
  /** The meter for the new usage of a customer, for the life of this process. */
  meterOf(customerId: string): UsageMeter;
  /**
   * Within how many milliseconds the customer is to be evaluated for usage since the last evaluation began, as it is
   * known after its end; infinite without any.
   */
  waitAgainMs(customerId: string): number;
  /** An evaluation of these customers begins: it sees the usage that was added. */
  begin(customerIds: readonly string[]): void;
  /** The distances of a customer, by line. */
  found(customerId: string, lines: ReadonlyMap<string, LineDistance>): void;
}

export interface PaceLimits {
  /** Usage that is far from every line waits for this time. */
  readonly waitMaxMs: number;
  /** Usage whose effect is not known yet waits for this time, of some customers at a time. */
  readonly learnWaitMs: number;
  /** Milliseconds from any beginning. */
  readonly elapsedMs?: () => number;
}

interface CustomerPace {
  readonly sums: KindSums;
  /** Whether an evaluation has ended. */
  isFound: boolean;
  /**
   * The largest ratio of usage since the last evaluation began to the observed usage; infinite if none was observed.
   */
  share: number;
  /** The first usage seemed to change nothing: it may have been seen by the evaluation before. */
  isDoubted: boolean;
  lines: ReadonlyMap<string, Line>;
  /**
   * The multiple of the observed usage that is urgent; 0: a line is reached. Null: there is a line with an unknown
   * effect.
   */
  budget: number | null;
  /** The least remaining amount, by unit. Without lines that usage cannot cross. */
  nearest: ReadonlyMap<string | null, number>;
  /** The amounts that were held since the last evaluation began, by unit. */
  readonly held: Map<string | null, number>;
  /** The least amount that may be held until a line is reached, by unit. */
  nearestToHold: ReadonlyMap<string | null, number>;
}

interface Line extends LineDistance {
  /** Progress caused by all observed usage; null: unknown. */
  readonly effect: number | null;
}

const SAFETY = 2;
/** Prices of other customers may be lower. */
const SAFETY_OF_OTHERS = 10;
/** Customers that may be evaluated soon only to learn from them; the results count for others. */
const LEARNING_MAX = 100;
/** Usage is judged again after this share of the urgent amount: waiting usage is late by this share at most. */
const SHARE_STEP = 1 / 16;
/** Usage that is nearer to a line is judged with each event. */
const SHARE_QUIET_MAX = 0.99;

export function createEvaluationPace(limits: PaceLimits): EvaluationPace {
  const customers = new Map<string, CustomerPace>();
  const others = createPriorEffects();
  const waits = createWaits(limits, others);

  function paceOf(customerId: string): CustomerPace {
    const known = customers.get(customerId);
    if (known !== undefined) return known;
    const pace = newPace();
    customers.set(customerId, pace);
    return pace;
  }

  return {
    meterOf(customerId) {
      const pace = paceOf(customerId);
      return {
        add(kind, amount) {
          pace.share = Math.max(pace.share, pace.sums.use(kind, amount));
        },
        waitMs: (isKnown) => waits.afterUsage(customerId, pace, isKnown),
        held(unit, amount) {
          pace.held.set(unit, (pace.held.get(unit) ?? 0) + amount);
          return waits.afterHold(customerId, pace);
        },
        room: (kind) => roomOf(pace, kind, others),
      };
    },
    waitAgainMs(customerId) {
      const pace = customers.get(customerId);
      return pace === undefined ? Number.POSITIVE_INFINITY : waits.again(customerId, pace);
    },
    begin(customerIds) {
      for (const id of customerIds) {
        beginEvaluation(paceOf(id));
        waits.hasLearned(id);
      }
    },
    found(customerId, lines) {
      const pace = paceOf(customerId);
      endEvaluation(pace, lines);
      others.note(pace.sums.seen(), pace.lines.values());
    },
  };
}

/** Within how many milliseconds customers are evaluated. */
function createWaits(limits: PaceLimits, others: PriorEffects) {
  const { waitMaxMs } = limits;
  const learning = createLearning(limits);

  function ofUsage(customerId: string, pace: CustomerPace): number {
    if (pace.budget === 0) return 0;
    if (!pace.isFound) return learning.waitMs(customerId);
    const share = shareOf(pace, others);
    return share === null ? learning.waitMs(customerId) : waitAfter(share, waitMaxMs);
  }

  /** Holds move a line by their amounts, so that nothing has to be learned of them. */
  function afterHold(customerId: string, pace: CustomerPace): number {
    if (pace.held.size === 0) return Number.POSITIVE_INFINITY;
    if (!pace.isFound) return learning.waitMs(customerId);
    for (const [unit, amount] of pace.held) {
      const left = pace.nearestToHold.get(unit) ?? Number.POSITIVE_INFINITY;
      if (amount >= left * NEARLY) return 0;
    }
    return Number.POSITIVE_INFINITY;
  }

  return {
    afterHold,
    afterUsage(customerId: string, pace: CustomerPace, isKnown: boolean): number {
      const waitMs = ofUsage(customerId, pace);
      return isKnown ? waitMs : Math.min(waitMs, learning.waitMs(customerId));
    },
    again(customerId: string, pace: CustomerPace): number {
      const usageMs = pace.sums.isUsed ? ofUsage(customerId, pace) : Number.POSITIVE_INFINITY;
      return Math.min(usageMs, afterHold(customerId, pace));
    },
    hasLearned: learning.end,
  };
}

/** The customers that are evaluated soon only to learn from them. */
function createLearning({ waitMaxMs, learnWaitMs, elapsedMs = () => performance.now() }: PaceLimits) {
  /** Since when they wait for it, those who have waited longest first. */
  const learning = new Map<string, number>();
  return {
    waitMs(customerId: string): number {
      if (learning.has(customerId)) return learnWaitMs;
      const [longest] = learning;
      // It is no longer watched, or the service is far too late.
      if (longest !== undefined && elapsedMs() - longest[1] > waitMaxMs) learning.delete(longest[0]);
      if (learning.size >= LEARNING_MAX) return waitMaxMs;
      learning.set(customerId, elapsedMs());
      return learnWaitMs;
    },
    end: (customerId: string) => void learning.delete(customerId),
  };
}

function beginEvaluation(pace: CustomerPace): void {
  pace.sums.count();
  pace.share = 0;
  pace.held.clear();
}

function endEvaluation(pace: CustomerPace, lines: ReadonlyMap<string, LineDistance>): void {
  learn(pace, lines);
  pace.isFound = true;
  pace.sums.forgetCounted();
  pace.share = pace.sums.usedShare();
  pace.budget = budgetOf(pace);
  pace.nearest = nearestOf(pace, ({ left }) => left);
  pace.nearestToHold = nearestOf(pace, ({ leftToHold }) => leftToHold);
}

function newPace(): CustomerPace {
  return {
    sums: new KindSums(),
    isFound: false,
    share: 0,
    isDoubted: false,
    lines: new Map(),
    budget: null,
    nearest: new Map(),
    held: new Map(),
    nearestToHold: new Map(),
  };
}

/** Takes over the positions of the lines, and the changes that the counted usage caused. */
function learn(pace: CustomerPace, lines: ReadonlyMap<string, LineDistance>): void {
  const before = pace.lines;
  const changes = new Map(
    [...lines].map(([line, distance]) => {
      const known = before.get(line);
      return [line, changeOf(known && byUsage(known), byUsage(distance))] as const;
    }),
  );
  const effects = learned(pace, changes);
  pace.lines = new Map(
    [...lines].map(([line, distance]) => {
      const effect = effects === null ? before.get(line)?.effect : effects.get(line);
      return [line, { ...distance, effect: effect ?? null }];
    }),
  );
}

function byUsage({ left, leftByUsage }: LineDistance): number {
  return leftByUsage ?? left;
}

/** Null where one of both is not known, or infinite. */
function changeOf(before: number | undefined, left: number): number | null {
  const change = (before ?? Number.POSITIVE_INFINITY) - left;
  return Number.isFinite(change) ? change : null;
}

/**
 * The effects of the observed usage, with the counted usage or of that alone. Null: nothing was learned.
 *
 * An event is counted a moment after it becomes visible, so an evaluation may have seen events that the next one
 * counts. First usage without any effect is therefore believed only when it is found again. A balance that was filled
 * up during this time does not show the amounts that events deduct.
 */
function learned(
  pace: CustomerPace,
  changes: ReadonlyMap<string, number | null>,
): ReadonlyMap<string, number | null> | null {
  const { sums, lines } = pace;
  const known = [...changes.values()].filter((change) => change !== null);
  if (!sums.isCounted || known.length === 0 || known.some((change) => change < 0)) return null;
  const isFirst = !sums.isSeen;
  if (isFirst && !pace.isDoubted && known.every((change) => change === 0)) {
    pace.isDoubted = true;
    return null;
  }
  const share = sums.countedShare();
  const goesOn = [...changes].every(([line, change]) => {
    const effect = lines.get(line)?.effect ?? null;
    if (change === null) return effect === null;
    // Prices have risen.
    return effect !== null && !(change > SAFETY * effect * share);
  });
  if (isFirst || !goesOn) {
    sums.seeOnlyCounted();
    return changes;
  }
  sums.seeCounted();
  return new Map([...changes].map(([line, change]) => [line, sumOf(lines.get(line)?.effect, change)]));
}

function sumOf(effect: number | null | undefined, change: number | null): number | null {
  return effect == null || change === null ? null : effect + change;
}

function budgetOf({ lines }: CustomerPace): number | null {
  let budget = Number.POSITIVE_INFINITY;
  let isKnown = true;
  for (const { left, effect } of lines.values()) {
    if (left <= 0) return 0;
    if (effect === null) isKnown &&= !Number.isFinite(left);
    else if (effect > 0) budget = Math.min(budget, left / (SAFETY * effect));
  }
  return isKnown ? budget : null;
}

function nearestOf(
  { lines }: CustomerPace,
  leftOf: (line: Line) => number | undefined,
): ReadonlyMap<string | null, number> {
  const nearest = new Map<string | null, number>();
  for (const line of lines.values()) {
    const left = leftOf(line) ?? Number.POSITIVE_INFINITY;
    if (Number.isFinite(left)) nearest.set(line.unit, Math.min(left, nearest.get(line.unit) ?? left));
  }
  return nearest;
}

/** Whether the customer's own usage predicts the effect of its new usage. */
function isKnown(pace: CustomerPace): pace is CustomerPace & { readonly budget: number } {
  return pace.budget !== null && Number.isFinite(pace.share);
}

/** The share of the urgent amount; null if nothing is known. */
function shareOf(pace: CustomerPace, others: PriorEffects): number | null {
  return isKnown(pace) ? pace.share / pace.budget : shareByOthers(pace, others);
}

/** The largest share of its way to a line that usage may have gone; null if no customer provides an estimate. */
function shareByOthers({ nearest, sums }: CustomerPace, others: PriorEffects): number | null {
  const used = sums.used();
  let share = 0;
  for (const [unit, left] of nearest) {
    const effect = others.effectOf(used, unit);
    if (effect === null) return null;
    share = Math.max(share, (SAFETY_OF_OTHERS * effect) / left);
  }
  return share;
}

/** The amount until the share has grown by a step, and never the whole urgent amount. */
function roomOf(pace: CustomerPace, kind: number, others: PriorEffects): number {
  if (!pace.isFound || pace.budget === 0) return 0;
  const share = shareOf(pace, others);
  if (share === null) return 0;
  const limit = Math.min(share + SHARE_STEP, SHARE_QUIET_MAX);
  const most = isKnown(pace)
    ? pace.sums.seenOf(kind) * pace.budget * limit
    : mostByOthers(pace, kind, others, limit);
  const room = most - pace.sums.usedOf(kind);
  // Without observed usage there is no room, however far the line is.
  return Number.isNaN(room) ? 0 : Math.max(0, room);
}

/** The quantity of a kind that may be used until the share known from other customers is `limit`. */
function mostByOthers({ nearest }: CustomerPace, kind: number, others: PriorEffects, limit: number): number {
  const amounts = [...nearest].map(([unit, left]) => {
    const effect = others.effectOfEach(kind, unit);
    return effect === null ? 0 : (limit * left) / (SAFETY_OF_OTHERS * effect);
  });
  return Math.min(...amounts);
}

/** The wait for a share of the urgent amount: 0 when all of it is used, and longer the less of it is used. */
function waitAfter(share: number, waitMaxMs: number): number {
  return share >= 1 ? 0 : waitMaxMs * (1 - share);
}
