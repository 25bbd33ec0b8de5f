/**
 * The session of the console: begin it with a token or a link, read it, end it.
 *
 * These routes read and set a cookie, so they see the HTTP request, which other routes do not.
 */
import type { Context } from 'hono';
import { z } from 'zod';
import type { BegunSession } from '../../../access/console-sessions.ts';
import { usedPasskey } from '../../../access/passkeys.ts';
import type { Visit } from '../../../access/sign-in-log.ts';
import { Refusal } from '../../../core/errors.ts';
import { formatInstant } from '../../../core/time.ts';
import { AnswerWithHeaders } from '../../http/answer-with-headers.ts';
import { checkBody } from '../../http/long-lists.ts';
import type { RouteDefinition, RouteFacts } from '../../http/route.ts';
import {
  attemptText,
  endedCookie,
  isFromHere,
  requireOwnPage,
  requireOwnPageOfBrowser,
  sessionCookie,
  sessionOf,
  sessionText,
} from '../../http/session.ts';
import { siteOf, visitOf } from '../../http/visit.ts';
import type { RouteContext } from '../route-context.ts';
import { sessionAnswer, shownSession } from './session-answer.ts';

const signInBody = z
  .strictObject({
    token: z.string().min(1).max(1_000).optional().meta({ description: 'An API token of any scope.' }),
    passkey: usedPasskey.optional().meta({ description: 'The answer of the browser to a challenge.' }),
    link: z.string().min(1).max(200).optional().meta({
      description: 'The part after `#` of the link that the first start prints; from the same machine only.',
    }),
  })
  .refine((sent) => Object.values(sent).filter((each) => each !== undefined).length === 1, {
    message: 'takes either token, passkey or link',
  })
  .meta({ id: 'SignIn' });

const facts = { path: '/console/session', tags: ['Console'], scope: 'public' } as const;

export function consoleSessionRoutes(billing: RouteContext): RouteDefinition[] {
  return [readRoute(billing), signInRoute(billing), signOutRoute(billing)];
}

type Run = RouteDefinition['run'];

function definitionOf(own: Omit<RouteFacts, keyof typeof facts>, body: z.ZodType | undefined, run: Run) {
  const definition: RouteDefinition = {
    ...facts,
    ...own,
    params: undefined,
    query: undefined,
    body,
    response: sessionAnswer,
    run,
  };
  return definition;
}

function readRoute({ sessions, clock, providerSignIn }: RouteContext): RouteDefinition {
  const own = {
    method: 'get',
    operationId: 'getConsoleSession',
    summary: 'Read the session of the console',
    errors: [403],
  } as const;
  return definitionOf(own, undefined, async ({ http }) => {
    const found = await sessionOf(http, sessions);
    const host = providerSignIn === null ? {} : { identity_provider: new URL(providerSignIn.issuer).host };
    return { data: found === null ? null : shownSession(found), now: formatInstant(clock.now()), ...host };
  });
}

function signInRoute(billing: RouteContext): RouteDefinition {
  const { sessions, clock, signIns, publicUrl } = billing;
  const own = {
    method: 'post',
    operationId: 'signIn',
    summary: 'Begin a session of the console',
    description:
      'The answer sets a cookie that scripts cannot read. Until it expires, after twelve hours, requests of the pages ' +
      'of the service that send no token have the rights of the token or the person. It ends with its token.',
    errors: [401, 403, 429],
  } as const;
  return definitionOf(own, signInBody, async ({ http, body, context }) => {
    requireOwnPageOfBrowser(http);
    const sent = await checkBody(signInBody, body);
    if (sent.link !== undefined && !isFromHere(http)) {
      throw new Refusal('forbidden', 'The link of the first start works on the machine of the service only');
    }
    const visit = visitOf(http, context, publicUrl);
    const begun = await signIns.during('signIn', visit, () => signedIn(billing, http, sent, visit));
    const now = clock.now();
    const former = sessionText(http);
    if (former !== null) await sessions.signOut(former);
    return new AnswerWithHeaders(
      { data: shownSession(begun), now: formatInstant(now) },
      { 'set-cookie': sessionCookie(http, begun.text, begun.expiresAt - now) },
    );
  });
}

async function signedIn(
  { sessions, passkeys, publicUrl }: RouteContext,
  http: Context,
  { token, link, passkey }: z.output<typeof signInBody>,
  visit: Visit,
): Promise<BegunSession> {
  if (link !== undefined) return await sessions.openLink(link, visit);
  if (passkey === undefined) return await sessions.signIn(token ?? '', visit);
  const given = { attempt: attemptText(http) ?? '', passkey };
  return await passkeys.signIn(given, siteOf(http, publicUrl), visit);
}

function signOutRoute({
  sessions,
  clock,
  signIns,
  publicUrl,
  providerSignIn,
}: RouteContext): RouteDefinition {
  const own = {
    method: 'delete',
    operationId: 'signOut',
    summary: 'End the session of the console',
    description:
      'The session ends in every process, and its cookie is removed. A person of an identity provider then opens `sign_out_url`.',
    errors: [403],
  } as const;
  return definitionOf(own, undefined, async ({ http, context }) => {
    const text = sessionText(http);
    let there: string | null = null;
    if (text !== null) {
      requireOwnPage(http);
      const ended = await sessions.find(text);
      there = (await providerSignIn?.signOutAddress(text, siteOf(http, publicUrl))) ?? null;
      await sessions.signOut(text);
      if (ended !== null) await signIns.signedOut(ended, visitOf(http, context, publicUrl));
    }
    return new AnswerWithHeaders(
      { data: null, now: formatInstant(clock.now()), ...(there === null ? {} : { sign_out_url: there }) },
      { 'set-cookie': endedCookie(http) },
    );
  });
}
