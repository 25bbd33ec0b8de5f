/** Links from others, such as a billing provider's. */

/** The link if it has https or http; else undefined: a browser would run code from other schemes. */
export function webLink(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined;
  return ['https:', 'http:'].includes(new URL(text).protocol) ? text : undefined;
}
