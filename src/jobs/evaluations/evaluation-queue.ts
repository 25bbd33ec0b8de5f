/** The customers that wait for their evaluation, and those that are being evaluated. In memory. */

import type { UsageMeter } from '../../core/event-quantities.ts';
import { ALL_LANES, type EvaluationLane, WaitingCustomers } from './waiting-customers.ts';

/** The evaluations of customers, such as thresholds. */
export interface CustomerEvaluator {
  readonly name: string;
  /** Those of these customers, or of all where null, that need an evaluation. */
  watched(customerIds: readonly string[] | null): Promise<readonly string[]>;
  /**
   * Evaluates watched customers; others are not to be harmed by it. Returns those that are to be evaluated again soon.
   * If it throws, the customers are evaluated one by one, and the failing ones again later.
   */
  evaluate(customerIds: readonly string[]): Promise<readonly string[]>;
  /**
   * Called with new usage of a watched customer, by this process as long as it lasts. Its answer is 0 where the usage
   * may change what the evaluator does. Absent: it always may.
   */
  meterOf?(customerId: string): UsageMeter;
  /**
   * After an evaluation, within how many milliseconds the customer is to be evaluated for usage that came while it took
   * place; infinite without any.
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
   * The customers are to be evaluated within so many milliseconds: 0, unless given, is urgent. A customer that waits
   * already is evaluated once, at the earlier time, and one that is being evaluated once more.
   */
  mark(customerIds: Iterable<string>, withinMs?: number): void;
  /** Marks this customer each time it is called, at less cost: there is a mark for every event. */
  markerOf(customerId: string): (withinMs: number) => void;
  /**
   * Evaluates customers of the first of these lanes that has any, those that have waited longest. Without lanes, all.
   * Urgent customers share no evaluation with others, which would only slow it down. Returns their lane; null if none
   * waits.
   */
  runBatch(...lanes: EvaluationLane[]): Promise<EvaluationLane | null>;
  /** Resolves when what runs now has ended. */
  running(): Promise<unknown>;
  figures(): QueueFigures;
}

interface QueueOptions {
  /** In this order. One that fails stops none of the others. */
  readonly evaluators: readonly CustomerEvaluator[];
  /** Milliseconds from any beginning, never less than before. */
  readonly elapsedMs?: () => number;
  /** Whether nothing that fails is tried again, because the stores are closing. */
  readonly isEnding?: () => boolean;
  /** Called with each customer whose evaluation has failed, and who is no longer marked. */
  onFailure(customerId: string, error: unknown): void;
}

export function createEvaluationQueue({
  elapsedMs = () => performance.now(),
  ...options
}: QueueOptions): EvaluationQueue {
  const waiting = new WaitingCustomers(elapsedMs);
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

/** Evaluates batches. `again` gets the customers that are to be evaluated again soon. */
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

  /** One of them may be at fault alone. */
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
