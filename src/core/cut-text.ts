/** Texts that are shortened for readers with a limit. */

/**
 * At most `max` characters, the last one `…` if something is left out. Characters are those of Unicode: none is cut in two,
 * and halves of pairs that a name came with are replaced, for no encoder takes them.
 */
export function cutText(text: string, max: number): string {
  const whole = text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
  if (whole.length <= max) return whole;
  const characters = [...whole];
  return characters.length <= max ? whole : `${characters.slice(0, max - 1).join('')}…`;
}
