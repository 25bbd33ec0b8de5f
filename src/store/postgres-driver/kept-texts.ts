/**
 * Which statements a pool keeps on its connections, by their texts.
 *
 * A statement with a list of parameters has another text for every length of the list, and what is kept stays until its
 * connection ends. So short ones are kept at once, and of longer ones, such as the insertion of a row with many columns,
 * those that are asked for again, up to a limit.
 */

/** There are as many short texts as the code has statements, times this number. */
const SHORT_PARAMETERS_MAX = 10;
/** More than any table has columns. */
const LONG_PARAMETERS_MAX = 64;
const LONG_TEXTS_MAX = 200;

export interface KeptTexts {
  isKept(text: string, parameters: number): boolean;
}

export function createKeptTexts(): KeptTexts {
  const kept = new Set<string>();
  /** Asked for once, the oldest first. */
  const once = new Set<string>();
  return {
    isKept(text, parameters) {
      if (parameters <= SHORT_PARAMETERS_MAX) return true;
      if (parameters > LONG_PARAMETERS_MAX) return false;
      if (kept.has(text)) return true;
      if (kept.size === LONG_TEXTS_MAX) return false;
      if (once.delete(text)) {
        kept.add(text);
        return true;
      }
      once.add(text);
      const [oldest] = once;
      if (once.size > LONG_TEXTS_MAX && oldest !== undefined) once.delete(oldest);
      return false;
    },
  };
}
