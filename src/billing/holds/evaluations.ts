/**
 * Evaluates families in groups. Requests that arrive while all places are busy wait, and the next group takes all that wait,
 * up to a limit: a single request is evaluated at once, and a thousand share their statements.
 */
import { assert, Refusal } from '../../core/errors.ts';
import { type Instant, SECOND_MS } from '../../core/time.ts';
import { withoutRequest } from '../../runtime/request-scope.ts';
import type { BillingContext } from '../billing-context.ts';
import { type EvaluatedFamily, evaluateFamilies } from './evaluate-families.ts';
import type { HoldFamily } from './hold-family.ts';

export interface Evaluation {
  readonly evaluated: EvaluatedFamily;
  /** Milliseconds of this process. The evaluation has seen everything that was answered before. */
  readonly begunAt: number;
  /** The ids of the pending usage that was on disk when the evaluation began. */
  readonly counted: readonly string[];
}

export interface Evaluations {
  /** As of the call, for a request that waits. Refuses as `overloaded` if too many wait. */
  evaluate(family: HoldFamily): Promise<Evaluation>;
  /**
   * Evaluates the families as one group once no request waits. `at`: as of a full hour in the future; null: at present.
   * Resolves with null for a family whose evaluation was canceled.
   */
  evaluateDeferred(families: readonly HoldFamily[], at: Instant | null): Promise<Evaluation | null>[];
  /** Cancels the deferred evaluation of the family, unless it has begun. */
  cancelDeferred(family: HoldFamily): void;
}

interface Waiting {
  readonly family: HoldFamily;
  readonly at: Instant | null;
  resolve(evaluation: Evaluation | null): void;
  reject(error: unknown): void;
}

/** Concurrent groups: one reads both stores while another is computed. */
const GROUPS_MAX = 3;
const FAMILIES_MAX = 50;
/** Customers in the families of a group, unless one family alone has more. */
const CUSTOMERS_MAX = 200;
/** After a start, requests for all customers may arrive at once. */
export const WAITING_MAX = 10_000;

interface EvaluationContext extends BillingContext {
  /** Observes the duration of a group in seconds. */
  evaluated(seconds: number): void;
}

export function createEvaluations(context: EvaluationContext): Evaluations {
  let waiting: Waiting[] = [];
  let deferred: (readonly Waiting[])[] = [];
  let running = 0;

  function begin(): void {
    for (let group = nextGroup(); group.length > 0; group = nextGroup()) {
      running += 1;
      void evaluateGroup(context, group).finally(() => {
        running -= 1;
        begin();
      });
    }
  }

  /** Requests that wait for an answer precede deferred evaluations. */
  function nextGroup(): readonly Waiting[] {
    if (running >= GROUPS_MAX) return [];
    if (waiting.length === 0) return running < GROUPS_MAX - 1 ? (deferred.shift() ?? []) : [];
    const size = groupSize(waiting);
    const group = waiting.slice(0, size);
    waiting = waiting.slice(size);
    return group;
  }

  return {
    evaluate: (family) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= WAITING_MAX) {
          const problem = 'too many customers are asked for the first time, try again in a moment';
          reject(new Refusal('overloaded', problem));
          return;
        }
        const answered = (evaluation: Evaluation | null) => {
          assert(evaluation !== null, 'only deferred evaluations are canceled');
          resolve(evaluation);
        };
        waiting.push({ family, at: null, resolve: answered, reject });
        withoutRequest(() => setImmediate(begin));
      }),
    evaluateDeferred(families, at) {
      const group: Waiting[] = [];
      const answers = families.map(
        (family) =>
          new Promise<Evaluation | null>((resolve, reject) => {
            group.push({ family, at, resolve, reject });
          }),
      );
      if (group.length > 0) deferred.push(group);
      withoutRequest(() => setImmediate(begin));
      return answers;
    },
    cancelDeferred(family) {
      for (const { resolve } of deferred.flat().filter((one) => one.family === family)) resolve(null);
      deferred = deferred
        .map((group) => group.filter((one) => one.family !== family))
        .filter(({ length }) => length > 0);
    },
  };
}

/** Evaluates families as of one instant. */
async function evaluateGroup(context: EvaluationContext, group: readonly Waiting[]): Promise<void> {
  const begunAt = performance.now();
  const counted = group.map(({ family }) => family.storedUsage());
  const ids = group.map(({ family }) => family.evaluated.customerIds[0] ?? '');
  try {
    const at = group[0]?.at ?? null;
    const clock = at === null ? context.clock : { now: () => at };
    const evaluated = await evaluateFamilies({ ...context, clock }, ids);
    for (const [index, { resolve, reject }] of group.entries()) {
      const one = evaluated.get(ids[index] ?? '');
      if (one === undefined || one instanceof Error) reject(one);
      else resolve({ evaluated: one, begunAt, counted: counted[index] ?? [] });
    }
  } catch (error) {
    for (const { reject } of group) reject(error);
  } finally {
    context.evaluated((performance.now() - begunAt) / SECOND_MS);
  }
}

function groupSize(waiting: readonly Waiting[]): number {
  let size = 0;
  let customers = 0;
  for (const { family } of waiting) {
    customers += family.evaluated.customerIds.length;
    if (size === FAMILIES_MAX || (size > 0 && customers > CUSTOMERS_MAX)) break;
    size += 1;
  }
  return size;
}
