/** The queue of customers to evaluate, and those being evaluated. In memory. */

import type { UsageMeter } from '../../core/event-quantities.ts';
import { ALL_LANES, type EvaluationLane, WaitingCustomers } from './waiting-customers.ts';

/** An evaluation of customers, such as thresholds. */
export interface CustomerEvaluator {
  readonly name: string;
  /** Those of these customers, or of all if null, that need an evaluation. */
  watched(customerIds: readonly string[] | null): Promise<readonly string[]>;
  /**
   * Evaluates watched customers; must tolerate others. Returns those that need another evaluation soon. If it throws,
   * the customers are evaluated one by one, and the failing ones are retried later.
   */
  evaluate(customerIds: readonly string[]): Promise<readonly string[]>;
  /**
   * The meter for new usage of a watched customer in this process. Its answer is 0 if the usage may change the result
   * of the evaluator. Absent: any usage may.
   */
  meterOf?(customerId: string): UsageMeter;
  /**
   * After an evaluation, the milliseconds within which the customer has to be evaluated for usage that arrived during
   * it; infinite without any.
   */
  waitAgainMs?(customerId: string): number;
}

export interface QueueFigures {
  readonly waiting: number;
  readonly evaluated: number;
  readonly failed: number;
}

export interface EvaluationQueue {
  /**
   * Requests an evaluation of the customers within this many milliseconds: 0, the default, is urgent. A waiting
   * customer is evaluated once, at the earlier time, and one that is being evaluated once more.
   */
  mark(customerIds: Iterable<string>, withinMs?: number): void;
  /** Marks this customer on each call, at less cost: there is a mark for every event. */
  markerOf(customerId: string): (withinMs: number) => void;
  /**
   * Evaluates customers of the first of these lanes that has any, longest waiting first. Without lanes, all. Urgent
   * customers are not batched with others, which would only slow them down. Returns their lane; null if none waits.
   */
  runBatch(...lanes: EvaluationLane[]): Promise<EvaluationLane | null>;
  /** Resolves when the running evaluations have ended. */
  running(): Promise<unknown>;
  figures(): QueueFigures;
}

interface QueueOptions {
  /** In this order. A failing evaluator does not stop the others. */
  readonly evaluators: readonly CustomerEvaluator[];
  /** Monotonic milliseconds from any origin. */
  readonly elapsedMs?: () => number;
  /** Whether failures are not retried, because the stores are closing. */
  readonly isEnding?: () => boolean;
  /** Called when a customer begins to wait, or becomes urgent. */
  onWaiting?(): void;
  /** Called with each customer whose evaluation failed, and which is no longer marked. */
  onFailure(customerId: string, error: unknown): void;
}

export function createEvaluationQueue({
  elapsedMs = () => performance.now(),
  ...options
}: QueueOptions): EvaluationQueue {
  const waiting = new WaitingCustomers(elapsedMs, () => options.onWaiting?.());
  const batches = new Set<Promise<void>>();
  const { evaluate, counts } = createBatchEvaluation(options, (ids) => waiting.markAll(ids, 0));
  return {
    mark: (customerIds, withinMs = 0) => waiting.markAll(customerIds, withinMs),
    markerOf: (customerId) => waiting.markerOf(customerId),
    async runBatch(...lanes) {
      const taken = waiting.takeFirst(lanes.length > 0 ? lanes : ALL_LANES);
      if (taken === null) return null;
      const work = evaluate(taken.batch).finally(() => waiting.release(taken.batch));
      batches.add(work);
      await work.finally(() => batches.delete(work));
      return taken.lane;
    },
    running: () => Promise.all(batches),
    figures: () => ({ waiting: waiting.size, ...counts }),
  };
}

/** Evaluates batches. `again` receives the customers to evaluate again soon. */
function createBatchEvaluation(
  { evaluators, onFailure, isEnding = () => false }: Omit<QueueOptions, 'elapsedMs'>,
  again: (customerIds: readonly string[]) => void,
) {
  const counts = { evaluated: 0, failed: 0 };

  async function evaluateAll(customerIds: readonly string[]): Promise<void> {
    const failures: unknown[] = [];
    for (const evaluator of evaluators) {
      try {
        again(await evaluator.evaluate(customerIds));
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    counts.evaluated += customerIds.length;
  }

  async function evaluate(batch: readonly string[]): Promise<void> {
    try {
      await evaluateAll(batch);
    } catch {
      await evaluateOneByOne(batch);
    }
  }

  /** One of them may have caused the failure. */
  async function evaluateOneByOne(batch: readonly string[]): Promise<void> {
    for (const id of batch) {
      if (isEnding()) return;
      try {
        await evaluateAll([id]);
      } catch (error) {
        if (isEnding()) return;
        counts.failed += 1;
        onFailure(id, error);
      }
    }
  }

  return { evaluate, counts };
}
