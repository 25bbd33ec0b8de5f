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
  /**
   * Told of so many new events of a watched customer. Whether they may change what is told, so that it is evaluated at
   * once and not when there is time. Absent: they always may.
   */
  isUrgent?(customerId: string, events: number): boolean;
}

/** Urgent customers are evaluated at once, calm ones as time permits. */
export type EvaluationLane = 'urgent' | 'calm';

export interface QueueFigures {
  readonly waiting: number;
  readonly evaluated: number;
  readonly failed: number;
}

export interface EvaluationQueue {
  /** A customer that waits already is evaluated once, one that is being evaluated once more. Urgent unless given. */
  mark(customerIds: Iterable<string>, lane?: EvaluationLane): void;
  /** Evaluates the customers of the lane that have waited longest; without one, urgent ones first. False if none waits. */
  runBatch(lane?: EvaluationLane): Promise<boolean>;
  /** Resolves when what runs now has ended. */
  running(): Promise<unknown>;
  figures(): QueueFigures;
}

/** Many share the queries of one evaluation; a slow customer delays no more than these. Calm ones may wait longer. */
const BATCH_MAX: Readonly<Record<EvaluationLane, number>> = { urgent: 50, calm: 250 };

interface QueueOptions {
  readonly evaluators: readonly CustomerEvaluator[];
  /** Told of each customer whose evaluation has failed, which is marked no more. */
  onFailure(customerId: string, error: unknown): void;
}

export function createEvaluationQueue({ evaluators, onFailure }: QueueOptions): EvaluationQueue {
  const waiting = { urgent: new Set<string>(), calm: new Set<string>() };
  const evaluating = new Set<string>();
  const batches = new Set<Promise<void>>();
  let evaluated = 0;
  let failed = 0;

  function mark(customerIds: Iterable<string>, lane: EvaluationLane): void {
    for (const id of customerIds) {
      if (lane === 'urgent') waiting.calm.delete(id);
      else if (waiting.urgent.has(id)) continue;
      waiting[lane].add(id);
    }
  }

  function take(lane: EvaluationLane): string[] {
    const batch: string[] = [];
    for (const id of waiting[lane]) {
      if (evaluating.has(id)) continue;
      batch.push(id);
      if (batch.length === BATCH_MAX[lane]) break;
    }
    for (const id of batch) {
      waiting[lane].delete(id);
      evaluating.add(id);
    }
    return batch;
  }

  async function evaluateAll(customerIds: readonly string[]): Promise<void> {
    for (const evaluator of evaluators) {
      mark(await evaluator.evaluate(customerIds), 'urgent');
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
    mark: (customerIds, lane = 'urgent') => mark(customerIds, lane),
    async runBatch(lane) {
      const urgent = lane === 'calm' ? [] : take('urgent');
      const batch = urgent.length > 0 || lane === 'urgent' ? urgent : take('calm');
      if (batch.length === 0) return false;
      const work = evaluate(batch);
      batches.add(work);
      await work.finally(() => batches.delete(work));
      return true;
    },
    running: () => Promise.all(batches),
    figures: () => ({ waiting: waiting.urgent.size + waiting.calm.size, evaluated, failed }),
  };
}
