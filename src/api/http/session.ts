/**
 * The session of the console in a request: its cookie, and whether the request is from the console's own pages.
 *
 * Browsers send a cookie with requests of all pages, so a session counts only if the browser states that one of our own
 * pages sends the request. `SameSite=Strict` alone is not enough: another port of the same host counts as the same
 * site.
 */
import type { Context } from 'hono';
import type { ConsoleSessions, OpenSession } from '../../access/console-sessions.ts';
import { Refusal } from '../../core/errors.ts';
import { addressOf, headerOf } from './request-body.ts';

const COOKIE = 'tallyhouse_session';
/** Binds a sign-in under way to the browser that began it. */
const ATTEMPT = 'tallyhouse_sign_in';
const ATTEMPT_SECONDS = 600;
/** Binds sign-ins at an identity provider to the browser. */
const PROVIDER = 'tallyhouse_provider';

/** With https the prefix of the name guarantees that no other host, and no page without https, has set the cookie. */
function cookieName(context: Context, name = COOKIE): string {
  return isHttps(context) ? `__Host-${name}` : name;
}

/** Whether the browser speaks https to the proxy in front. */
export function isHttps(context: Context): boolean {
  return headerOf(context, 'x-forwarded-proto')?.split(',', 1)[0]?.trim().toLowerCase() === 'https';
}

/** The `set-cookie` of a session that has begun. */
export function sessionCookie(context: Context, text: string, lastsMs: number): string {
  return cookie(context, text, Math.floor(lastsMs / 1_000));
}

/** The `set-cookie` of a sign-in that has begun. */
export function attemptCookie(context: Context, text: string): string {
  return cookie(context, text, ATTEMPT_SECONDS, ATTEMPT);
}

/** The `set-cookie` of a sign-in at an identity provider. The way back begins at a page of the provider. */
export function providerCookie(context: Context, text: string): string {
  return cookie(context, text, ATTEMPT_SECONDS, PROVIDER, 'Lax');
}

/** The `set-cookie` that removes it. */
export function endedCookie(context: Context): string {
  return cookie(context, '', 0);
}

function cookie(
  context: Context,
  text: string,
  maxAgeSeconds: number,
  name = COOKIE,
  sameSite: 'Strict' | 'Lax' = 'Strict',
): string {
  const secure = isHttps(context) ? '; Secure' : '';
  return `${cookieName(context, name)}=${text}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`;
}

/** The text of the session in the request's cookie. */
export function sessionText(context: Context): string | null {
  return cookieText(context, COOKIE);
}

/** The text of the sign-in under way in the request's cookie. */
export function attemptText(context: Context): string | null {
  return cookieText(context, ATTEMPT);
}

/** The text that binds sign-ins at an identity provider to the browser of the request. */
export function providerBrowserText(context: Context): string | null {
  return cookieText(context, PROVIDER);
}

function cookieText(context: Context, plainName: string): string | null {
  const name = cookieName(context, plainName);
  for (const part of (headerOf(context, 'cookie') ?? '').split(';')) {
    const [key = '', value = ''] = part.trim().split('=', 2);
    if (key === name && /^[\w-]{16,128}$/.test(value)) return value;
  }
  return null;
}

/** The session of a request; null without one. Refuses a request of another site that has one (`forbidden`). */
export async function sessionOf(
  context: Context,
  sessions: ConsoleSessions | undefined,
): Promise<OpenSession | null> {
  const text = sessions === undefined ? null : sessionText(context);
  if (sessions === undefined || text === null) return null;
  requireOwnPage(context);
  return await sessions.find(text);
}

/** Refuses a request that a page of another origin makes. Clients that are no browsers say nothing of origins. */
export function requireOwnPage(context: Context): void {
  const site = headerOf(context, 'sec-fetch-site');
  const isRead = context.req.method === 'GET' || context.req.method === 'HEAD';
  // `none`: the person has typed the address or opened a bookmark.
  if (site === 'same-origin' || (site === 'none' && isRead)) return;
  // Browsers without that header send the origin with everything that is not a plain read.
  const origin = headerOf(context, 'origin');
  if (site === undefined && (origin === undefined ? isRead : isOwnOrigin(context, origin))) return;
  throw new Refusal('forbidden', 'A session is valid only for requests from the pages of this service');
}

/** A page of another site could sign a person in as somebody else. Clients that are no browsers may sign in. */
export function requireOwnPageOfBrowser(context: Context): void {
  const isBrowser =
    headerOf(context, 'origin') !== undefined || headerOf(context, 'sec-fetch-site') !== undefined;
  if (isBrowser) requireOwnPage(context);
}

function isOwnOrigin(context: Context, origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const hosts = [headerOf(context, 'host'), headerOf(context, 'x-forwarded-host')];
  return hosts.includes(new URL(origin).host);
}

/** Whether the request comes from this machine itself, and not through a proxy on it. */
export function isFromHere(context: Context): boolean {
  const address = addressOf(context)?.replace(/^::ffff:/, '');
  if (headerOf(context, 'x-forwarded-for') !== undefined || address === undefined) return false;
  return address === '::1' || address.startsWith('127.');
}
