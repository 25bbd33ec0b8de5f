/**
 * Which rates are added to a card so that, from an instant on, the prices of one identity are those that are wanted.
 * Nothing before that instant changes. Pure.
 */
import type { Instant } from '../../../core/time.ts';

/** A price while it is in force. `end` null: without end. */
export interface PriceSpan<Price> {
  readonly start: Instant;
  readonly end: Instant | null;
  readonly price: Price;
}

export interface RateChange<Price> extends PriceSpan<Price> {
  /** In force there until now; null: none. */
  readonly before: Price | null;
}

export interface RatesToCompare<Price> {
  /** The prices of the service: ascending, without overlap. */
  readonly held: readonly PriceSpan<Price>[];
  /** The prices that are wanted, in the same form. */
  readonly wanted: readonly PriceSpan<Price>[];
  readonly from: Instant;
  isSame(a: Price, b: Price): boolean;
  /** The price that is added where one ends: the same, not entitled. Null: it has ended already. */
  ended(price: Price): Price | null;
}

/**
 * Where `wanted` has no price before its first start, the held prices stay; without any wanted price all held ones end
 * at `from`. Each change lies between two instants at which held rates start or end, and has an end unless it is the
 * last: an open-ended rate would stop at the next one, and bring back rates that others cover.
 */
export function rateChanges<Price>(compared: RatesToCompare<Price>): RateChange<Price>[] {
  const cells = cellsOf(compared);
  const cuts = new Set(compared.held.flatMap(({ start, end }) => (end === null ? [start] : [start, end])));
  // An added rate with an end replaces a held one with the same start altogether, also where that one continues after
  // the added end, and held starts that others cover do not show. So all that follows is added with it.
  const firstReplaced = cells.findIndex(({ isChanged, end }) => isChanged && end !== null);
  const added = cells.filter(
    ({ isChanged }, index) => isChanged || (firstReplaced !== -1 && index > firstReplaced),
  );
  return joined(added, cuts).flatMap(({ start, end, price, before }) =>
    price === null ? [] : [{ start, end, price, before }],
  );
}

interface Cell<Price> {
  readonly start: Instant;
  readonly end: Instant | null;
  readonly before: Price | null;
  readonly price: Price | null;
  readonly isChanged: boolean;
}

function cellsOf<Price>({ held, wanted, from, isSame, ended }: RatesToCompare<Price>): Cell<Price>[] {
  const first = Math.max(from, wanted[0]?.start ?? from);
  const cuts = [...held, ...wanted].flatMap(({ start, end }) => (end === null ? [start] : [start, end]));
  const starts = [...new Set([first, ...cuts.filter((cut) => cut > first)])].sort((a, b) => a - b);
  const heldAt = lookup(held);
  const wantedAt = lookup(wanted);
  return starts.map((start, index) => {
    const before = heldAt(start);
    const wish = wantedAt(start);
    const price = wish ?? (before === null ? null : (ended(before) ?? before));
    const isChanged = price !== null && (before === null || !isSame(before, price));
    return { start, end: starts[index + 1] ?? null, before, price, isChanged };
  });
}

/** Finds the price at an instant; the instants that are asked for ascend. */
function lookup<Price>(spans: readonly PriceSpan<Price>[]): (at: Instant) => Price | null {
  let index = 0;
  return (at) => {
    while (index < spans.length && (spans[index]?.end ?? Number.POSITIVE_INFINITY) <= at) index += 1;
    const span = spans[index];
    return span !== undefined && span.start <= at ? span.price : null;
  };
}

/** Adjacent cells of one wanted price become one, unless a held rate starts or ends between them. */
function joined<Price>(cells: readonly Cell<Price>[], heldCuts: ReadonlySet<Instant>): Cell<Price>[] {
  const result: Cell<Price>[] = [];
  for (const cell of cells) {
    const last = result.at(-1);
    if (last?.end === cell.start && last.price === cell.price && !heldCuts.has(cell.start)) {
      result[result.length - 1] = { ...last, end: cell.end };
    } else {
      result.push(cell);
    }
  }
  return result;
}
