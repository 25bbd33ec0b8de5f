/** Whether a customer may use something now (docs/explanation/holds.md, "Check"). */
import { z } from 'zod';
import { CHECK_AGE_SECONDS } from '../../../billing/holds/check.ts';
import type { Holds } from '../../../billing/holds/holds.ts';
import { ZERO } from '../../../core/decimal.ts';
import { formatInstant } from '../../../core/time.ts';
import { stringifyJson } from '../../base/json.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { creditType, exactNumber, exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { HOLD_REASONS, properties } from './fields.ts';

const request = z
  .object({
    product_id: uuid.optional().meta({ description: 'A product on the rate card.' }),
    event_type: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .meta({ description: 'The type of event, instead of a product.' }),
    properties: properties
      .optional()
      .meta({ description: 'As in an event. With product_id, its group values.' }),
    quantity: exactNumber({ min: '0' }).optional().meta({
      description: 'The quantity that the metric counts. Default: the quantity in the properties, or 1.',
    }),
  })
  .refine((one) => (one.product_id === undefined) !== (one.event_type === undefined), {
    path: ['product_id'],
    message: 'either product_id or event_type is needed',
  })
  .meta({ id: 'CheckUsage' });

const answer = z
  .object({
    allowed: z.boolean(),
    reason: z.enum(HOLD_REASONS).nullable().meta({ description: 'Null if it is allowed.' }),
    unit_price: exactValue
      .nullable()
      .meta({ description: 'The price of the next unit, in the current tier; null if there is no price.' }),
    credit_type: creditType.nullable().meta({ description: 'The unit of the amounts.' }),
    remaining: exactValue
      .nullable()
      .meta({ description: 'The amount that may still be held; null if there is no limit or no price.' }),
    held: exactValue.meta({
      description: 'The cost of the holds of the same balances, or of the same limit.',
    }),
    limit: exactValue
      .nullable()
      .meta({ description: 'The applicable spend limit; null if balances apply or nothing does.' }),
    resets_at: timestamp
      .nullable()
      .meta({ description: 'When the spend limit resets; null without a limit.' }),
  })
  .meta({ id: 'UsageCheck' });

export function checkRoute({ holds }: { readonly holds: Holds }): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/customers/{customer_id}/check',
    operationId: 'checkUsage',
    summary: 'Check whether a customer may use something now, without a hold',
    description:
      'Uses the same numbers as holds. The answer may be cached for the seconds that its ' +
      'Cache-Control states; to be sure that nobody else spends the same meanwhile, hold it.',
    tags: ['Holds'],
    scope: 'ingest',
    commitsItself: true,
    headers: { 'cache-control': `private, max-age=${CHECK_AGE_SECONDS}` },
    params: z.object({
      customer_id: z.string().min(1).max(256).meta({ description: 'Id or ingest alias of a customer.' }),
    }),
    body: request,
    response: z.object({ data: answer }),
    errors: [400, 404, 429, 503],
    async handler({ params, body }) {
      const { standing, ...found } = await holds.check({
        customerRef: params.customer_id,
        productId: body.product_id ?? null,
        eventType: body.event_type ?? null,
        properties: stringifyJson(body.properties ?? {}),
        quantity: body.quantity ?? null,
      });
      const { creditTypeId: id, creditTypeName: name } = found;
      const limit = standing?.limit ?? null;
      const data: z.input<typeof answer> = {
        allowed: found.reason === null,
        reason: found.reason,
        unit_price: standing?.unitPrice ?? null,
        credit_type: id === null || name === null ? null : { id, name },
        remaining: standing?.remaining ?? null,
        held: standing?.held ?? ZERO,
        limit: limit?.limit ?? null,
        resets_at: limit === null ? null : formatInstant(limit.resetsAt),
      };
      return { data };
    },
  });
}
