/** Endpoints of webhooks and their deliveries. All of it needs scope `write`, since it decides who gets data. */
import { z } from 'zod';
import { MESSAGE_TYPES, TEST_TYPE } from '../../../notifications/message-types.ts';
import type { NotificationContext } from '../../../notifications/notification-context.ts';
import {
  archiveEndpoint,
  createEndpoint,
  getEndpoint,
  listDeliveries,
  listEndpoints,
  redeliver,
  rotateSecret,
  sendTestMessage,
} from '../../../notifications/webhooks/endpoints.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { list, noted, nullable } from '../../wire/description.ts';
import { createdId, enumIn, timestamp, uuid } from '../../wire/fields.ts';
import { anyText, id, instant, integer, oneOf } from '../../wire/kinds.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { record } from '../../wire/record.ts';

const NAME_LENGTH_MAX = 200;
const URL_LENGTH_MAX = 2_000;
const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED', 'CANCELED'] as const;

const tags = ['Webhooks'];
const scope = 'write' as const;
const byId = z.strictObject({ id: uuid });

const webhookFields = {
  id,
  name: anyText,
  url: anyText,
  eventTypes: noted('Null: all.', nullable(list(anyText))),
  createdAt: instant,
  archivedAt: nullable(instant),
};

const webhook = record(webhookFields, { id: { answered: 'Webhook' } });

const webhookWithSecret = record(
  { ...webhookFields, secret: noted('Shown only this once.', anyText) },
  { id: { answered: 'WebhookWithSecret' } },
);

const secretAnswer = z.object({ data: webhookWithSecret.output });

const delivery = record(
  {
    messageId: id,
    type: anyText,
    customerId: nullable(id),
    status: noted(
      'FAILED: not acknowledged within two days. CANCELED: the webhook was archived before it was delivered.',
      oneOf(DELIVERY_STATUSES),
    ),
    attempts: integer,
    storedAt: instant,
    nextAttemptAt: noted('Null unless PENDING.', nullable(instant)),
    lastAttemptAt: nullable(instant),
    lastStatus: noted('Status of the last answer; null if there was none.', nullable(integer)),
    lastAnswer: noted('The first 1,000 characters.', nullable(anyText)),
    lastError: nullable(anyText),
  },
  { id: { answered: 'WebhookDelivery' } },
);

export function webhookRoutes(context: NotificationContext): RouteDefinition[] {
  return [...endpointRoutes(context), ...deliveryRoutes(context)];
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of routes, one after the other.
function endpointRoutes(context: NotificationContext): RouteDefinition[] {
  return [
    route({
      method: 'get',
      path: '/v1/webhooks',
      operationId: 'listWebhooks',
      summary: 'List webhooks',
      description: 'Includes archived webhooks, in the order of creation, without their secrets.',
      tags,
      scope,
      query: pageQuery(keysetPosition),
      response: pageOf(webhook.output),
      handler: async ({ query }) =>
        pageToWire(await listEndpoints(context, pageRequest(query)), webhook.write),
    }),
    route({
      method: 'get',
      path: '/v1/webhooks/{webhook_id}',
      operationId: 'getWebhook',
      summary: 'Get a webhook',
      tags,
      scope,
      params: z.object({ webhook_id: uuid }),
      response: z.object({ data: webhook.output }),
      errors: [404],
      handler: async ({ params }) => ({ data: webhook.write(await getEndpoint(context, params.webhook_id)) }),
    }),
    route({
      method: 'post',
      path: '/v1/webhooks/create',
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description:
        'The webhook receives messages about events from now on. At most 50 webhooks may be active.',
      tags,
      scope,
      answersSecret: true,
      body: z
        .strictObject({
          name: z.string().min(1).max(NAME_LENGTH_MAX),
          url: z.string().max(URL_LENGTH_MAX).meta({ description: 'With https, on the public internet.' }),
          event_types: z
            .array(z.enum(MESSAGE_TYPES))
            .min(1)
            .nullish()
            .meta({ description: 'The types of messages to send. Null or absent: all types.' }),
        })
        .meta({ id: 'CreateWebhook' }),
      response: secretAnswer,
      errors: [400, 409],
      async handler({ body: { name, url, event_types } }) {
        return {
          data: webhookWithSecret.write(
            await createEndpoint(context, { name, url, eventTypes: event_types ?? null }),
          ),
        };
      },
    }),
    route({
      method: 'post',
      path: '/v1/webhooks/archive',
      operationId: 'archiveWebhook',
      summary: 'Archive a webhook',
      description: 'Pending deliveries are cancelled. Cannot be undone.',
      tags,
      scope,
      body: byId.meta({ id: 'ArchiveWebhook' }),
      response: createdId,
      errors: [404],
      async handler({ body: { id } }) {
        await archiveEndpoint(context, id);
        return { data: { id } };
      },
    }),
    route({
      method: 'post',
      path: '/v1/webhooks/rotateSecret',
      operationId: 'rotateWebhookSecret',
      summary: 'Replace the secret of a webhook',
      description:
        'Messages are signed with the new secret immediately. For a day `webhook-signature` also contains a signature with the former secret.',
      tags,
      scope,
      answersSecret: true,
      body: byId.meta({ id: 'RotateWebhookSecret' }),
      response: secretAnswer,
      errors: [404, 409],
      handler: async ({ body: { id } }) => ({
        data: webhookWithSecret.write(await rotateSecret(context, id)),
      }),
    }),
  ];
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of routes, one after the other.
function deliveryRoutes(context: NotificationContext): RouteDefinition[] {
  return [
    route({
      method: 'post',
      path: '/v1/webhooks/test',
      operationId: 'testWebhook',
      summary: 'Send a test message',
      description: `A message of type \`${TEST_TYPE}\`, to this webhook only. Its deliveries show the outcome.`,
      tags,
      scope,
      body: byId.meta({ id: 'TestWebhook' }),
      response: z.object({ data: z.object({ message_id: uuid }) }),
      errors: [404, 409],
      handler: async ({ body: { id } }) => ({ data: { message_id: await sendTestMessage(context, id) } }),
    }),
    route({
      method: 'get',
      path: '/v1/webhooks/{webhook_id}/deliveries',
      operationId: 'listWebhookDeliveries',
      summary: 'List the deliveries of a webhook',
      description: 'The newest first. They are kept for 30 days.',
      tags,
      scope,
      params: z.object({ webhook_id: uuid }),
      query: pageQuery(z.object({ before: z.int() })).extend({
        status: enumIn(DELIVERY_STATUSES).optional(),
      }),
      response: pageOf(delivery.output),
      errors: [404],
      async handler({ params, query }) {
        const page = { ...pageRequest(query), status: query.status ?? null };
        return pageToWire(await listDeliveries(context, params.webhook_id, page), (one) =>
          delivery.write({ ...one, nextAttemptAt: one.status === 'PENDING' ? one.nextAttemptAt : null }),
        );
      },
    }),
    route({
      method: 'post',
      path: '/v1/webhooks/redeliver',
      operationId: 'redeliverWebhookMessages',
      summary: 'Send messages again',
      description:
        'Sends one message again regardless of its outcome, or all unacknowledged messages since a time.',
      tags,
      scope,
      body: z
        .strictObject({
          id: uuid,
          message_id: uuid.optional(),
          failed_since: timestamp.optional(),
        })
        .refine((body) => (body.message_id === undefined) !== (body.failed_since === undefined), {
          message: 'must have either message_id or failed_since',
        })
        .meta({ id: 'RedeliverWebhookMessages' }),
      response: z.object({ data: z.object({ messages: z.int() }) }),
      errors: [400, 404, 409],
      async handler({ body: { id, message_id: messageId, failed_since: failedSince } }) {
        const what = messageId === undefined ? { failedSince: failedSince ?? 0 } : { messageId };
        return { data: { messages: await redeliver(context, id, what) } };
      },
    }),
  ];
}
