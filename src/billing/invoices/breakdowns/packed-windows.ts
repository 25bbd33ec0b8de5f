/**
 * The windows of the lines of one draft, packed as bytes by the start of the window: as objects, those of a large draft
 * would take more memory than a small container has.
 */
import { Decimal } from '../../../core/decimal.ts';
import type { LineWindow } from '../../../core/invoice.ts';
import { DAY_MS, HOUR_MS, type Instant, type Interval } from '../../../core/time.ts';
import type { WindowSize } from '../../../rating/invoices/breakdown.ts';
import type { WindowAmount } from '../../../rating/lines/types.ts';

/** The order in which windows are consumed. */
export type WindowOrder = 'ascending' | 'descending';

const WINDOW_MS: Record<WindowSize, number> = { hour: HOUR_MS, day: DAY_MS };

export class PackedWindows {
  readonly #cells = new Map<Instant, PackedCell>();
  readonly #period: Interval;
  readonly #size: WindowSize;
  readonly #order: WindowOrder;
  #covered: Interval;
  #bytes = 0;

  /** `covered`: only windows within this time are packed. */
  constructor(period: Interval, size: WindowSize, covered: Interval, order: WindowOrder) {
    this.#period = period;
    this.#size = size;
    this.#covered = covered;
    this.#order = order;
  }

  /** Its size in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `amounts` may have a finer size: they are summed per window. */
  add(position: number, amounts: readonly WindowAmount[]): void {
    const covered = this.#covered;
    let sum: WindowAmount | null = null;
    for (const { window, quantity, total } of amounts) {
      if (window.start < covered.start || window.end > covered.end) continue;
      const own = this.#windowOf(window.start);
      if (sum !== null && sum.window.start !== own.start) {
        this.#pack(position, sum);
        sum = null;
      }
      sum =
        sum === null
          ? { window: own, quantity, total }
          : { window: own, quantity: sum.quantity.plus(quantity), total: sum.total.plus(total) };
    }
    if (sum !== null) this.#pack(position, sum);
  }

  /** Drops the windows that are consumed last until it fits, but none within `needed`. */
  fitInto(bytesMax: number, needed: Interval): void {
    if (this.#bytes <= bytesMax) return;
    const isAscending = this.#order === 'ascending';
    const starts = [...this.#cells.keys()].sort((a, b) => (isAscending ? a - b : b - a));
    for (let last = starts.pop(); last !== undefined && this.#bytes > bytesMax; last = starts.pop()) {
      const cell = this.#cells.get(last);
      if (cell === undefined || (last >= needed.start && last < needed.end)) return;
      this.#remove(last, cell);
      this.#covered = isAscending
        ? { start: this.#covered.start, end: last }
        : { start: cell.window.end, end: this.#covered.end };
    }
  }

  /** Whether it has all windows of this time, even if there are none. */
  covers({ start, end }: Interval): boolean {
    return this.#covered.start <= start && end <= this.#covered.end;
  }

  /** Windows within one of these. Drops those that precede all of them in the order. */
  take(asked: readonly Interval[]): LineWindow[] {
    const isAscending = this.#order === 'ascending';
    const first = isAscending
      ? Math.min(...asked.map(({ start }) => start))
      : Math.max(...asked.map(({ end }) => end));
    const taken: LineWindow[] = [];
    for (const [start, cell] of this.#cells) {
      const { end } = cell.window;
      if (isAscending ? end <= first : start >= first) this.#remove(start, cell);
      else if (asked.some((window) => window.start <= start && end <= window.end)) cell.unpackTo(taken);
    }
    this.#covered = isAscending
      ? { start: Math.max(first, this.#covered.start), end: this.#covered.end }
      : { start: this.#covered.start, end: Math.min(first, this.#covered.end) };
    return taken;
  }

  #windowOf(at: Instant): Interval {
    const step = WINDOW_MS[this.#size];
    const floor = Math.floor(at / step) * step;
    return {
      start: Math.max(floor, this.#period.start),
      end: Math.min(floor + step, this.#period.end),
    };
  }

  #pack(position: number, { window, quantity, total }: WindowAmount): void {
    const known = this.#cells.get(window.start);
    const cell = known ?? new PackedCell(window);
    if (known === undefined) this.#cells.set(window.start, cell);
    const before = known === undefined ? 0 : cell.bytes;
    cell.add(position, quantity, total);
    this.#bytes += cell.bytes - before;
  }

  #remove(start: Instant, cell: PackedCell): void {
    this.#bytes -= cell.bytes;
    this.#cells.delete(start);
  }
}

const FIRST_BYTES = 256;
/** The bytes of a position, and of the length of a number. */
const WORD = 4;

/** The lines of one window: for each its position, and the length and digits of its quantity and of its total. */
class PackedCell {
  readonly window: Interval;
  #content = Buffer.allocUnsafe(FIRST_BYTES);
  #used = 0;

  constructor(window: Interval) {
    this.window = window;
  }

  get bytes(): number {
    return this.#content.length;
  }

  add(position: number, quantity: Decimal, total: Decimal): void {
    this.#makeRoom(3 * WORD + quantity.textLengthMax() + total.textLengthMax());
    this.#used = this.#content.writeUInt32LE(position, this.#used);
    this.#addNumber(quantity);
    this.#addNumber(total);
  }

  unpackTo(windows: LineWindow[]): void {
    const { window } = this;
    let at = 0;
    const next = () => {
      const start = at + WORD;
      at = start + this.#content.readUInt32LE(at);
      return Decimal.parse(this.#content.toString('latin1', start, at));
    };
    while (at < this.#used) {
      const position = this.#content.readUInt32LE(at);
      at += WORD;
      const quantity = next();
      windows.push({ position, window, quantity, total: next() });
    }
  }

  #addNumber(value: Decimal): void {
    const start = this.#used + WORD;
    const end = value.writeTo(this.#content, start);
    this.#content.writeUInt32LE(end - start, this.#used);
    this.#used = end;
  }

  #makeRoom(bytes: number): void {
    if (this.#used + bytes <= this.#content.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#content.length, this.#used + bytes));
    this.#content.copy(larger, 0, 0, this.#used);
    this.#content = larger;
  }
}
