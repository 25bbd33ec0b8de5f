/**
 * Counts of the mechanisms of this process, in one list that `/metrics` shows. Mechanisms of one kind and name add up.
 * A mechanism without a name, such as the queue of one request, is counted for its owner only.
 */

/** `waiting` and `size` may fall. */
export type Figure = 'runs' | 'failures' | 'retries' | 'hits' | 'misses' | 'waiting' | 'size';

export interface Figures<Name extends Figure> {
  add(figure: Name, by?: number): void;
  /** The counts of this mechanism alone. */
  read(): Readonly<Record<Name, number>>;
}

const listed = new Map<string, Map<Figure, number>>();

/** The mechanism is in the list, as `kind name`, if it has a name. */
export function createFigures<Name extends Figure>(
  kind: string,
  name: string | undefined,
  names: readonly Name[],
): Figures<Name> {
  const own = Object.fromEntries(names.map((each) => [each, 0])) as Record<Name, number>;
  const all = name === undefined ? null : listedAs(`${kind} ${name}`, names);
  return {
    add(figure, by = 1) {
      own[figure] += by;
      all?.set(figure, (all.get(figure) ?? 0) + by);
    },
    read: () => ({ ...own }),
  };
}

function listedAs(mechanism: string, names: readonly Figure[]): Map<Figure, number> {
  const known = listed.get(mechanism);
  if (known !== undefined) return known;
  const created = new Map<Figure, number>(names.map((each) => [each, 0]));
  listed.set(mechanism, created);
  return created;
}

/** The figure of each mechanism that has it. */
export function figureByMechanism(figure: Figure): ReadonlyMap<string, number> {
  return new Map(
    [...listed].flatMap(([mechanism, figures]) => {
      const value = figures.get(figure);
      return value === undefined ? [] : [[mechanism, value] as const];
    }),
  );
}
