/** Notifications of lifecycle events: system ones, which are switched on and off, and those with an offset. */
import { z } from 'zod';
import { invalid } from '../../../core/errors.ts';
import { LIFECYCLE_TYPES } from '../../../notifications/message-types.ts';
import type { NotificationContext } from '../../../notifications/notification-context.ts';
import { editOffset } from '../../../notifications/offset-notifications.ts';
import {
  editSystemNotification,
  listSystemNotifications,
  type SystemNotification,
} from '../../../notifications/system-notifications.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { uuid } from '../../wire/fields.ts';
import { offsetNotification, offsetRoutes, offsetText, offsetToWire } from './offset-routes.ts';

const tags = ['Notifications'];

const systemNotification = z
  .object({
    type: z.literal('SYSTEM_LIFECYCLE_EVENT'),
    is_enabled: z.boolean(),
    policy: z.object({ type: z.enum(LIFECYCLE_TYPES) }),
  })
  .meta({ id: 'SystemNotification' });

export function notificationRoutes(context: NotificationContext): RouteDefinition[] {
  return [listRoute(context), editRoute(context), ...offsetRoutes(context)];
}

function listRoute({ db }: NotificationContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v2/notifications/system/list',
    operationId: 'listSystemNotifications',
    summary: 'List system notifications',
    description:
      'Lists every lifecycle event of contracts, commits and credits, switched on or off, on a single page.',
    tags,
    scope: 'read',
    response: z.object({ data: z.array(systemNotification), cursor: z.string().nullable() }),
    handler: async () => ({ data: (await listSystemNotifications(db)).map(toWire), cursor: null }),
  });
}

function editRoute(context: NotificationContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v2/notifications/edit',
    operationId: 'editNotification',
    summary: 'Switch a system notification on or off, or change an offset',
    description:
      'With an `id`: sets the offset of an offset notification; `policy.type` must stay as it is. Without one: ' +
      'switches a lifecycle event on or off. Both for what is due from now on.',
    tags,
    scope: 'write',
    body: z
      .strictObject({
        id: uuid.optional(),
        is_enabled: z.boolean().optional().meta({ description: 'System notifications only.' }),
        policy: z.strictObject({ type: z.enum(LIFECYCLE_TYPES), offset: offsetText.optional() }),
      })
      .meta({ id: 'EditNotification' }),
    response: z.object({ data: z.union([systemNotification, offsetNotification.output]) }),
    errors: [400],
    async handler({ body: { id, is_enabled: isEnabled, policy } }) {
      const { type, offset } = policy;
      if (id === undefined) {
        if (offset !== undefined) throw invalid(['id'], 'is required for an offset');
        return { data: toWire(await editSystemNotification(context, { type, isEnabled })) };
      }
      if (isEnabled !== undefined) throw invalid(['is_enabled'], 'is for system notifications only');
      return { data: offsetToWire(await editOffset(context, id, { type, offset })) };
    },
  });
}

function toWire({ type, isEnabled }: SystemNotification) {
  return { type: 'SYSTEM_LIFECYCLE_EVENT' as const, is_enabled: isEnabled, policy: { type } };
}
