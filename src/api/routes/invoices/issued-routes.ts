/** Invoices of any customer: the list; voiding and regenerating issued ones. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { reportRefund } from '../../../billing/invoices/issued/former-payments.ts';
import { regenerateInvoice } from '../../../billing/invoices/issued/regenerate.ts';
import { voidInvoice } from '../../../billing/invoices/issued/void-invoice.ts';
import { listDrafts } from '../../../billing/invoices/read/list-drafts.ts';
import { countIssued, listIssuedInvoices, sumIssued } from '../../../billing/invoices/read/list-issued.ts';
import { invalid } from '../../../core/errors.ts';
import { EXTERNAL_STATUSES } from '../../../core/external-invoice.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { answerWarnings, warningsToWire } from '../../wire/answer-warnings.ts';
import { createdId, enumIn, queryBoolean, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery } from '../../wire/paging.ts';
import { invoicesCsv } from './csv.ts';
import { invoicePage, invoiceSchema } from './output.ts';
import {
  ageingRoute,
  invoiceSums,
  receivableFilter,
  receivableShape,
  refuseForDrafts,
} from './receivable-routes.ts';
import { order, STATUSES, shownShape, sort, timeShape, timesOf, viewOf } from './routes.ts';

/** Drafts are computed by requests, and regenerated invoices as by jobs: each in a separate lane. */
export function issuedInvoiceRoutes(
  context: BillingContext,
  regenerating: BillingContext,
): RouteDefinition[] {
  return [
    listRoute(context),
    countRoute(context),
    sumsRoute(context),
    ageingRoute(context),
    voidRoute(regenerating),
    regenerateRoute(regenerating),
    refundedRoute(context),
  ];
}

const draftPosition = z.object({
  customer: z.object({ id: keysetPosition.shape.id, createdAt: keysetPosition.shape.at }),
  draft: z.object({ id: keysetPosition.shape.id, issuedAt: keysetPosition.shape.at }).nullable(),
});

/** Parameters that select issued invoices, in lists and sums. */
const filterShape = {
  type: enumIn(['USAGE', 'SCHEDULED', 'USAGE_CONSOLIDATED']).optional(),
  customer_id: uuid.optional(),
  contract_id: uuid.optional(),
  ...timeShape,
  has_warnings: queryBoolean
    .optional()
    .meta({ description: 'If true, invoices with warnings only; if false, invoices without warnings only.' }),
  external_status: enumIn(EXTERNAL_STATUSES).optional().meta({
    description: 'Issued invoices with this status at their billing provider.',
  }),
  refund_due: queryBoolean.optional().meta({
    description:
      'If true, voided invoices whose payment at the billing provider was not refunded; if false, all others.',
  }),
  ...receivableShape,
};

const listQuery = pageQuery(z.union([keysetPosition, draftPosition]), 25).extend({
  status: enumIn(STATUSES).optional(),
  ...filterShape,
  sort,
  ...shownShape,
});

const sumQuery = z.object({ status: enumIn(['FINALIZED', 'VOID']).optional(), ...filterShape });

function listRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/invoices',
    operationId: 'listIssuedInvoices',
    summary: 'List the invoices of all customers',
    description:
      'Finalized and voided ones by issue date, or with `status=DRAFT` the drafts. These are computed when they are read: ' +
      'they come customer by customer, in the order in which customers were created, and `sort` orders those of one ' +
      'customer. A page of them may be short, or empty, and have a `next_page`: it ends after 10 seconds.',
    tags: ['Invoices'],
    scope: 'read',
    query: listQuery,
    response: pageOf(invoiceSchema),
    csv: invoicesCsv,
    errors: [400, 429],
    handler: async ({ query }) => {
      if (query.status === 'DRAFT' && query.external_status !== undefined) {
        throw invalid(['externalStatus'], 'requires issued invoices: no provider has a draft');
      }
      if (query.status === 'DRAFT' && query.refund_due !== undefined) {
        throw invalid(['refundDue'], 'requires issued invoices: no draft is paid');
      }
      if (query.status === 'DRAFT') refuseForDrafts(query);
      const page = await (query.status === 'DRAFT' ? draftsOf(context, query) : issuedOf(context, query));
      return invoicePage(page, await viewOf(context, page.rows, query));
    },
  });
}

function countRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/invoices/counts',
    operationId: 'countIssuedInvoices',
    summary: 'Count the issued invoices of all customers by status',
    description:
      'As `GET /v1/invoices` lists them, consolidated ones too. Drafts are computed when they are read, so they are not counted.',
    tags: ['Invoices'],
    scope: 'read',
    response: z.object({
      data: z.object({ finalized: z.int(), void: z.int() }).meta({ id: 'InvoiceCounts' }),
    }),
    handler: async () => ({ data: await countIssued(context) }),
  });
}

type ListQuery = z.output<typeof listQuery>;

function draftsOf(context: BillingContext, query: ListQuery) {
  const { next_page: after = null, limit } = query;
  const filter = {
    type: query.type,
    customerId: query.customer_id,
    contractId: query.contract_id,
    ...timesOf(query),
    hasWarnings: query.has_warnings,
  };
  if (after !== null && !('customer' in after)) throw invalid(['nextPage'], OTHER_LIST);
  return listDrafts(context, filter, { after, limit, order: order[query.sort] });
}

function issuedOf(context: BillingContext, query: ListQuery) {
  const { next_page: after = null, limit, status } = query;
  const filter = issuedFilter(context, { ...query, status: status === 'DRAFT' ? undefined : status });
  if (after !== null && !('at' in after)) throw invalid(['nextPage'], OTHER_LIST);
  return listIssuedInvoices(context, filter, { after, limit, order: order[query.sort] });
}

function issuedFilter(context: BillingContext, query: z.output<typeof sumQuery>) {
  return {
    status: query.status,
    type: query.type,
    customerId: query.customer_id,
    contractId: query.contract_id,
    ...timesOf(query),
    hasWarnings: query.has_warnings,
    externalStatus: query.external_status,
    refundDue: query.refund_due,
    ...receivableFilter(query, context.clock.now()),
  };
}

function sumsRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/invoices/sums',
    operationId: 'sumIssuedInvoices',
    summary: 'Sum the issued invoices of all customers',
    description:
      'The sums of all invoices that `GET /v1/invoices` lists for these parameters, by currency. Consolidated ones, which ' +
      'repeat others, count only with `type=USAGE_CONSOLIDATED`.',
    tags: ['Invoices'],
    scope: 'read',
    query: sumQuery,
    response: z.object({ data: z.array(invoiceSums.output) }),
    errors: [400],
    handler: async ({ query }) => ({
      data: (await sumIssued(context, issuedFilter(context, query))).map((sums) => invoiceSums.write(sums)),
    }),
  });
}

const OTHER_LIST = 'must be the next_page of an earlier answer with the same status';

function voidRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/invoices/void',
    operationId: 'voidInvoice',
    summary: 'Void a finalized invoice',
    description:
      'It keeps its lines and its number. Later invoices do not change. It cannot be undone; ' +
      '`POST /v1/invoices/regenerate` makes a new invoice in its place. What its customer has paid at the billing ' +
      'provider is not given back: the answer warns of it, and `external_invoice.refund_due` is true.',
    tags: ['Invoices'],
    scope: 'write',
    body: z.object({ id: uuid }),
    response: createdId.extend({ warnings: answerWarnings }),
    errors: [400, 404],
    async handler({ body }) {
      const warning = await voidInvoice(context, body.id);
      return {
        data: { id: body.id },
        ...warningsToWire(warning === null ? [] : [{ code: 'refund_due', message: warning }]),
      };
    },
  });
}

function regenerateRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/invoices/regenerate',
    operationId: 'regenerateInvoice',
    summary: 'Compute a voided invoice again',
    description:
      'The answer has the id of a new invoice for the same period, or for the same scheduled amounts, with the ' +
      'present usage and terms. It is finalized at once. A voided invoice is regenerated once; the new one may be ' +
      'voided and regenerated in turn. 409 if what it replaces is paid, or partly paid, at the billing provider.',
    tags: ['Invoices'],
    scope: 'write',
    body: z.object({
      id: uuid,
      collect_again: z.boolean().optional().meta({
        description: 'If true, the new invoice is collected although the customer has paid the voided one.',
      }),
    }),
    response: createdId,
    errors: [400, 404, 409, 413, 503],
    async handler({ body: { id, collect_again: collectAgain = false } }) {
      return { data: { id: await regenerateInvoice(context, id, { collectAgain }) } };
    },
  });
}

function refundedRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/invoices/refunded',
    operationId: 'reportRefund',
    summary: 'Report the refund of a voided invoice',
    description:
      'For voided invoices with `external_invoice.refund_due`. Nothing is done at the billing provider: give it back there ' +
      'first. After that the invoice is regenerated like any other. Reporting it again changes nothing.',
    tags: ['Invoices'],
    scope: 'write',
    body: z.object({ id: uuid }),
    response: createdId,
    errors: [400, 404],
    async handler({ body }) {
      await reportRefund(context, body.id);
      return { data: { id: body.id } };
    },
  });
}
