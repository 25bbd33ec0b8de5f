/** Issued invoices of any customer: list, void, regenerate. */
import { z } from 'zod';
import { listIssuedInvoices } from '../../../billing/invoices/issued/list-issued.ts';
import type { RegenerateDeps } from '../../../billing/invoices/issued/original.ts';
import { regenerateInvoice } from '../../../billing/invoices/issued/regenerate.ts';
import { voidInvoice } from '../../../billing/invoices/issued/void-invoice.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { createdId, enumIn, queryBoolean, timestamp, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest } from '../../wire/paging.ts';
import { invoicesCsv } from './csv.ts';
import { invoicePage, invoiceSchema } from './output.ts';
import { order, shownShape, sort, viewOf } from './routes.ts';

export function issuedInvoiceRoutes(deps: RegenerateDeps): RouteDefinition[] {
  return [listRoute(deps), voidRoute(deps), regenerateRoute(deps)];
}

function listRoute(deps: RegenerateDeps): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/invoices',
    operationId: 'listIssuedInvoices',
    summary: 'List the issued invoices of all customers',
    description:
      'Finalized and voided ones. Drafts are computed when they are read and are listed per customer only. ' +
      '`starting_on` and `ending_before` compare with the billing period, or with the date of a scheduled invoice.',
    tags: ['Invoices'],
    scope: 'read',
    query: pageQuery(keysetPosition, 25).extend({
      status: enumIn(['FINALIZED', 'VOID']).optional(),
      type: enumIn(['USAGE', 'SCHEDULED', 'USAGE_CONSOLIDATED']).optional(),
      customer_id: uuid.optional(),
      contract_id: uuid.optional(),
      starting_on: timestamp.optional(),
      ending_before: timestamp.optional(),
      has_warnings: queryBoolean
        .optional()
        .meta({ description: 'Only invoices with entries under `warnings`, or only those without.' }),
      sort,
      ...shownShape,
    }),
    response: pageOf(invoiceSchema),
    csv: invoicesCsv,
    errors: [400],
    handler: async ({ query }) => {
      const filter = {
        status: query.status,
        type: query.type,
        customerId: query.customer_id,
        contractId: query.contract_id,
        periodStartsFrom: query.starting_on,
        periodEndsBy: query.ending_before,
        hasWarnings: query.has_warnings,
      };
      const page = await listIssuedInvoices(deps, filter, {
        ...pageRequest(query),
        order: order[query.sort],
      });
      const view = await viewOf(deps, page.rows, query);
      return invoicePage(page, view);
    },
  });
}

function voidRoute(deps: RegenerateDeps): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/invoices/void',
    operationId: 'voidInvoice',
    summary: 'Void a finalized invoice',
    description:
      'It keeps its lines and its number. Later invoices do not change. It cannot be undone; ' +
      '`POST /v1/invoices/regenerate` makes a new invoice in its place.',
    tags: ['Invoices'],
    scope: 'write',
    body: z.object({ id: uuid }),
    response: createdId,
    errors: [400, 404],
    async handler({ body }) {
      await voidInvoice(deps, body.id);
      return { data: { id: body.id } };
    },
  });
}

function regenerateRoute(deps: RegenerateDeps): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/invoices/regenerate',
    operationId: 'regenerateInvoice',
    summary: 'Compute a voided invoice again',
    description:
      'The answer has the id of a new invoice for the same period, or for the same scheduled amounts, with the ' +
      'present usage and terms. It is finalized at once. A voided invoice is regenerated once; the new one may be ' +
      'voided and regenerated in turn.',
    tags: ['Invoices'],
    scope: 'write',
    body: z.object({ id: uuid }),
    response: createdId,
    errors: [400, 404, 413, 503],
    async handler({ body }) {
      return { data: { id: await regenerateInvoice(deps, body.id) } };
    },
  });
}
