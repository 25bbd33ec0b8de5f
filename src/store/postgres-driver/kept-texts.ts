/**
 * Which statements a pool keeps prepared on its connections, by their texts.
 *
 * A statement with a list of parameters has another text for every length of the list, and prepared statements stay
 * until their connection ends. So short ones are kept at once, and longer ones, such as the insertion of a row with
 * many columns, when they are used again, up to a limit.
 */

/** The number of short texts is at most the number of statements in the code times this limit. */
const SHORT_PARAMETERS_MAX = 10;
/** More than any table has columns. */
const LONG_PARAMETERS_MAX = 64;
const LONG_TEXTS_MAX = 200;

export interface KeptTexts {
  isKept(text: string, parameters: number): boolean;
}

export function createKeptTexts(): KeptTexts {
  const kept = new Set<string>();
  /** Texts used once, the oldest first. */
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
