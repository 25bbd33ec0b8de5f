/**
 * How soon a customer with new usage is evaluated. A draft costs milliseconds, and most usage is far from every line:
 * the threshold of an alert, the level of a recharge, the spend that is charged. So it is remembered how far each line
 * was at the last evaluation, and what an event has changed on average since the one before. Usage is urgent when twice
 * that could have crossed a line; the nearer it comes, the sooner it is evaluated, and never later than a limit.
 *
 * The estimate decides when an evaluation takes place, never its result. In memory, in floating point. Usage whose effect
 * is not known yet is evaluated soon, to learn from it, but not before usage that is known to come near.
 */

export interface EvaluationPace {
  /** Counts events of a customer. Within how many milliseconds it is to be evaluated; 0: at once. */
  waitMs(customerId: string, events: number): number;
  /** An evaluation of these customers begins: it sees the events that were counted. */
  begin(customerIds: readonly string[]): void;
  /** How far the values of a customer are from their lines, by line; infinite where usage cannot cross it now. */
  found(customerId: string, distances: ReadonlyMap<string, number>): void;
}

export interface PaceLimits {
  /** Usage that is far from every line waits for this time. */
  readonly waitMaxMs: number;
  /** Usage of a customer that this process has not evaluated waits for this time. */
  readonly unknownWaitMs: number;
  /** Usage of an evaluated customer, whose effect is not known yet, waits for this time. */
  readonly learnWaitMs: number;
}

interface CustomerPace {
  /** Since the last evaluation began. */
  events: number;
  /** Up to the beginning of the last evaluation, since the one before. */
  counted: number;
  /** So many events are urgent. */
  budget: number;
  /** Whether there is a line for which the effect of an event is not known. */
  isLearning: boolean;
  lines: ReadonlyMap<string, Line>;
}

interface Line {
  /** At the last evaluation. */
  readonly left: number;
  /** What an event changes; null: not known. */
  readonly perEvent: number | null;
  /** The only change that was seen is none, which may have been seen by the evaluation before. */
  readonly isDoubted: boolean;
}

const SAFETY = 2;
/** What an event changes is forgotten slowly where it changes less. */
const REMEMBERED = 0.5;

export function createEvaluationPace(limits: PaceLimits): EvaluationPace {
  const { waitMaxMs, unknownWaitMs, learnWaitMs } = limits;
  const customers = new Map<string, CustomerPace>();
  return {
    waitMs(customerId, events) {
      const pace = customers.get(customerId);
      if (pace === undefined) return unknownWaitMs;
      pace.events += events;
      return waitAfter(pace.events, pace.budget, pace.isLearning ? learnWaitMs : waitMaxMs);
    },
    begin(customerIds) {
      for (const id of customerIds) {
        const pace = customers.get(id);
        if (pace === undefined) continue;
        pace.counted += pace.events;
        pace.events = 0;
      }
    },
    found(customerId, distances) {
      const pace = customers.get(customerId) ?? newPace();
      customers.set(customerId, pace);
      const before = pace.lines;
      pace.lines = new Map(
        [...distances].map(([line, left]) => [line, lineAt(before.get(line), left, pace.counted)]),
      );
      const lines = [...pace.lines.values()];
      pace.budget = Math.min(...lines.map(budgetOf));
      pace.isLearning = lines.some(({ left, perEvent }) => Number.isFinite(left) && perEvent === null);
      pace.counted = 0;
    },
  };
}

function newPace(): CustomerPace {
  return { events: 0, counted: 0, budget: 0, isLearning: false, lines: new Map() };
}

/**
 * An event is counted a moment after it can be seen, so an evaluation may have seen what the next one counts. A first
 * effect of 0 is therefore believed only when it is found again.
 */
function lineAt(known: Line | undefined, left: number, events: number): Line {
  const unchanged = { perEvent: known?.perEvent ?? null, isDoubted: known?.isDoubted ?? false };
  if (known === undefined || events === 0 || !Number.isFinite(known.left)) return { left, ...unchanged };
  const perEvent = (known.left - left) / events;
  if (known.perEvent === null && perEvent <= 0 && !known.isDoubted) {
    return { left, perEvent: null, isDoubted: true };
  }
  // A balance that was filled up meanwhile says nothing of what events take from it.
  if (known.perEvent !== null && perEvent < 0) return { left, ...unchanged };
  return { left, perEvent: Math.max(perEvent, (known.perEvent ?? 0) * REMEMBERED), isDoubted: false };
}

function budgetOf({ left, perEvent }: Line): number {
  if (left <= 0) return 0;
  if (!Number.isFinite(left) || perEvent === null) return Number.POSITIVE_INFINITY;
  return left / (SAFETY * perEvent);
}

/** After so many events of the budget: 0 when it is used up, and before that the less, the more of it is used. */
function waitAfter(events: number, budget: number, waitMaxMs: number): number {
  if (events >= budget) return 0;
  return waitMaxMs * (1 - events / budget);
}
