/**
 * Defers usage that changes nothing: the amount of a quantity that a customer may use before anything has to be
 * decided. Most events of watched customers are such usage, and cost one lookup in one list. In memory, in floating
 * point; deferred usage is flushed before a customer is evaluated.
 *
 * The list is flat, because a read outside the processor's cache costs more than all the arithmetic.
 */
import { mixHashes } from '../../core/byte-hash.ts';

export interface QuietUsage {
  /** Defers new usage of a customer reference. False: it was not deferred, because it must be reported. */
  hold(owner: number, kind: number, amount: number): boolean;
  /**
   * Defers less than this amount from now on, and reports it with the customer. `flush` or `flushKind` was called before,
   * so that nothing of the kind is deferred under another of its references.
   */
  allow(customerId: string, place: { readonly owner: number; readonly kind: number }, amount: number): void;
  /** Flushes all deferred usage of this kind, for every customer reference. */
  flushKind(customerId: string, kind: number): void;
  /** Flushes all deferred usage of the customer. */
  flush(customerId: string): void;
  flushAll(): void;
}

/** Members of a row: a reference's hash, a kind, the deferred amount, and its limit. */
const ROW = 4;
const KIND = 1;
const HELD = 2;
const ROOM = 3;
const ROWS_MIN = 1 << 10;
/** 32 MiB. At most half of the rows are used: with more quantities, all are flushed, and the list starts empty. */
const ROWS_MAX = 1 << 20;

type Flushed = (customerId: string, kind: number, amount: number) => void;

/** `flushed` is called with usage that is no longer deferred. */
export function createQuietUsage(flushed: Flushed): QuietUsage {
  return new DeferredUsage(flushed);
}

class DeferredUsage implements QuietUsage {
  readonly #flushed: Flushed;
  #capacity = ROWS_MIN;
  #rows = new Float64Array(ROWS_MIN * ROW);
  #used = 0;
  /** The rows of each customer in which usage may be deferred. */
  readonly #allowed = new Map<string, number[]>();

  constructor(flushed: Flushed) {
    this.#flushed = flushed;
  }

  hold(owner: number, kind: number, amount: number): boolean {
    const rows = this.#rows;
    const row = this.#find(owner, kind);
    const held = (rows[row + HELD] ?? 0) + amount;
    if (!(held < (rows[row + ROOM] ?? 0))) return false;
    rows[row + HELD] = held;
    return true;
  }

  allow(
    customerId: string,
    { owner, kind }: { readonly owner: number; readonly kind: number },
    amount: number,
  ): void {
    if (!(amount > 0) || (owner === 0 && kind === 0)) return;
    if (2 * this.#used >= this.#capacity) this.#grow();
    const rows = this.#rows;
    const row = this.#find(owner, kind);
    if (isEmpty(rows, row)) {
      this.#used += 1;
      rows[row] = owner;
      rows[row + KIND] = kind;
    }
    rows[row + ROOM] = amount;
    const own = this.#allowed.get(customerId);
    if (own === undefined) this.#allowed.set(customerId, [row]);
    else if (!own.includes(row)) own.push(row);
  }

  flushKind(customerId: string, kind: number): void {
    for (const row of this.#allowed.get(customerId) ?? []) {
      if (this.#rows[row + KIND] === kind) this.#flushRow(customerId, row);
    }
  }

  flush(customerId: string): void {
    for (const row of this.#allowed.get(customerId) ?? []) this.#flushRow(customerId, row);
    this.#allowed.delete(customerId);
  }

  flushAll(): void {
    for (const id of [...this.#allowed.keys()]) this.flush(id);
  }

  /** The place of the row, existing or not. A row without room is free, or was: it stays so that later rows are found. */
  #find(owner: number, kind: number): number {
    const rows = this.#rows;
    const mask = this.#capacity - 1;
    for (let place = mixHashes(owner, kind) & mask; ; place = (place + 1) & mask) {
      const row = place * ROW;
      if (rows[row] === owner && rows[row + KIND] === kind) return row;
      if (isEmpty(rows, row)) return row;
    }
  }

  #flushRow(customerId: string, row: number): void {
    const rows = this.#rows;
    const held = rows[row + HELD] ?? 0;
    rows[row + HELD] = 0;
    rows[row + ROOM] = 0;
    if (held > 0) this.#flushed(customerId, rows[row + KIND] ?? 0, held);
  }

  /** Doubles the list, up to its limit. */
  #grow(): void {
    this.flushAll();
    this.#capacity = Math.min(2 * this.#capacity, ROWS_MAX);
    this.#rows = new Float64Array(this.#capacity * ROW);
    this.#used = 0;
  }
}

function isEmpty(rows: Float64Array, row: number): boolean {
  return rows[row] === 0 && rows[row + KIND] === 0;
}
