/** Passkeys in the browser: a challenge, and the registration of a passkey with a link or in a session. */
import { z } from 'zod';
import { newPasskey } from '../../../access/passkeys.ts';
import { Refusal } from '../../../core/errors.ts';
import { formatInstant } from '../../../core/time.ts';
import { AnswerWithHeaders } from '../../http/answer-with-headers.ts';
import { checkBody } from '../../http/long-lists.ts';
import type { RouteDefinition } from '../../http/route.ts';
import {
  attemptCookie,
  attemptText,
  requireOwnPageOfBrowser,
  sessionCookie,
  sessionOf,
  sessionText,
} from '../../http/session.ts';
import { siteOf, visitOf } from '../../http/visit.ts';
import type { RouteContext } from '../route-context.ts';
import { sessionAnswer, shownSession } from './session-answer.ts';

const link = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .meta({ description: 'The part after `#` of an invitation.' });
const beginBody = z.strictObject({ link }).meta({ id: 'BeginPasskey' });
const registerBody = z
  .strictObject({ link, passkey: newPasskey.meta({ description: 'The answer of the browser.' }) })
  .meta({ id: 'RegisterPasskey' });

const options = z.object({
  data: z.record(z.string(), z.unknown()).meta({ description: 'Options for the browser’s WebAuthn.' }),
});

type Own = Pick<RouteDefinition, 'path' | 'operationId' | 'summary' | 'body' | 'response' | 'run'>;

function definitionOf(own: Own): RouteDefinition {
  return {
    ...{ method: 'post', tags: ['Console'], scope: 'public', errors: [401, 403, 409, 429] },
    ...{ params: undefined, query: undefined },
    ...own,
  };
}

export function passkeyRoutes(billing: RouteContext): RouteDefinition[] {
  return [challengeRoute(billing), beginRoute(billing), registerRoute(billing)];
}

function challengeRoute({ passkeys, publicUrl }: RouteContext): RouteDefinition {
  return definitionOf({
    path: '/console/passkeys/challenge',
    operationId: 'beginPasskeySignIn',
    summary: 'Begin a sign-in with a passkey',
    body: z.strictObject({}).meta({ id: 'BeginPasskeySignIn' }),
    response: options,
    async run({ http }) {
      requireOwnPageOfBrowser(http);
      const challenge = await passkeys.beginSignIn(siteOf(http, publicUrl));
      return new AnswerWithHeaders(
        { data: challenge.options },
        { 'set-cookie': attemptCookie(http, challenge.attempt) },
      );
    },
  });
}

function beginRoute({ passkeys, sessions, publicUrl }: RouteContext): RouteDefinition {
  return definitionOf({
    path: '/console/passkeys/begin',
    operationId: 'beginPasskey',
    summary: 'Begin the registration of a passkey, with a link or in a session of a person',
    body: beginBody,
    response: options,
    async run({ http, body }) {
      requireOwnPageOfBrowser(http);
      const given = await checkBody(beginBody, body);
      const session = given.link === undefined ? await sessionOf(http, sessions) : null;
      if (given.link === undefined && (session?.actor.role ?? null) === null) throw noPerson();
      const who = given.link === undefined ? { personId: session?.actor.id ?? '' } : { link: given.link };
      const challenge = await passkeys.beginRegistration(who, siteOf(http, publicUrl));
      return new AnswerWithHeaders(
        { data: challenge.options },
        { 'set-cookie': attemptCookie(http, challenge.attempt) },
      );
    },
  });
}

function noPerson(): Refusal {
  return new Refusal('unauthenticated', 'A passkey needs an invitation, or the session of a person');
}

function registerRoute(billing: RouteContext): RouteDefinition {
  const { passkeys, sessions, signIns, publicUrl, clock } = billing;
  return definitionOf({
    path: '/console/passkeys/register',
    operationId: 'registerPasskey',
    summary: 'Register a passkey, and begin a session',
    body: registerBody,
    response: sessionAnswer,
    async run({ http, body, context }) {
      requireOwnPageOfBrowser(http);
      const { link: text = null, passkey } = await checkBody(registerBody, body);
      const visit = visitOf(http, context, publicUrl);
      const given = { attempt: attemptText(http) ?? '', link: text, passkey };
      const begun = await signIns.during('registerPasskey', visit, () =>
        passkeys.register(given, siteOf(http, publicUrl), visit),
      );
      const now = clock.now();
      const former = sessionText(http);
      if (former !== null) await sessions.signOut(former);
      return new AnswerWithHeaders(
        { data: shownSession(begun), now: formatInstant(now) },
        { 'set-cookie': sessionCookie(http, begun.text, begun.expiresAt - now) },
      );
    },
  });
}
