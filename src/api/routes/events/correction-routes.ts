/** Corrections of stored events, in sets (docs/explanation/corrections.md). */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { applyCorrection, revertCorrection } from '../../../billing/events/apply-correction.ts';
import {
  addToCorrection,
  CORRECTION_ENTRIES_MAX,
  CORRECTION_ENTRIES_PER_CALL_MAX,
  createCorrection,
  dropCorrection,
  readCorrection,
  readCorrections,
} from '../../../billing/events/correction-sets.ts';
import { CORRECTION_STATUSES, type CorrectionSet } from '../../../core/event-correction.ts';
import { formatInstant } from '../../../core/time.ts';
import { stringifyJson } from '../../base/json.ts';
import { errorBody } from '../../http/errors.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { createdId, timestamp, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';

const TEXT_MAX = 500;

const step = z.object({ at: timestamp, by: z.string() });

const correction = z
  .object({
    id: uuid,
    name: z.string(),
    reason: z.string(),
    status: z.enum(CORRECTION_STATUSES),
    created_at: timestamp,
    created_by: z.string(),
    applied: step.optional(),
    reverted: step.optional(),
    dropped: step.optional(),
    voided_events: z.int().meta({ description: 'Events that it takes back.' }),
    amended_events: z.int().meta({ description: 'Events that it replaces.' }),
    unknown_events: z.int().meta({
      description: 'Ids without an event; of an applied set also those of events that counted no longer.',
    }),
  })
  .meta({
    id: 'EventCorrection',
    description:
      'A set of corrections. The counts of an open one are those of the time at which it was filled.',
  });

function toWire(set: CorrectionSet): z.input<typeof correction> {
  const { applied, reverted, dropped } = set;
  return {
    id: set.id,
    name: set.name,
    reason: set.reason,
    status: set.status,
    created_at: formatInstant(set.createdAt),
    created_by: set.createdBy,
    ...(applied === null ? {} : { applied: stepToWire(applied) }),
    ...(reverted === null ? {} : { reverted: stepToWire(reverted) }),
    ...(dropped === null ? {} : { dropped: stepToWire(dropped) }),
    voided_events: set.voided,
    amended_events: set.amended,
    unknown_events: set.notFound,
  };
}

function stepToWire({ at, by }: NonNullable<CorrectionSet['applied']>): z.input<typeof step> {
  return { at: formatInstant(at), by };
}

const additionError = errorBody
  .extend({
    not_found: z
      .array(z.string())
      .optional()
      .meta({ description: 'The ids of amended events of which there is no event.' }),
  })
  .meta({ id: 'EventCorrectionError' });

const of = z.object({ correction_id: uuid });
const changed = { tags: ['Usage'], scope: 'write', method: 'post' } as const;

/** `transactionId`: the schema of ids of events. */
export function correctionRoutes(
  context: BillingContext,
  transactionId: z.ZodType<string>,
): RouteDefinition[] {
  return [
    createRoute(context),
    addRoute(context, transactionId),
    applyRoute(context),
    revertRoute(context),
    dropRoute(context),
    listRoute(context),
    getRoute(context),
  ];
}

function createRoute(context: BillingContext): RouteDefinition {
  const text = z.string().min(1).max(TEXT_MAX);
  return route({
    ...changed,
    path: '/v1/events/corrections/create',
    operationId: 'createEventCorrection',
    summary: 'Open a set of corrections of stored events',
    description: 'It is empty, and changes nothing before it is applied.',
    body: z.object({ name: text, reason: text }).meta({ id: 'EventCorrectionRequest' }),
    response: createdId,
    errors: [400],
    async handler({ body, actor }) {
      return { data: { id: await createCorrection(context, { ...body, createdBy: actor.name }) } };
    },
  });
}

function addRoute(context: BillingContext, transactionId: z.ZodType<string>): RouteDefinition {
  const voided = z.object({ transaction_id: transactionId }).meta({ id: 'VoidedEvent' });
  const amended = z
    .object({
      transaction_id: transactionId,
      customer_id: z.string().min(1).optional(),
      event_type: z.string().min(1).optional(),
      timestamp: z.string().optional().meta({ format: 'date-time' }),
      properties: z
        .record(z.string(), z.unknown())
        .optional()
        .meta({ description: 'Replaces all properties.' }),
    })
    .meta({ id: 'AmendedEvent', description: 'Members that are absent stay as they are.' });
  return route({
    ...changed,
    path: '/v1/events/corrections/add',
    operationId: 'addToEventCorrection',
    summary: 'Add events to an open set of corrections',
    description:
      `At most ${CORRECTION_ENTRIES_PER_CALL_MAX} events a call, void and amended together, and ${CORRECTION_ENTRIES_MAX} a set. ` +
      'An id that the set has gets the new entry. A void event no longer counts; its id stays known, so that sending ' +
      'it again is a duplicate. Ids without an event are refused for amended events, and listed for void ones. ' +
      'Amended values are checked as at ingestion, but may be of any age.',
    body: z
      .object({
        correction_id: uuid,
        void: z.array(voided).max(CORRECTION_ENTRIES_PER_CALL_MAX).default([]),
        amend: z.array(amended).max(CORRECTION_ENTRIES_PER_CALL_MAX).default([]),
      })
      .refine(
        (body) => {
          const events = body.void.length + body.amend.length;
          return events > 0 && events <= CORRECTION_ENTRIES_PER_CALL_MAX;
        },
        { message: `needs 1 to ${CORRECTION_ENTRIES_PER_CALL_MAX} events, void and amended together` },
      )
      .meta({ id: 'EventCorrectionAdditions' }),
    response: z.object({ data: z.object({ not_found: z.array(z.string()) }) }),
    errors: [400, 404, 409],
    errorBody: additionError,
    async handler({ body }) {
      const additions = {
        void: body.void.map(({ transaction_id: id }) => id),
        amend: body.amend.map((one) => ({
          transactionId: one.transaction_id,
          customerId: one.customer_id,
          eventType: one.event_type,
          timestamp: one.timestamp,
          propertiesJson: one.properties === undefined ? undefined : stringifyJson(one.properties),
        })),
      };
      return { data: { not_found: await addToCorrection(context, body.correction_id, additions) } };
    },
  });
}

function applyRoute(context: BillingContext): RouteDefinition {
  return route({
    ...changed,
    path: '/v1/events/corrections/apply',
    operationId: 'applyEventCorrection',
    summary: 'Apply a set of corrections',
    description:
      'As a whole: every reader of events counts all of it from one moment on. Finalized invoices do not change; they ' +
      'show what they would be different by as `unbilled_late_usage`.',
    body: of,
    response: createdId,
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      await applyCorrection(context, body.correction_id, actor.name);
      return { data: { id: body.correction_id } };
    },
  });
}

function revertRoute(context: BillingContext): RouteDefinition {
  return route({
    ...changed,
    path: '/v1/events/corrections/revert',
    operationId: 'revertEventCorrection',
    summary: 'Revert an applied set of corrections',
    description:
      'As a whole, from one moment on. 409 while a set that was applied later stands on one of its events.',
    body: of,
    response: createdId,
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      await revertCorrection(context, body.correction_id, actor.name);
      return { data: { id: body.correction_id } };
    },
  });
}

function dropRoute(context: BillingContext): RouteDefinition {
  return route({
    ...changed,
    path: '/v1/events/corrections/drop',
    operationId: 'dropEventCorrection',
    summary: 'Drop an open set of corrections',
    body: of,
    response: createdId,
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      await dropCorrection(context, body.correction_id, actor.name);
      return { data: { id: body.correction_id } };
    },
  });
}

function listRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/events/corrections',
    operationId: 'listEventCorrections',
    summary: 'List sets of corrections',
    description: 'In the order of their creation.',
    tags: ['Usage'],
    scope: 'read',
    query: pageQuery(keysetPosition, 25).extend({ status: z.enum(CORRECTION_STATUSES).optional() }),
    response: pageOf(correction),
    errors: [400],
    handler: async ({ query }) =>
      pageToWire(await readCorrections(context, query.status ?? null, pageRequest(query)), toWire),
  });
}

function getRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/events/corrections/{correction_id}',
    operationId: 'getEventCorrection',
    summary: 'Get a set of corrections',
    tags: ['Usage'],
    scope: 'read',
    params: z.object({ correction_id: uuid }),
    response: z.object({ data: correction }),
    errors: [404],
    handler: async ({ params }) => ({ data: toWire(await readCorrection(context, params.correction_id)) }),
  });
}
