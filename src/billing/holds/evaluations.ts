/**
 * Evaluates families in groups: those that arrive while the places are taken wait, and the next group is of all that wait, up
 * to a limit. So one that arrives alone is evaluated at once, and a thousand together share their statements.
 */
import { assert, Refusal } from '../../core/errors.ts';
import { type Instant, SECOND_MS } from '../../core/time.ts';
import { withoutRequest } from '../../runtime/request-scope.ts';
import type { BillingContext } from '../billing-context.ts';
import { type EvaluatedFamily, evaluateFamilies } from './evaluate-families.ts';
import type { HoldFamily } from './hold-family.ts';

export interface Evaluation {
  readonly evaluated: EvaluatedFamily;
  /** In milliseconds of this process: it has seen everything that was answered before. */
  readonly begunAt: number;
  /** The ids of the pending usage that was on disk then. */
  readonly counted: readonly string[];
}

export interface Evaluations {
  /** At present, for a request that waits. Refuses as `overloaded` where too many wait. */
  evaluate(family: HoldFamily): Promise<Evaluation>;
  /**
   * Together, when no request waits for an evaluation. `at`: as of a full hour in the future; null: at present. Answers null
   * for those that are given up meanwhile.
   */
  evaluateLater(families: readonly HoldFamily[], at: Instant | null): Promise<Evaluation | null>[];
  /** Unless its evaluation for later has begun. */
  giveUpLater(family: HoldFamily): void;
}

interface Waiting {
  readonly family: HoldFamily;
  readonly at: Instant | null;
  resolve(evaluation: Evaluation | null): void;
  reject(error: unknown): void;
}

/** Groups at once: each reads in both stores while another one is computed. */
const GROUPS_MAX = 3;
const FAMILIES_MAX = 50;
/** Customers in the families of a group, unless one family alone has more. */
const CUSTOMERS_MAX = 200;
/** After a start all may be asked for at once. */
export const WAITING_MAX = 10_000;

interface EvaluationContext extends BillingContext {
  /** Seconds of a group. */
  evaluated(seconds: number): void;
}

export function createEvaluations(deps: EvaluationContext): Evaluations {
  let waiting: Waiting[] = [];
  let later: (readonly Waiting[])[] = [];
  let running = 0;

  function begin(): void {
    for (let group = nextGroup(); group.length > 0; group = nextGroup()) {
      running += 1;
      void evaluateGroup(deps, group).finally(() => {
        running -= 1;
        begin();
      });
    }
  }

  /** Requests that wait for an answer are first. */
  function nextGroup(): readonly Waiting[] {
    if (running >= GROUPS_MAX) return [];
    if (waiting.length === 0) return running < GROUPS_MAX - 1 ? (later.shift() ?? []) : [];
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
          assert(evaluation !== null, 'only what is for later is given up');
          resolve(evaluation);
        };
        waiting.push({ family, at: null, resolve: answered, reject });
        withoutRequest(() => setImmediate(begin));
      }),
    evaluateLater(families, at) {
      const group: Waiting[] = [];
      const answers = families.map(
        (family) =>
          new Promise<Evaluation | null>((resolve, reject) => {
            group.push({ family, at, resolve, reject });
          }),
      );
      if (group.length > 0) later.push(group);
      withoutRequest(() => setImmediate(begin));
      return answers;
    },
    giveUpLater(family) {
      for (const { resolve } of later.flat().filter((one) => one.family === family)) resolve(null);
      later = later
        .map((group) => group.filter((one) => one.family !== family))
        .filter(({ length }) => length > 0);
    },
  };
}

/** Evaluates families for the same time. */
async function evaluateGroup(deps: EvaluationContext, group: readonly Waiting[]): Promise<void> {
  const begunAt = performance.now();
  const counted = group.map(({ family }) => family.storedUsage());
  const ids = group.map(({ family }) => family.evaluated.customerIds[0] ?? '');
  try {
    const at = group[0]?.at ?? null;
    const clock = at === null ? deps.clock : { now: () => at };
    const evaluated = await evaluateFamilies({ ...deps, clock }, ids);
    for (const [index, { resolve, reject }] of group.entries()) {
      const one = evaluated.get(ids[index] ?? '');
      if (one === undefined || one instanceof Error) reject(one);
      else resolve({ evaluated: one, begunAt, counted: counted[index] ?? [] });
    }
  } catch (error) {
    for (const { reject } of group) reject(error);
  } finally {
    deps.evaluated((performance.now() - begunAt) / SECOND_MS);
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
