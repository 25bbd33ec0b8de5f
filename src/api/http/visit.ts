/** Who signs in, from where: the address that wrong sign-ins count for, and the address of the service in the browser. */
import type { Context } from 'hono';
import type { Site } from '../../access/passkeys.ts';
import type { Visit } from '../../access/sign-in-log.ts';
import { addressOf, headerOf } from './request-body.ts';
import { originOf } from './request-origin.ts';
import type { RequestContext } from './route.ts';

/** With `PUBLIC_URL` there is a proxy in front, which appends the address that it saw to `X-Forwarded-For`. */
export function visitOf(http: Context, request: RequestContext, publicUrl: string | null): Visit {
  const forwarded = headerOf(http, 'x-forwarded-for')?.split(',').at(-1)?.trim();
  const ip = publicUrl !== null && forwarded !== undefined && forwarded !== '' ? forwarded : addressOf(http);
  const { userAgent, requestId } = request;
  return { ip, userAgent, requestId };
}

export function siteOf(http: Context, publicUrl: string | null): Site {
  return { origin: publicUrl === null ? originOf(http) : new URL(publicUrl).origin };
}
