/** Invoices of a customer by any properties of events. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import {
  listSpendBreakdowns,
  SPEND_PROPERTY_LENGTH_MAX,
} from '../../../billing/invoices/breakdowns/spend-breakdowns.ts';
import { invalid } from '../../../core/errors.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { enumIn, timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWireInParts } from '../../wire/paging.ts';
import { breakdownPosition, order, pagesOfAnswer, sort, viewOf } from './routes.ts';
import { spendCsv } from './spend-csv.ts';
import { spendSchema, spendToWire } from './spend-schemas.ts';

const PROPERTIES_MAX = 5;
const WINDOWS_PER_PAGE = 35;

const body = z.object({
  starting_on: timestamp,
  ending_before: timestamp.meta({ description: 'Windows that lie in this range.' }),
  group_key: z
    .array(z.string().min(1).max(SPEND_PROPERTY_LENGTH_MAX))
    .min(1)
    .max(PROPERTIES_MAX)
    .meta({ description: 'Properties of events. They need not be group keys of metrics.' }),
  window_size: enumIn(['DAY', 'NONE']).default('NONE').meta({ description: '`NONE`: whole invoices.' }),
  status: enumIn(['DRAFT', 'FINALIZED', 'VOID']).optional().meta({
    description: 'Default: drafts and finalized invoices.',
  }),
  credit_type_id: uuid.optional(),
  sort,
});

export function spendBreakdownsRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/customers/{customer_id}/invoices/spend-breakdowns',
    operationId: 'listSpendBreakdowns',
    summary: 'Break the invoices of a customer down by any properties of events',
    description:
      'Before commits and credits. The groups of a line add up to it, exactly. Issued invoices keep their amounts; ' +
      'events that came too late for them have no part. A page has at most 35 windows.',
    tags: ['Invoices'],
    scope: 'read',
    params: z.object({ customer_id: uuid }),
    query: pageQuery(breakdownPosition, WINDOWS_PER_PAGE),
    body,
    response: pageOf(spendSchema),
    csv: spendCsv,
    errors: [400, 404, 413],
    handler: async ({ params, query, body: sent, shared }) => {
      if (sent.starting_on >= sent.ending_before) {
        throw invalid(['endingBefore'], 'must be after starting_on');
      }
      const range = { start: sent.starting_on, end: sent.ending_before };
      const filter = {
        ...{ customerId: params.customer_id, range },
        size: sent.window_size === 'DAY' ? ('day' as const) : ('none' as const),
        status: sent.status,
        creditTypeId: sent.credit_type_id,
        properties: sent.group_key,
        ...pagesOfAnswer(shared, range),
      };
      const page = await listSpendBreakdowns(context, filter, {
        ...pageRequest({ ...query, limit: Math.min(query.limit, WINDOWS_PER_PAGE) }),
        order: order[sent.sort],
      });
      const view = await viewOf(context, page.rows, { areWindows: true });
      return await pageToWireInParts(page, (item) => spendToWire(item, sent.group_key, view));
    },
  });
}
