/** System notifications: lifecycle events that are switched on and off. */
import { z } from 'zod';
import { Refusal } from '../../../core/errors.ts';
import { LIFECYCLE_TYPES } from '../../../notifications/message-types.ts';
import {
  editSystemNotification,
  listSystemNotifications,
  type SystemNotification,
} from '../../../notifications/system-notifications.ts';
import type { Database } from '../../../store/database.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { uuid } from '../../wire/fields.ts';

const tags = ['Notifications'];

const systemNotification = z
  .object({
    type: z.literal('SYSTEM_LIFECYCLE_EVENT'),
    is_enabled: z.boolean(),
    policy: z.object({ type: z.enum(LIFECYCLE_TYPES) }),
  })
  .meta({ id: 'SystemNotification' });

export function notificationRoutes({ db }: { readonly db: Database }): RouteDefinition[] {
  return [
    route({
      method: 'post',
      path: '/v2/notifications/system/list',
      operationId: 'listSystemNotifications',
      summary: 'List system notifications',
      description: 'Every lifecycle event of contracts, commits and credits, on or off. There is one page.',
      tags,
      scope: 'read',
      response: z.object({ data: z.array(systemNotification), cursor: z.string().nullable() }),
      handler: async () => ({ data: (await listSystemNotifications(db)).map(toWire), cursor: null }),
    }),
    route({
      method: 'post',
      path: '/v2/notifications/edit',
      operationId: 'editNotification',
      summary: 'Switch a system notification on or off',
      description: 'For events from now on. Offset notifications do not exist yet, so an `id` is refused.',
      tags,
      scope: 'write',
      body: z
        .strictObject({
          id: uuid.optional(),
          is_enabled: z.boolean().optional(),
          policy: z.strictObject({ type: z.enum(LIFECYCLE_TYPES) }),
        })
        .meta({ id: 'EditNotification' }),
      response: z.object({ data: systemNotification }),
      errors: [400],
      async handler({ body: { id, is_enabled: isEnabled, policy } }) {
        if (id !== undefined) {
          const problem = `notification ${id} not found`;
          throw new Refusal('invalid', problem, { code: 'NotificationConfigNotFound' });
        }
        return { data: toWire(await editSystemNotification(db, { type: policy.type, isEnabled })) };
      },
    }),
  ];
}

function toWire({ type, isEnabled }: SystemNotification) {
  return { type: 'SYSTEM_LIFECYCLE_EVENT' as const, is_enabled: isEnabled, policy: { type } };
}
