/** Holds: usage that is reserved from balances and limits before it happens (docs/explanation/holds.md). */
import { z } from 'zod';
import type { EndAnswer } from '../../../billing/holds/holds.ts';
import { type ListedHold, listHolds } from '../../../billing/holds/list-holds.ts';
import { type HoldAnswer, TTL_SECONDS, TTL_SECONDS_MAX } from '../../../billing/holds/reserve.ts';
import type { SettleAnswer } from '../../../billing/holds/settle-holds.ts';
import { ZERO } from '../../../core/decimal.ts';
import { formatInstant } from '../../../core/time.ts';
import { stringifyJson } from '../../base/json.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { creditType, exactNumber, exactValue, timestamp, uuid, wholeNumber } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import type { RouteContext } from '../route-context.ts';
import { checkRoute } from './check-route.ts';
import { HOLD_REASONS, properties } from './fields.ts';

const BATCH_MAX = 100;
const TRANSACTION_ID_CHARACTERS_MAX = 128;
const STATUSES = ['active', 'settled', 'released', 'expired'] as const;

const transactionId = z
  .string()
  .min(1)
  .refine(
    (text) => Array.from(text).length <= TRANSACTION_ID_CHARACTERS_MAX,
    `must have at most ${TRANSACTION_ID_CHARACTERS_MAX} characters`,
  )
  .meta({ description: 'The transaction id of the event.' });

const ttl = wholeNumber(1, TTL_SECONDS_MAX);

const heldEvent = z
  .object({
    event_type: z.string().min(1).max(256),
    properties: properties.optional(),
    timestamp: timestamp.optional().meta({ description: 'Default: now.' }),
  })
  .meta({ id: 'HeldEvent', description: 'The upcoming event, with its largest possible quantity.' });

const holdRequest = z
  .object({
    customer_id: z.string().min(1).max(256).meta({ description: 'Id or ingest alias of a customer.' }),
    transaction_id: transactionId,
    event: heldEvent.optional(),
    amount: exactNumber({ min: '0' }).optional().meta({ description: 'An amount, instead of an event.' }),
    credit_type_id: uuid.optional().meta({ description: 'The unit of the amount.' }),
    ttl_seconds: ttl.optional().meta({ description: `${TTL_SECONDS} unless given.` }),
  })
  .superRefine((one, context) => {
    if ((one.event === undefined) === (one.amount === undefined))
      context.addIssue({ code: 'custom', path: ['event'], message: 'either event or amount is needed' });
    if ((one.amount === undefined) !== (one.credit_type_id === undefined))
      context.addIssue({
        code: 'custom',
        path: ['credit_type_id'],
        message: 'is needed with an amount, and only with one',
      });
  })
  .meta({ id: 'HoldRequest' });

const remaining = exactValue
  .nullable()
  .meta({ description: 'The amount that may still be held after this answer; null if there is no limit.' });

const granted = z
  .object({
    granted: z.literal(true),
    hold_id: uuid,
    transaction_id: z.string(),
    amount: exactValue,
    credit_type: creditType,
    remaining,
    expires_at: timestamp,
  })
  .meta({ id: 'GrantedHold' });

const refused = z
  .object({
    granted: z.literal(false),
    reason: z.enum(HOLD_REASONS),
    required: exactValue
      .nullable()
      .meta({ description: 'The amount that would be needed; null if there is no price.' }),
    remaining,
  })
  .meta({ id: 'RefusedHold' });

const failed = z.object({ error: z.string() }).meta({ id: 'HoldError' });

const name = z.object({ hold_id: uuid.optional(), transaction_id: transactionId.optional() });
const HAS_ONE_NAME = 'either hold_id or transaction_id is needed';
const hasOneName = (one: z.output<typeof name>) =>
  (one.hold_id === undefined) !== (one.transaction_id === undefined);

const settlement = name
  .extend({
    properties: properties
      .optional()
      .meta({ description: 'The final properties. Default: the properties of the hold.' }),
    timestamp: timestamp.optional().meta({ description: 'Default: the timestamp of the hold.' }),
    event_type: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .meta({ description: 'The type of the event, for a hold of an amount.' }),
  })
  .refine(hasOneName, HAS_ONE_NAME)
  .meta({ id: 'Settlement' });

const settledAnswer = z
  .object({
    hold_id: uuid,
    transaction_id: z.string(),
    accepted: z
      .boolean()
      .meta({ description: 'True if this request stored the event. The event counts once.' }),
    amount: exactValue.nullable().meta({ description: 'The cost of the event; null if unknown.' }),
    exceeded: exactValue.meta({ description: 'The part of the cost beyond the hold.' }),
    reason: z
      .enum(['not_entitled', 'unpriced'])
      .nullable()
      .meta({ description: 'The reason if nothing charges the event, in the answer that settles the hold.' }),
  })
  .meta({ id: 'SettledHold' });

const endedAnswer = z
  .object({ hold_id: uuid, transaction_id: z.string(), expires_at: timestamp })
  .meta({ id: 'HoldState' });

const listed = granted
  .omit({ granted: true })
  .extend({
    status: z.enum(STATUSES),
    settled_amount: exactValue.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Hold' });

export function holdRoutes(billing: RouteContext): RouteDefinition[] {
  return [
    reserveRoute(billing),
    settleRoute(billing),
    releaseRoute(billing),
    extendRoute(billing),
    listRoute(billing),
    checkRoute(billing),
  ];
}

const ingestFacts = { method: 'post', tags: ['Holds'], scope: 'ingest', commitsItself: true } as const;

function reserveRoute({ holds }: RouteContext): RouteDefinition {
  return route({
    ...ingestFacts,
    path: '/v1/holds/reserve',
    operationId: 'reserveHolds',
    summary: 'Reserve the cost of usage before it happens',
    description:
      'The answers are in the order of the request. The same request again has the same answer; another one ' +
      'with the transaction id of a hold answers 409.',
    body: z.object({ holds: z.array(holdRequest).min(1).max(BATCH_MAX) }).meta({ id: 'ReserveHolds' }),
    response: z.object({ data: z.array(z.union([granted, refused])) }),
    errors: [400, 409, 429, 503],
    async handler({ body }) {
      const answers = await holds.reserve(
        body.holds.map((one) => ({
          customerRef: one.customer_id,
          transactionId: one.transaction_id,
          ttlSeconds: one.ttl_seconds ?? null,
          event:
            one.event === undefined
              ? null
              : {
                  eventType: one.event.event_type,
                  properties: stringifyJson(one.event.properties ?? {}),
                  timestamp: one.event.timestamp ?? null,
                },
          amount:
            one.amount === undefined ? null : { amount: one.amount, creditTypeId: one.credit_type_id ?? '' },
        })),
      );
      return { data: answers.map(answerToWire) };
    },
  });
}

function answerToWire(answer: HoldAnswer) {
  if (!('hold' in answer)) return { granted: false as const, ...answer };
  return { granted: true as const, ...grantToWire(answer) };
}

function grantToWire({ hold, creditTypeName }: Omit<ListedHold, never>) {
  return {
    hold_id: hold.id,
    transaction_id: hold.transactionId,
    amount: hold.amount,
    credit_type: { id: hold.creditTypeId, name: creditTypeName },
    remaining: hold.remaining,
    expires_at: formatInstant(hold.expiresAt),
  };
}

function settleRoute({ holds }: RouteContext): RouteDefinition {
  return route({
    ...ingestFacts,
    path: '/v1/holds/settle',
    operationId: 'settleHolds',
    summary: 'Turn holds into their events',
    description:
      'Stores each event under its transaction id with its final properties, and releases the rest. An event ' +
      'counts once, also when this is repeated, and also when it arrives by `POST /v1/ingest`. A hold that has expired is settled all the same.',
    body: z.object({ settlements: z.array(settlement).min(1).max(BATCH_MAX) }).meta({ id: 'SettleHolds' }),
    response: z.object({ data: z.array(z.union([settledAnswer, failed])) }),
    errors: [400, 429, 503],
    async handler({ body }) {
      const answers = await holds.settle(
        body.settlements.map((one) => ({
          holdId: one.hold_id ?? null,
          transactionId: one.transaction_id ?? null,
          eventType: one.event_type ?? null,
          properties: one.properties === undefined ? null : stringifyJson(one.properties),
          timestamp: one.timestamp ?? null,
        })),
      );
      return { data: answers.map(settledToWire) };
    },
  });
}

function settledToWire(answer: SettleAnswer) {
  if ('error' in answer) return answer;
  const { hold, accepted, amount, reason } = answer;
  const exceeded = amount?.gt(hold.amount) === true ? amount.minus(hold.amount) : ZERO;
  return { hold_id: hold.id, transaction_id: hold.transactionId, accepted, amount, exceeded, reason };
}

function releaseRoute({ holds }: RouteContext): RouteDefinition {
  return route({
    ...ingestFacts,
    path: '/v1/holds/release',
    operationId: 'releaseHolds',
    summary: 'Release holds whose usage does not happen',
    body: z
      .object({ holds: z.array(name.refine(hasOneName, HAS_ONE_NAME)).min(1).max(BATCH_MAX) })
      .meta({ id: 'ReleaseHolds' }),
    response: z.object({ data: z.array(z.union([endedAnswer, failed])) }),
    errors: [400, 503],
    async handler({ body }) {
      const answers = await holds.release(
        body.holds.map((one) => ({ holdId: one.hold_id ?? null, transactionId: one.transaction_id ?? null })),
      );
      return { data: answers.map(endedToWire) };
    },
  });
}

function extendRoute({ holds }: RouteContext): RouteDefinition {
  return route({
    ...ingestFacts,
    path: '/v1/holds/extend',
    operationId: 'extendHolds',
    summary: 'Hold longer',
    body: z
      .object({
        holds: z
          .array(z.object({ hold_id: uuid, ttl_seconds: ttl }))
          .min(1)
          .max(BATCH_MAX),
      })
      .meta({ id: 'ExtendHolds' }),
    response: z.object({ data: z.array(z.union([endedAnswer, failed])) }),
    errors: [400, 503],
    async handler({ body }) {
      const answers = await holds.extend(
        body.holds.map((one) => ({ holdId: one.hold_id, ttlSeconds: one.ttl_seconds })),
      );
      return { data: answers.map(endedToWire) };
    },
  });
}

function endedToWire(answer: EndAnswer) {
  if ('error' in answer) return answer;
  const { id, transactionId: transaction, expiresAt } = answer.hold;
  return { hold_id: id, transaction_id: transaction, expires_at: formatInstant(expiresAt) };
}

function listRoute(billing: RouteContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/holds',
    operationId: 'listHolds',
    summary: 'List the holds of a customer',
    description: 'The newest first. Holds that have ended are kept for 35 days.',
    tags: ['Holds'],
    scope: 'read',
    query: pageQuery(keysetPosition).extend({
      customer_id: uuid,
      status: z.enum(STATUSES).optional(),
    }),
    response: pageOf(listed),
    errors: [400],
    async handler({ query }) {
      const filter = { customerId: query.customer_id, status: query.status ?? null };
      return pageToWire(await listHolds(billing, filter, pageRequest(query)), (one) => ({
        ...grantToWire(one),
        status: one.hold.status,
        settled_amount: one.hold.settledAmount,
        created_at: formatInstant(one.hold.createdAt),
      }));
    },
  });
}
