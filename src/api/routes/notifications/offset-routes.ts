/** Offset notifications: messages some time before or after lifecycle events. */
import { z } from 'zod';
import { LIFECYCLE_TYPES } from '../../../notifications/message-types.ts';
import type { NotificationContext } from '../../../notifications/notification-context.ts';
import {
  archiveOffset,
  createOffset,
  getOffset,
  listOffsets,
  type OffsetNotification,
} from '../../../notifications/offset-notifications.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { byHand, called, nullable } from '../../wire/description.ts';
import { enumIn, uuid } from '../../wire/fields.ts';
import { anyText, id, instant } from '../../wire/kinds.ts';
import { cursor, keysetPosition, pageToWire } from '../../wire/paging.ts';
import { inside, record } from '../../wire/record.ts';

const NAME_LENGTH_MAX = 200;
const KEY_LENGTH_MAX = 128;
const OFFSET_LENGTH_MAX = 60;
const LIST_LIMIT_MAX = 400;

const tags = ['Notifications'];

export const offsetText = z
  .string()
  .max(OFFSET_LENGTH_MAX)
  .meta({
    description:
      'A signed ISO 8601 duration: P1D is a day after the event, -PT2H two hours before it. Not zero, and not ' +
      'negative for create, edit and archive.',
  });

export const offsetNotification = record(
  {
    id,
    name: anyText,
    kind: called('type', byHand(z.literal('OFFSET_LIFECYCLE_EVENT'))),
    policy: inside({ type: anyText, offset: byHand(offsetText) }),
    environmentType: byHand(z.literal('PRODUCTION')),
    createdAt: instant,
    createdBy: anyText,
    archivedAt: nullable(instant),
  },
  { id: { answered: 'OffsetNotification' } },
);

const answer = z.object({ data: offsetNotification.output });
const byId = z.strictObject({ id: uuid });

export function offsetRoutes(context: NotificationContext): RouteDefinition[] {
  return [createRoute(context), getRoute(context), listRoute(context), archiveRoute(context)];
}

function createRoute(context: NotificationContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v2/notifications/create',
    operationId: 'createOffsetNotification',
    summary: 'Create an offset notification',
    description:
      'Tells a lifecycle event some time before or after it, whether the event itself is switched on or not. ' +
      'Messages that would have been due before now are not sent. A `uniqueness_key` that was used before answers 409. ' +
      'There may be 50.',
    tags,
    scope: 'write',
    body: z
      .strictObject({
        name: z.string().min(1).max(NAME_LENGTH_MAX),
        policy: z.strictObject({ type: z.enum(LIFECYCLE_TYPES), offset: offsetText }),
        uniqueness_key: z.string().min(1).max(KEY_LENGTH_MAX).nullish(),
      })
      .meta({ id: 'CreateOffsetNotification' }),
    response: answer,
    errors: [400, 409],
    async handler({ body: { name, policy, uniqueness_key }, actor }) {
      const wanted = { name, policy, uniquenessKey: uniqueness_key ?? null, createdBy: actor.name };
      return { data: offsetToWire(await createOffset(context, wanted)) };
    },
  });
}

function getRoute(context: NotificationContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v2/notifications/get',
    operationId: 'getOffsetNotification',
    summary: 'Get an offset notification',
    tags,
    scope: 'read',
    body: byId,
    response: answer,
    errors: [400, 404],
    handler: async ({ body }) => ({ data: offsetToWire(await getOffset(context, body.id)) }),
  });
}

function listRoute(context: NotificationContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v2/notifications/offset/list',
    operationId: 'listOffsetNotifications',
    summary: 'List offset notifications',
    description: 'In the order of creation.',
    tags,
    scope: 'read',
    body: z
      .strictObject({
        limit: z.int().min(1).max(LIST_LIMIT_MAX).optional(),
        cursor: cursor(keysetPosition).nullish(),
        archive_filter: enumIn(['ARCHIVED', 'NOT_ARCHIVED', 'ALL'])
          .nullish()
          .meta({ description: 'Default: NOT_ARCHIVED.' }),
      })
      .meta({ id: 'ListOffsetNotifications' }),
    response: z.object({ data: z.array(offsetNotification.output), cursor: z.string().nullable() }),
    errors: [400],
    async handler({ body: { limit = LIST_LIMIT_MAX, cursor: after, archive_filter } }) {
      const page = await listOffsets(context, archive_filter ?? 'NOT_ARCHIVED', {
        after: after ?? null,
        limit,
      });
      const { data, next_page } = pageToWire(page, offsetToWire);
      return { data, cursor: next_page };
    },
  });
}

function archiveRoute(context: NotificationContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v2/notifications/archive',
    operationId: 'archiveOffsetNotification',
    summary: 'Archive an offset notification',
    description: 'Its remaining messages are not sent. Cannot be undone.',
    tags,
    scope: 'write',
    body: byId,
    response: answer,
    errors: [400, 404],
    handler: async ({ body }) => ({ data: offsetToWire(await archiveOffset(context, body.id)) }),
  });
}

export function offsetToWire(one: OffsetNotification) {
  return offsetNotification.write({
    ...one,
    kind: 'OFFSET_LIFECYCLE_EVENT',
    environmentType: 'PRODUCTION',
  });
}
