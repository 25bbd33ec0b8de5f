/** The customers that wait for their evaluation, and those that are being evaluated. In memory. */

import type { UsageMeter } from '../../core/event-quantities.ts';

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

/** Urgent customers are evaluated at once, calm ones as time permits, and earlier if they are due. */
export type EvaluationLane = 'urgent' | 'due' | 'calm';

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

/** Of a mark that other marks go before, however long it waits. */
export const WHEN_THERE_IS_TIME = Number.POSITIVE_INFINITY;

/** Many share the queries of one evaluation; a slow customer delays no more than these. The others may wait longer. */
const BATCH_MAX: Readonly<Record<EvaluationLane, number>> = { urgent: 50, due: 250, calm: 250 };

const ALL_LANES: readonly EvaluationLane[] = ['urgent', 'due', 'calm'];

/** A customer that is waiting, or was. */
interface Place {
  readonly customerId: string;
  waitsIn: 'urgent' | 'calm' | null;
  /** By the clock of the queue, if it waits among the calm ones. */
  dueAt: number;
  isEvaluated: boolean;
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

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its functions share the state of one process, and each is short.
export function createEvaluationQueue({
  evaluators,
  onFailure,
  elapsedMs = () => performance.now(),
  isEnding = () => false,
}: QueueOptions): EvaluationQueue {
  const places = new Map<string, Place>();
  const urgent = new Set<Place>();
  const calm = new Set<Place>();
  /** No calm customer is due before. */
  let firstDueAt = WHEN_THERE_IS_TIME;
  const batches = new Set<Promise<void>>();
  let evaluated = 0;
  let failed = 0;

  function placeOf(customerId: string): Place {
    const known = places.get(customerId);
    if (known !== undefined) return known;
    const place: Place = { customerId, waitsIn: null, dueAt: WHEN_THERE_IS_TIME, isEvaluated: false };
    places.set(customerId, place);
    return place;
  }

  function mark(place: Place, withinMs: number): void {
    if (place.waitsIn === 'urgent') return;
    if (withinMs <= 0) {
      calm.delete(place);
      urgent.add(place);
      place.waitsIn = 'urgent';
      return;
    }
    const dueAt = withinMs === WHEN_THERE_IS_TIME ? WHEN_THERE_IS_TIME : elapsedMs() + withinMs;
    if (place.waitsIn === null) {
      calm.add(place);
      place.waitsIn = 'calm';
      place.dueAt = dueAt;
    } else place.dueAt = Math.min(dueAt, place.dueAt);
    firstDueAt = Math.min(dueAt, firstDueAt);
  }

  function markAll(customerIds: Iterable<string>, withinMs: number): void {
    for (const id of customerIds) mark(placeOf(id), withinMs);
  }

  function take(lane: EvaluationLane): string[] {
    const batch: Place[] = [];
    for (const place of waitingIn(lane)) {
      if (place.isEvaluated) continue;
      batch.push(place);
      if (batch.length === BATCH_MAX[lane]) break;
    }
    for (const place of batch) {
      urgent.delete(place);
      calm.delete(place);
      place.waitsIn = null;
      place.isEvaluated = true;
    }
    return batch.map(({ customerId }) => customerId);
  }

  function takeFirst(lanes: readonly EvaluationLane[]): { lane: EvaluationLane; batch: string[] } | null {
    for (const lane of lanes) {
      const batch = take(lane);
      if (batch.length > 0) return { lane, batch };
    }
    return null;
  }

  function waitingIn(lane: EvaluationLane): Iterable<Place> {
    if (lane === 'urgent') return urgent;
    return lane === 'calm' ? calm : dueOnes();
  }

  /** Looks at all calm customers only when one of them may be due. */
  function* dueOnes(): Generator<Place> {
    const now = elapsedMs();
    if (firstDueAt > now) return;
    let next = WHEN_THERE_IS_TIME;
    for (const place of calm) {
      if (place.dueAt <= now) yield place;
      next = Math.min(next, place.dueAt);
    }
    firstDueAt = next;
  }

  async function evaluateAll(customerIds: readonly string[]): Promise<void> {
    const failures: unknown[] = [];
    for (const evaluator of evaluators) {
      try {
        markAll(await evaluator.evaluate(customerIds), 0);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    evaluated += customerIds.length;
  }

  async function evaluate(batch: readonly string[]): Promise<void> {
    try {
      await evaluateAll(batch);
    } catch {
      await evaluateOneByOne(batch);
    } finally {
      for (const id of batch) placeOf(id).isEvaluated = false;
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
        failed += 1;
        onFailure(id, error);
      }
    }
  }

  return {
    mark: (customerIds, withinMs = 0) => markAll(customerIds, withinMs),
    markerOf(customerId) {
      const place = placeOf(customerId);
      return (withinMs) => mark(place, withinMs);
    },
    async runBatch(...lanes) {
      const taken = takeFirst(lanes.length > 0 ? lanes : ALL_LANES);
      if (taken === null) return null;
      const work = evaluate(taken.batch);
      batches.add(work);
      await work.finally(() => batches.delete(work));
      return taken.lane;
    },
    running: () => Promise.all(batches),
    figures: () => ({ waiting: urgent.size + calm.size, evaluated, failed }),
  };
}
