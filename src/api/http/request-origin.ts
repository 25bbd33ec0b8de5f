/** The address at which a request has reached the service, for links in its answer. */
import type { Context } from 'hono';
import { headerOf } from './request-body.ts';
import { isHttps } from './session.ts';

const CHARACTERS_MAX = 261;
/** A name or an IPv4 address, or an IPv6 address in brackets; then a port. */
const LABEL = '[a-z\\d_](?:[a-z\\d_-]{0,61}[a-z\\d_])?';
const HOST = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*\\.?|\\[[\\da-f:.]{2,45}\\])(?::\\d{1,5})?$`, 'i');

/**
 * Scheme, host and port as the browser has them. Clients control both headers: a value that is no host with a port,
 * such as one with a path or a user, is ignored.
 */
export function originOf(context: Context): string {
  const forwarded = headerOf(context, 'x-forwarded-host')?.split(',', 1)[0]?.trim();
  const host = [forwarded, headerOf(context, 'host')].find((text) => text !== undefined && isHost(text));
  return `${isHttps(context) ? 'https' : 'http'}://${host ?? 'localhost'}`;
}

function isHost(text: string): boolean {
  return text.length <= CHARACTERS_MAX && HOST.test(text) && URL.canParse(`http://${text}`);
}
