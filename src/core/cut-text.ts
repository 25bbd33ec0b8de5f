/** Shortens texts for readers with a limit. */

/**
 * At most `max` Unicode characters; the last one is `…` if the text was cut. No character is split, and unpaired
 * surrogates are replaced, because encoders refuse them.
 */
export function cutText(text: string, max: number): string {
  const whole = text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
  if (whole.length <= max) return whole;
  const characters = [...whole];
  return characters.length <= max ? whole : `${characters.slice(0, max - 1).join('')}…`;
}
