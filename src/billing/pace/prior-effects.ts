/** The effects of quantities of events for any customer, where nothing is known of one. In memory. */

/** Kinds and their amounts, each kind once. */
type Quantities = readonly (readonly [kind: number, amount: number])[];

interface LineEffect {
  /** Null where it compares with no other customer. */
  readonly unit: string | null;
  /** Null: not known. */
  readonly effect: number | null;
}

export interface PriorEffects {
  /** All of these quantities together have had these effects on lines. */
  note(seen: Quantities, lines: Iterable<LineEffect>): void;
  /** The progress that they may cause towards a line in the unit; null if the effect of one of them is unknown. */
  effectOf(used: Quantities, unit: string | null): number | null;
  /** How far one of a kind may bring a line in the unit; null as above. */
  effectOfEach(kind: number, unit: string | null): number | null;
}

/** More units, and more kinds of each, are not known. */
const UNITS_MAX = 1_000;
const KINDS_MAX = 10_000;

export function createPriorEffects(): PriorEffects {
  /** By unit and kind: the maximum effect of one quantity, if the whole effect is due to it. */
  const effects = new Map<string, Map<number, number>>();

  function ofUnit(unit: string): Map<number, number> | undefined {
    const known = effects.get(unit);
    if (known !== undefined || effects.size === UNITS_MAX) return known;
    const kinds = new Map<number, number>();
    effects.set(unit, kinds);
    return kinds;
  }

  return {
    note(seen, lines) {
      for (const [unit, effect] of largestEffects(lines)) {
        const kinds = ofUnit(unit);
        if (kinds === undefined) continue;
        for (const [kind, amount] of seen) {
          if (amount === 0 || (kinds.size === KINDS_MAX && !kinds.has(kind))) continue;
          kinds.set(kind, Math.max(kinds.get(kind) ?? 0, effect / amount));
        }
      }
    },
    effectOf(used, unit) {
      const kinds = effects.get(unit ?? '');
      let most = 0;
      for (const [kind, amount] of used) {
        if (amount === 0) continue;
        const each = kinds?.get(kind);
        if (each === undefined) return null;
        most = Math.max(most, amount * each);
      }
      return most;
    },
    effectOfEach: (kind, unit) => effects.get(unit ?? '')?.get(kind) ?? null,
  };
}

/** By unit. Usage that costs one customer nothing may cost another one, so it proves nothing. */
function largestEffects(lines: Iterable<LineEffect>): Map<string, number> {
  const largest = new Map<string, number>();
  for (const { unit, effect } of lines) {
    if (unit === null || effect === null || effect === 0) continue;
    largest.set(unit, Math.max(effect, largest.get(unit) ?? 0));
  }
  return largest;
}
