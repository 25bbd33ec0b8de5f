/**
 * The senders' record of their events, by number: which were sent, which were acknowledged, and which may be stored
 * although they were not acknowledged.
 */
const ACKNOWLEDGED = 1;
const UNSURE = 2;

export class Ledger {
  #next = 0;
  #states = new Uint8Array(1_024);
  #acknowledged = 0;

  /** The numbers of events that are about to be sent for the first time. */
  take(count: number): number[] {
    const first = this.#next;
    this.#next += count;
    if (this.#next > this.#states.length) {
      const larger = new Uint8Array(2 * this.#next);
      larger.set(this.#states);
      this.#states = larger;
    }
    return Array.from({ length: count }, (_, i) => first + i);
  }

  acknowledge(numbers: readonly number[]): void {
    for (const number of numbers) {
      if (this.#states[number] !== ACKNOWLEDGED) this.#acknowledged += 1;
      this.#states[number] = ACKNOWLEDGED;
    }
  }

  /** There was no answer, or one that does not say that nothing is stored. */
  doubt(numbers: readonly number[]): void {
    for (const number of numbers) if (this.#states[number] !== ACKNOWLEDGED) this.#states[number] = UNSURE;
  }

  get sent(): number {
    return this.#next;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** The requests whose every answer said that nothing is stored. */
  refused(): number[] {
    return this.#inState(0);
  }

  /** Those that were not acknowledged and may be stored all the same. */
  unsure(): number[] {
    return this.#inState(UNSURE);
  }

  #inState(state: number): number[] {
    const all = Array.from({ length: this.#next }, (_, number) => number);
    return all.filter((number) => this.#states[number] === state);
  }
}
