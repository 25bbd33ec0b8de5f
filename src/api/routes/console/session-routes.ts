/**
 * The session of the console: begin it with a token or a link, read it, end it.
 *
 * These routes read and set a cookie, so they see the HTTP request, which other routes do not.
 */
import { z } from 'zod';
import type { OpenSession } from '../../../access/console-sessions.ts';
import { Refusal } from '../../../core/errors.ts';
import { PERMISSIONS } from '../../../core/permissions.ts';
import { formatInstant } from '../../../core/time.ts';
import { TOKEN_SCOPES } from '../../../core/token-scopes.ts';
import { AnswerWithHeaders } from '../../http/answer-with-headers.ts';
import { checkBody } from '../../http/long-lists.ts';
import type { RouteDefinition, RouteFacts } from '../../http/route.ts';
import {
  endedCookie,
  isFromHere,
  requireOwnPage,
  sessionCookie,
  sessionOf,
  sessionText,
} from '../../http/session.ts';
import { list, noted, nullable } from '../../wire/description.ts';
import { timestamp } from '../../wire/fields.ts';
import { anyText, instant, oneOf } from '../../wire/kinds.ts';
import { beside, record } from '../../wire/record.ts';
import type { RouteContext } from '../route-context.ts';

const session = record(
  {
    actor: beside({
      name: noted('The name of the token that started the session.', anyText),
      scope: noted('Null: a token with a list of permissions.', nullable(oneOf(TOKEN_SCOPES))),
      permissions: noted('What the session may do.', list(oneOf(PERMISSIONS))),
    }),
    expiresAt: instant,
  },
  { id: { answered: 'ConsoleSession' } },
);

/** The permissions of its actor as a list. */
function shown({ actor, expiresAt }: OpenSession) {
  return { actor: { ...actor, permissions: [...actor.permissions] }, expiresAt };
}

const sessionAnswer = z.object({
  data: session.output.nullable().meta({ description: 'Null if there is no session.' }),
  now: timestamp.meta({ description: 'The clock of the service, in a sandbox the sandbox clock.' }),
});

const signInBody = z
  .strictObject({
    token: z.string().min(1).max(1_000).optional().meta({ description: 'An API token of any scope.' }),
    link: z.string().min(1).max(200).optional().meta({
      description: 'The part after `#` of the link that the first start prints; from the same machine only.',
    }),
  })
  .refine(({ token, link }) => (token === undefined) !== (link === undefined), {
    message: 'takes either token or link',
  })
  .meta({ id: 'SignIn' });

const facts = { path: '/console/session', tags: ['Console'], scope: 'public' } as const;

export function consoleSessionRoutes(deps: RouteContext): RouteDefinition[] {
  return [readRoute(deps), signInRoute(deps), signOutRoute(deps)];
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

function readRoute({ sessions, clock }: RouteContext): RouteDefinition {
  const own = {
    method: 'get',
    operationId: 'getConsoleSession',
    summary: 'Read the session of the console',
    errors: [403],
  } as const;
  return definitionOf(own, undefined, async ({ http }) => {
    const found = await sessionOf(http, sessions);
    return { data: found === null ? null : session.write(shown(found)), now: formatInstant(clock.now()) };
  });
}

function signInRoute({ sessions, clock }: RouteContext): RouteDefinition {
  const own = {
    method: 'post',
    operationId: 'signIn',
    summary: 'Begin a session of the console',
    description:
      'The answer sets a cookie that scripts cannot read. Until it expires, after twelve hours, requests of the pages ' +
      'of the service that send no token have the rights of the token. The session ends with its token.',
    errors: [401, 403],
  } as const;
  return definitionOf(own, signInBody, async ({ http, body }) => {
    requireOwnPageOfBrowser(http);
    const { token, link } = await checkBody(signInBody, body);
    if (link !== undefined && !isFromHere(http)) {
      throw new Refusal('forbidden', 'The link of the first start works on the machine of the service only');
    }
    const begun = await (link === undefined ? sessions.signIn(token ?? '') : sessions.openLink(link));
    const now = clock.now();
    const former = sessionText(http);
    if (former !== null) await sessions.signOut(former);
    return new AnswerWithHeaders(
      { data: session.write(shown(begun)), now: formatInstant(now) },
      { 'set-cookie': sessionCookie(http, begun.text, begun.expiresAt - now) },
    );
  });
}

function signOutRoute({ sessions, clock }: RouteContext): RouteDefinition {
  const own = {
    method: 'delete',
    operationId: 'signOut',
    summary: 'End the session of the console',
    description: 'The session ends in every process, and its cookie is removed.',
    errors: [403],
  } as const;
  return definitionOf(own, undefined, async ({ http }) => {
    const text = sessionText(http);
    if (text !== null) {
      requireOwnPage(http);
      await sessions.signOut(text);
    }
    return new AnswerWithHeaders(
      { data: null, now: formatInstant(clock.now()) },
      { 'set-cookie': endedCookie(http) },
    );
  });
}

/** A page of another site could sign a person in with a foreign token. Clients that are no browsers may sign in. */
function requireOwnPageOfBrowser(http: Parameters<typeof requireOwnPage>[0]): void {
  const isBrowser = ['origin', 'sec-fetch-site'].some((name) => http.req.header(name) !== undefined);
  if (isBrowser) requireOwnPage(http);
}
