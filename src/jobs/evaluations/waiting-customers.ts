/** The customers that are marked for an evaluation, by lane, and those being evaluated. In memory. */

/** Urgent customers are evaluated at once, calm ones as time permits, and earlier if they are due. */
export type EvaluationLane = 'urgent' | 'due' | 'calm';

/** The due time of a mark that always yields to others. */
export const WHEN_THERE_IS_TIME = Number.POSITIVE_INFINITY;

/** A batch shares the queries of one evaluation; a slow customer delays only its batch. Other lanes may wait longer. */
const BATCH_MAX: Readonly<Record<EvaluationLane, number>> = { urgent: 50, due: 250, calm: 250 };

export const ALL_LANES: readonly EvaluationLane[] = ['urgent', 'due', 'calm'];

/** A customer that is waiting, or was. */
interface Place {
  readonly customerId: string;
  waitsIn: 'urgent' | 'calm' | null;
  /** By the clock of the queue, if it waits among the calm ones. */
  dueAt: number;
  isEvaluated: boolean;
}

export class WaitingCustomers {
  readonly #places = new Map<string, Place>();
  readonly #urgent = new Set<Place>();
  readonly #calm = new Set<Place>();
  /** No calm customer is due before this time. */
  #firstDueAt = WHEN_THERE_IS_TIME;
  readonly #elapsedMs: () => number;
  readonly #onWaiting: () => void;

  /**
   * `elapsedMs`: monotonic milliseconds from any origin. `onWaiting` is called when a customer begins
   * to wait, or becomes urgent.
   */
  constructor(elapsedMs: () => number, onWaiting: () => void) {
    this.#elapsedMs = elapsedMs;
    this.#onWaiting = onWaiting;
  }

  get size(): number {
    return this.#urgent.size + this.#calm.size;
  }

  markAll(customerIds: Iterable<string>, withinMs: number): void {
    for (const id of customerIds) this.#mark(this.#placeOf(id), withinMs);
  }

  markerOf(customerId: string): (withinMs: number) => void {
    const place = this.#placeOf(customerId);
    return (withinMs) => this.#mark(place, withinMs);
  }

  /** Takes customers of the first of these lanes that has any. They are not taken again before they are released. */
  takeFirst(lanes: readonly EvaluationLane[]): { lane: EvaluationLane; batch: string[] } | null {
    for (const lane of lanes) {
      const batch = this.#take(lane);
      if (batch.length > 0) return { lane, batch };
    }
    return null;
  }

  release(customerIds: readonly string[]): void {
    for (const id of customerIds) this.#placeOf(id).isEvaluated = false;
  }

  #placeOf(customerId: string): Place {
    const known = this.#places.get(customerId);
    if (known !== undefined) return known;
    const place: Place = { customerId, waitsIn: null, dueAt: WHEN_THERE_IS_TIME, isEvaluated: false };
    this.#places.set(customerId, place);
    return place;
  }

  #mark(place: Place, withinMs: number): void {
    if (place.waitsIn === 'urgent') return;
    if (withinMs <= 0) {
      this.#calm.delete(place);
      this.#urgent.add(place);
      place.waitsIn = 'urgent';
      this.#onWaiting();
      return;
    }
    const dueAt = withinMs === WHEN_THERE_IS_TIME ? WHEN_THERE_IS_TIME : this.#elapsedMs() + withinMs;
    if (place.waitsIn === null) {
      this.#calm.add(place);
      place.waitsIn = 'calm';
      place.dueAt = dueAt;
      this.#onWaiting();
    } else place.dueAt = Math.min(dueAt, place.dueAt);
    this.#firstDueAt = Math.min(dueAt, this.#firstDueAt);
  }

  #take(lane: EvaluationLane): string[] {
    const batch: Place[] = [];
    for (const place of this.#waitingIn(lane)) {
      if (place.isEvaluated) continue;
      batch.push(place);
      if (batch.length === BATCH_MAX[lane]) break;
    }
    for (const place of batch) {
      this.#urgent.delete(place);
      this.#calm.delete(place);
      place.waitsIn = null;
      place.isEvaluated = true;
    }
    return batch.map(({ customerId }) => customerId);
  }

  #waitingIn(lane: EvaluationLane): Iterable<Place> {
    if (lane === 'urgent') return this.#urgent;
    return lane === 'calm' ? this.#calm : this.#due();
  }

  /** Scans all calm customers only if one of them may be due. */
  *#due(): Generator<Place> {
    const now = this.#elapsedMs();
    if (this.#firstDueAt > now) return;
    let next = WHEN_THERE_IS_TIME;
    for (const place of this.#calm) {
      if (place.dueAt <= now) yield place;
      next = Math.min(next, place.dueAt);
    }
    this.#firstDueAt = next;
  }
}
