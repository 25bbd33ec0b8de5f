/**
 * Which of several overrides wins at each time, computed once for all times. A lane holds overrides that exclude
 * each other, such as the fixed prices of one target.
 */
import { firstIndex } from '../../core/first-index.ts';
import type { Override } from '../../core/terms/overrides.ts';
import type { Instant } from '../../core/time.ts';

/** An override with its place in the order of addition. */
export interface PlacedOverride {
  readonly override: Override;
  readonly position: number;
}

/** `winners[i]` wins from `starts[i]` until the next start; nothing wins before the first start. */
export interface Lane {
  /** Ascending. */
  readonly starts: readonly Instant[];
  readonly winners: readonly (PlacedOverride | null)[];
}

/**
 * The lane of overrides in order of precedence, the best first. Adjacent winners that are `same` are merged. Takes n
 * log n steps for n overrides, and yields now and then.
 */
export function* laneOf(
  ranked: readonly PlacedOverride[],
  same: (a: Override, b: Override) => boolean,
): Generator<void, Lane, undefined> {
  const inForce = ranked.filter(
    ({ override: { startingAt, endingBefore } }) => endingBefore === null || startingAt < endingBefore,
  );
  const instants = changeInstants(inForce);
  yield;
  const cells = paintedCells(instants, inForce);
  yield;
  return merged(instants, cells, same);
}

/** The starts and ends of overrides, ascending. */
export function changeInstants(placed: readonly PlacedOverride[]): Instant[] {
  const instants = placed.flatMap(({ override: { startingAt, endingBefore } }) =>
    endingBefore === null ? [startingAt] : [startingAt, endingBefore],
  );
  return [...new Set(instants)].sort((a, b) => a - b);
}

/** Each cell between two instants goes to the first override that covers it. Assigned cells are skipped at once. */
function paintedCells(
  instants: readonly Instant[],
  ranked: readonly PlacedOverride[],
): (PlacedOverride | null)[] {
  const cellAt = new Map(instants.map((at, index) => [at, index]));
  const cells = instants.map((): PlacedOverride | null => null);
  // From each cell to itself while it is free, else towards the next free cell.
  const towards = Array.from({ length: cells.length + 1 }, (_, index) => index);
  for (const placed of ranked) {
    const { startingAt, endingBefore } = placed.override;
    const end = endingBefore === null ? cells.length : (cellAt.get(endingBefore) ?? cells.length);
    let cell = nextFree(towards, cellAt.get(startingAt) ?? end);
    while (cell < end) {
      cells[cell] = placed;
      towards[cell] = cell + 1;
      cell = nextFree(towards, cell);
    }
  }
  return cells;
}

/** The first free cell from `cell` on; shortens the path to it. */
function nextFree(towards: number[], cell: number): number {
  let free = cell;
  while (towards[free] !== free) free = towards[free] ?? free;
  for (let step = cell; step !== free; ) {
    const next = towards[step] ?? free;
    towards[step] = free;
    step = next;
  }
  return free;
}

function merged(
  instants: readonly Instant[],
  cells: readonly (PlacedOverride | null)[],
  same: (a: Override, b: Override) => boolean,
): Lane {
  const starts: Instant[] = [];
  const winners: (PlacedOverride | null)[] = [];
  for (const [index, start] of instants.entries()) {
    const winner = cells[index] ?? null;
    const previous = winners.at(-1) ?? null;
    const goesOn =
      winner === null || previous === null ? winner === previous : same(winner.override, previous.override);
    if (goesOn && winners.length > 0) continue;
    starts.push(start);
    winners.push(winner);
  }
  return { starts, winners };
}

export function winnerAt({ starts, winners }: Lane, at: Instant): PlacedOverride | null {
  return winners[countUpTo(starts, at) - 1] ?? null;
}

/** The first start after `at`; null: none. */
export function nextStart({ starts }: Pick<Lane, 'starts'>, at: Instant): Instant | null {
  return starts[countUpTo(starts, at)] ?? null;
}

/** The last start at or before `at`; null: none. */
export function previousStart({ starts }: Pick<Lane, 'starts'>, at: Instant): Instant | null {
  return starts[countUpTo(starts, at) - 1] ?? null;
}

function countUpTo(starts: readonly Instant[], at: Instant): number {
  return firstIndex(starts.length, (index) => (starts[index] ?? at) > at);
}
