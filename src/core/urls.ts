/** URLs given by others: receivers of messages, and links that people open. */

/**
 * Why messages cannot be sent to a URL; null: they can. It needs https, and has neither user nor password. `allowPrivate`
 * allows http too.
 */
export function receiverProblem(
  text: unknown,
  { allowPrivate }: { readonly allowPrivate: boolean },
): string | null {
  const url = parsed(text);
  const schemes = allowPrivate ? ['https:', 'http:'] : ['https:'];
  if (url === null || !schemes.includes(url.protocol)) return 'must be a URL with https';
  return url.username === '' && url.password === '' ? null : 'must not have a user or password';
}

/** Whether a page may link to a text. A browser runs code from other schemes, such as `javascript:`. */
export function isLink(text: string): boolean {
  return ['https:', 'http:'].includes(parsed(text)?.protocol ?? '');
}

function parsed(text: unknown): URL | null {
  return typeof text === 'string' && URL.canParse(text) ? new URL(text) : null;
}
