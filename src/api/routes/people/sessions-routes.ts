/** Sessions of the console: whose they are, and their end. */
import { z } from 'zod';
import { endSession, type ListedSession, listSessions } from '../../../access/sessions.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { called, noted, nullable } from '../../wire/description.ts';
import { uuid } from '../../wire/fields.ts';
import { anyText, id, instant, truth } from '../../wire/kinds.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { inside, record } from '../../wire/record.ts';
import type { RouteContext } from '../route-context.ts';

const session = record(
  {
    id,
    actor: inside({
      actorId: called('id', anyText),
      actorName: called('name', anyText),
      actorEmail: called('email', nullable(anyText)),
    }),
    isCurrent: called('current', noted('Whether it is the session of this request.', truth)),
    createdAt: instant,
    expiresAt: instant,
    lastSeenAt: noted('Up to a minute late; null: not since its beginning.', nullable(instant)),
    ip: nullable(anyText),
    userAgent: nullable(anyText),
  },
  { id: { answered: 'Session' } },
);

const tags = ['People'];

export function sessionsRoutes(context: RouteContext): RouteDefinition[] {
  return [
    route({
      method: 'get',
      path: '/v1/sessions',
      operationId: 'listSessions',
      summary: 'List sessions of the console',
      description: 'The caller’s own, and with the permission `people:read` those of all, the newest first.',
      tags,
      scope: 'write',
      query: pageQuery(keysetPosition),
      response: pageOf(session.output),
      async handler({ query, actor }) {
        const page = await listSessions(context, actor, pageRequest(query));
        return pageToWire(page, (each: ListedSession) =>
          session.write({ ...each, isCurrent: each.id === actor.sessionId }),
        );
      },
    }),
    route({
      method: 'post',
      path: '/v1/sessions/end',
      operationId: 'endSession',
      summary: 'End a session of the console',
      description:
        'It ends at once, in every process. Sessions of others need the permission `people:write`.',
      tags,
      scope: 'write',
      body: z.strictObject({ id: uuid }).meta({ id: 'EndSession' }),
      errors: [404],
      response: 'empty',
      handler: async ({ body, actor }) => await endSession(context, actor, body.id),
    }),
  ];
}
