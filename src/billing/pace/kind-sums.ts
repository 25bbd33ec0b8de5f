/**
 * The usage of a customer by kind of quantity, for the pace of evaluations. In floating point and in memory, in one
 * list for each customer: it is read and written for every event, and adjacent entries are found at once.
 */

/** Usage of further kinds counts together. */
const KINDS_MAX = 64;
const OTHER_KINDS = 0;

/** Places of a row: its kind, and three sums of it. */
const ROW = 4;
/** Since the last evaluation began. */
const USED = 1;
/** Up to the beginning of the last evaluation, since the one before. */
const COUNTED = 2;
/** The quantities that the effects of lines refer to. */
const SEEN = 3;

export class KindSums {
  #rows: number[] = [];
  #isUsed = false;
  #isCounted = false;
  #isSeen = false;

  /** Whether there is usage since the last evaluation began. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** Whether there was usage up to the beginning of the last evaluation that is neither seen nor forgotten. */
  get isCounted(): boolean {
    return this.#isCounted;
  }

  get isSeen(): boolean {
    return this.#isSeen;
  }

  /** Adds new usage. Returns the ratio of all of it to the observed usage, as `usedShare`. */
  use(kind: number, amount: number): number {
    const rows = this.#rows;
    const row = this.#rowOf(kind);
    const used = (rows[row + USED] ?? 0) + amount;
    rows[row + USED] = used;
    this.#isUsed = true;
    return shareOf(used, rows[row + SEEN] ?? 0);
  }

  /** Starts an evaluation: the used amounts are counted. */
  count(): void {
    const rows = this.#rows;
    for (let row = 0; row < rows.length; row += ROW) {
      rows[row + COUNTED] = (rows[row + COUNTED] ?? 0) + (rows[row + USED] ?? 0);
      rows[row + USED] = 0;
    }
    this.#isCounted ||= this.#isUsed;
    this.#isUsed = false;
  }

  /** Counted usage is added to the seen usage. */
  seeCounted(): void {
    const rows = this.#rows;
    for (let row = 0; row < rows.length; row += ROW) {
      rows[row + SEEN] = (rows[row + SEEN] ?? 0) + (rows[row + COUNTED] ?? 0);
    }
  }

  /** Sets the observed usage to the counted usage. */
  seeOnlyCounted(): void {
    const kept: number[] = [];
    for (let row = 0; row < this.#rows.length; row += ROW) {
      const [kind = 0, used = 0, counted = 0] = this.#rows.slice(row, row + ROW);
      // Kinds that no longer occur are evicted for others.
      if (used > 0 || counted > 0) kept.push(kind, used, counted, counted);
    }
    this.#rows = kept;
    this.#isSeen = true;
  }

  /** Counted usage is neither added to the seen usage, nor kept. */
  forgetCounted(): void {
    for (let row = 0; row < this.#rows.length; row += ROW) this.#rows[row + COUNTED] = 0;
    this.#isCounted = false;
  }

  /** The largest ratio of the usage of a kind to the observed usage of the kind; infinite if none was observed. */
  usedShare(): number {
    return this.#largestShare(USED);
  }

  countedShare(): number {
    return this.#largestShare(COUNTED);
  }

  usedOf(kind: number): number {
    return this.#amountOf(kind, USED);
  }

  seenOf(kind: number): number {
    return this.#amountOf(kind, SEEN);
  }

  used(): [kind: number, amount: number][] {
    return this.#amounts(USED);
  }

  seen(): [kind: number, amount: number][] {
    return this.#amounts(SEEN);
  }

  #largestShare(sum: number): number {
    const rows = this.#rows;
    let largest = 0;
    for (let row = 0; row < rows.length; row += ROW) {
      largest = Math.max(largest, shareOf(rows[row + sum] ?? 0, rows[row + SEEN] ?? 0));
    }
    return largest;
  }

  /** The amount of a kind; 0 if the kind is not listed. */
  #amountOf(kind: number, sum: number): number {
    const rows = this.#rows;
    for (let row = 0; row < rows.length; row += ROW) if (rows[row] === kind) return rows[row + sum] ?? 0;
    return 0;
  }

  /** The amounts that are not 0. */
  #amounts(sum: number): [kind: number, amount: number][] {
    const amounts: [number, number][] = [];
    for (let row = 0; row < this.#rows.length; row += ROW) {
      const amount = this.#rows[row + sum] ?? 0;
      if (amount > 0) amounts.push([this.#rows[row] ?? OTHER_KINDS, amount]);
    }
    return amounts;
  }

  /** The row of a kind: another one for a new kind, or the last row, which all surplus kinds share. */
  #rowOf(kind: number): number {
    const rows = this.#rows;
    for (let row = 0; row < rows.length; row += ROW) if (rows[row] === kind) return row;
    const { length } = rows;
    if (length > KINDS_MAX * ROW) return length - ROW;
    rows.push(length < KINDS_MAX * ROW ? kind : OTHER_KINDS, 0, 0, 0);
    return length;
  }
}

function shareOf(amount: number, seen: number): number {
  return amount === 0 ? 0 : amount / seen;
}
