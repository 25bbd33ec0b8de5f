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

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its functions share the state of one process, and each is short.
export function createQuietUsage(
  flushed: (customerId: string, kind: number, amount: number) => void,
): QuietUsage {
  let capacity = ROWS_MIN;
  let rows = new Float64Array(capacity * ROW);
  let used = 0;
  /** The rows of each customer in which usage may be deferred. */
  const allowed = new Map<string, number[]>();

  /**
   * The place of the row, existing or not. A row without room is free, or was: it stays so that later rows are found.
   */
  function find(owner: number, kind: number): number {
    const mask = capacity - 1;
    for (let place = mixHashes(owner, kind) & mask; ; place = (place + 1) & mask) {
      const row = place * ROW;
      if (rows[row] === owner && rows[row + KIND] === kind) return row;
      if (isEmpty(row)) return row;
    }
  }

  function isEmpty(row: number): boolean {
    return rows[row] === 0 && rows[row + KIND] === 0;
  }

  function flushRow(customerId: string, row: number): void {
    const held = rows[row + HELD] ?? 0;
    rows[row + HELD] = 0;
    rows[row + ROOM] = 0;
    if (held > 0) flushed(customerId, rows[row + KIND] ?? 0, held);
  }

  function flush(customerId: string): void {
    for (const row of allowed.get(customerId) ?? []) flushRow(customerId, row);
    allowed.delete(customerId);
  }

  function flushAll(): void {
    for (const id of [...allowed.keys()]) flush(id);
  }

  /** Doubles the list, up to its limit. */
  function grow(): void {
    flushAll();
    capacity = Math.min(2 * capacity, ROWS_MAX);
    rows = new Float64Array(capacity * ROW);
    used = 0;
  }

  return {
    hold(owner, kind, amount) {
      const row = find(owner, kind);
      const held = (rows[row + HELD] ?? 0) + amount;
      if (!(held < (rows[row + ROOM] ?? 0))) return false;
      rows[row + HELD] = held;
      return true;
    },
    allow(customerId, { owner, kind }, amount) {
      if (!(amount > 0) || (owner === 0 && kind === 0)) return;
      if (2 * used >= capacity) grow();
      const row = find(owner, kind);
      if (isEmpty(row)) {
        used += 1;
        rows[row] = owner;
        rows[row + KIND] = kind;
      }
      rows[row + ROOM] = amount;
      const own = allowed.get(customerId);
      if (own === undefined) allowed.set(customerId, [row]);
      else if (!own.includes(row)) own.push(row);
    },
    flushKind(customerId, kind) {
      for (const row of allowed.get(customerId) ?? []) {
        if (rows[row + KIND] === kind) flushRow(customerId, row);
      }
    },
    flush,
    flushAll,
  };
}
