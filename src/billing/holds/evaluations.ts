/**
 * Evaluates families in groups: those that arrive while the places are taken wait, and the next group is of all that wait, up
 * to a limit. So one that arrives alone is evaluated at once, and a thousand together share their statements.
 */
import { AsyncResource } from 'node:async_hooks';
import { Refusal } from '../../core/errors.ts';
import { SECOND_MS } from '../../core/time.ts';
import type { BillingContext } from '../billing-context.ts';
import { type EvaluatedFamily, evaluateFamilies } from './evaluate-families.ts';
import type { HoldFamily } from './hold-family.ts';

interface Evaluation {
  readonly evaluated: EvaluatedFamily;
  /** In milliseconds of this process: it has seen everything that was answered before. */
  readonly begunAt: number;
  /** The ids of the pending usage that was on disk then. */
  readonly counted: readonly string[];
}

export interface Evaluations {
  /** Refuses as `overloaded` where too many wait. */
  evaluate(family: HoldFamily): Promise<Evaluation>;
  /** Families that wait for a place. */
  waiting(): number;
}

interface Waiting {
  readonly family: HoldFamily;
  resolve(evaluation: Evaluation): void;
  reject(error: unknown): void;
}

/** Groups at once: each reads in both stores while another one is computed. */
const GROUPS_MAX = 3;
const FAMILIES_MAX = 50;
/** Of the families of a group, except where one alone has more. */
const CUSTOMERS_MAX = 200;
/** After a start all may be asked for at once. */
const WAITING_MAX = 10_000;

export function createEvaluations(
  deps: BillingContext & {
    /** Seconds of a group. */
    evaluated(seconds: number): void;
  },
): Evaluations {
  let waiting: Waiting[] = [];
  let running = 0;
  // A group belongs to no single request.
  const own = new AsyncResource('hold evaluations');

  function begin(): void {
    while (running < GROUPS_MAX && waiting.length > 0) {
      const size = groupSize(waiting);
      const group = waiting.slice(0, size);
      waiting = waiting.slice(size);
      running += 1;
      void evaluateGroup(group).finally(() => {
        running -= 1;
        begin();
      });
    }
  }

  async function evaluateGroup(group: readonly Waiting[]): Promise<void> {
    const begunAt = performance.now();
    const counted = group.map(({ family }) => family.storedUsage());
    const ids = group.map(({ family }) => family.evaluated.customerIds[0] ?? '');
    try {
      const evaluated = await evaluateFamilies(deps, ids);
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

  return {
    evaluate: (family) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= WAITING_MAX) {
          const problem = 'too many customers are asked for the first time, try again in a moment';
          reject(new Refusal('overloaded', problem));
          return;
        }
        waiting.push({ family, resolve, reject });
        own.runInAsyncScope(() => setImmediate(begin));
      }),
    waiting: () => waiting.length,
  };
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
