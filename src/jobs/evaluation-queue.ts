/** The customers that wait for their evaluation, and those that are being evaluated. In memory. */

/** What is evaluated of customers, such as thresholds. */
export interface CustomerEvaluator {
  readonly name: string;
  /** Of these customers, or of all where null, those that there is something to evaluate for. */
  watched(customerIds: readonly string[] | null): Promise<readonly string[]>;
  /**
   * Evaluates watched customers; others are not to be harmed by it. Returns those that are to be evaluated again soon.
   * If it throws, the customers are evaluated one by one, and the failing ones again later.
   */
  evaluate(customerIds: readonly string[]): Promise<readonly string[]>;
}

export interface QueueFigures {
  readonly waiting: number;
  readonly evaluated: number;
  readonly failed: number;
}

export interface EvaluationQueue {
  /** A customer that waits already is evaluated once, one that is being evaluated once more. */
  mark(customerIds: Iterable<string>): void;
  /** Evaluates the customers that have waited longest. False if none waits. */
  runBatch(): Promise<boolean>;
  /** Resolves when what runs now has ended. */
  running(): Promise<unknown>;
  figures(): QueueFigures;
}

/** Many share the queries of one evaluation; a slow customer delays no more than these. */
const BATCH_MAX = 50;

interface QueueOptions {
  readonly evaluators: readonly CustomerEvaluator[];
  /** Told of each customer whose evaluation has failed, which is marked no more. */
  onFailure(customerId: string, error: unknown): void;
}

export function createEvaluationQueue({ evaluators, onFailure }: QueueOptions): EvaluationQueue {
  const waiting = new Set<string>();
  const evaluating = new Set<string>();
  const batches = new Set<Promise<void>>();
  let evaluated = 0;
  let failed = 0;

  function take(): string[] {
    const batch: string[] = [];
    for (const id of waiting) {
      if (evaluating.has(id)) continue;
      batch.push(id);
      if (batch.length === BATCH_MAX) break;
    }
    for (const id of batch) {
      waiting.delete(id);
      evaluating.add(id);
    }
    return batch;
  }

  async function evaluateAll(customerIds: readonly string[]): Promise<void> {
    for (const evaluator of evaluators) {
      for (const id of await evaluator.evaluate(customerIds)) waiting.add(id);
    }
    evaluated += customerIds.length;
  }

  async function evaluate(batch: readonly string[]): Promise<void> {
    try {
      await evaluateAll(batch);
    } catch {
      // One of them may be at fault alone.
      for (const id of batch) {
        try {
          await evaluateAll([id]);
        } catch (error) {
          failed += 1;
          onFailure(id, error);
        }
      }
    } finally {
      for (const id of batch) evaluating.delete(id);
    }
  }

  return {
    mark(customerIds) {
      for (const id of customerIds) waiting.add(id);
    },
    async runBatch() {
      const batch = take();
      if (batch.length === 0) return false;
      const work = evaluate(batch);
      batches.add(work);
      await work.finally(() => batches.delete(work));
      return true;
    },
    running: () => Promise.all(batches),
    figures: () => ({ waiting: waiting.size, evaluated, failed }),
  };
}
