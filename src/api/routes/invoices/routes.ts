/** Invoices of a customer: list, one, and breakdowns by hour or day. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { listBreakdowns } from '../../../billing/invoices/breakdowns/breakdowns.ts';
import type { PagesOfAnswer } from '../../../billing/invoices/breakdowns/drafts-in-windows.ts';
import { createKeptDrafts } from '../../../billing/invoices/breakdowns/kept-drafts.ts';
import { creditedOfInvoices } from '../../../billing/invoices/credit-notes/read-notes.ts';
import { listPricesOf, type WithCard } from '../../../billing/invoices/drafts/list-prices.ts';
import { customFieldsOfInvoices } from '../../../billing/invoices/freeze/invoice-fields.ts';
import { numbersOfInvoices } from '../../../billing/invoices/issue/numbering.ts';
import { externalOfInvoices } from '../../../billing/invoices/read/external-invoices.ts';
import { listInvoices } from '../../../billing/invoices/read/list-invoices.ts';
import { customersOfInvoices, payersOfInvoices } from '../../../billing/invoices/read/payers.ts';
import { previousInvoicesOf } from '../../../billing/invoices/read/previous-invoices.ts';
import { type InvoiceUnits, pricingUnitsOf } from '../../../billing/invoices/read/pricing-units.ts';
import { getInvoice } from '../../../billing/invoices/read/read-invoices.ts';
import { invalid } from '../../../core/errors.ts';
import type { Invoice } from '../../../core/invoice.ts';
import type { InvoiceTimeFilter } from '../../../core/invoice-month.ts';
import type { Instant, Interval } from '../../../core/time.ts';
import type { SharedByPages } from '../../http/csv-pages.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { enumIn, month, queryBoolean, timestamp, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWireInParts } from '../../wire/paging.ts';
import { breakdownsCsv, invoicesCsv } from './csv.ts';
import type { InvoiceView } from './invoice-view.ts';
import { breakdownSchema, breakdownToWire, invoicePage, invoiceSchema, invoiceToWire } from './output.ts';

export const STATUSES = ['DRAFT', 'FINALIZED', 'VOID'] as const;

/** Maximum number of windows on a page of breakdowns, regardless of `limit`. */
const WINDOWS_PER_PAGE = { hour: 24, day: 35 } as const;

export const sort = z.enum(['date_asc', 'date_desc']).default('date_asc');
export const order = { date_asc: 'ascending', date_desc: 'descending' } as const;

/** The shown members of lines. */
export const shownShape = {
  skip_zero_qty_line_items: queryBoolean.optional(),
  include_list_prices: queryBoolean.optional().meta({
    description: 'Lines of usage and composite products have their rate on the rate card as `list_price`.',
  }),
};

/** The filters by time of lists of invoices. */
export const timeShape = {
  month: month.optional().meta({
    description:
      'Only invoices of this month in UTC, as `2026-11`. Each invoice is in exactly one: the one in which its billing ' +
      'period ends (an end at midnight of the first: the month before); a scheduled invoice that of `issued_at`.',
  }),
  starting_on: timestamp.optional().meta({
    description:
      'Invoices whose billing period starts at or after this time, or scheduled invoices with such a date.',
  }),
  ending_before: timestamp.optional().meta({
    description:
      'Invoices whose billing period ends at or before this time, or scheduled invoices dated before it.',
  }),
};

export function timesOf(query: {
  readonly month?: Instant | undefined;
  readonly starting_on?: Instant | undefined;
  readonly ending_before?: Instant | undefined;
}): InvoiceTimeFilter {
  return { month: query.month, startingOn: query.starting_on, endingBefore: query.ending_before };
}

const listQuery = pageQuery(keysetPosition, 25).extend({
  status: enumIn(STATUSES).optional(),
  type: enumIn(['USAGE', 'USAGE_CONSOLIDATED', 'SCHEDULED']).optional(),
  credit_type_id: uuid.optional(),
  contract_id: uuid.optional(),
  ...timeShape,
  sort,
  ...shownShape,
});

export const breakdownPosition = z.object({ start: z.int(), at: z.int(), id: z.uuid() });

const breakdownQuery = pageQuery(breakdownPosition, 35).extend({
  starting_on: timestamp,
  ending_before: timestamp,
  window_size: enumIn(['HOUR', 'DAY']).default('DAY'),
  status: enumIn(STATUSES).optional(),
  credit_type_id: uuid.optional(),
  sort,
  ...shownShape,
});

export function invoiceRoutes(context: BillingContext): RouteDefinition[] {
  return [listRoute(context), breakdownsRoute(context), getRoute(context)];
}

function listRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/customers/{customer_id}/invoices',
    operationId: 'listInvoices',
    summary: 'List the invoices of a customer',
    description: 'Issued invoices, and a live draft for every period that has started and is not issued yet.',
    tags: ['Invoices'],
    scope: 'read',
    params: z.object({ customer_id: uuid }),
    query: listQuery,
    response: pageOf(invoiceSchema),
    csv: invoicesCsv,
    errors: [400, 404],
    handler: async ({ params, query }) => {
      const filter = {
        customerId: params.customer_id,
        contractId: query.contract_id,
        status: query.status,
        type: query.type,
        creditTypeId: query.credit_type_id,
        ...timesOf(query),
      };
      const page = await listInvoices(context, filter, { ...pageRequest(query), order: order[query.sort] });
      const view = await viewOf(context, page.rows, query);
      return invoicePage(page, view);
    },
  });
}

function getRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/customers/{customer_id}/invoices/{invoice_id}',
    operationId: 'getInvoice',
    summary: 'Read an invoice',
    description: 'A finalized invoice includes the usage of its period that arrived too late.',
    tags: ['Invoices'],
    scope: 'read',
    params: z.object({ customer_id: uuid, invoice_id: uuid }),
    query: z.object(shownShape),
    response: z.object({ data: invoiceSchema }),
    csv: invoicesCsv,
    errors: [400, 404],
    handler: async ({ params, query }) => {
      const invoice = await getInvoice(context, params.customer_id, params.invoice_id);
      const view = await viewOf(context, [invoice], query);
      return { data: invoiceToWire(invoice, view) };
    },
  });
}

function breakdownsRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/customers/{customer_id}/invoices/breakdowns',
    operationId: 'listInvoiceBreakdowns',
    summary: 'Break the invoices of a customer down by hour or day',
    description:
      'One item per invoice and window, empty windows too. The windows of an invoice add up to it, exactly. ' +
      'A page holds at most 35 daily or 24 hourly windows.',
    tags: ['Invoices'],
    scope: 'read',
    params: z.object({ customer_id: uuid }),
    query: breakdownQuery,
    response: pageOf(breakdownSchema),
    csv: breakdownsCsv,
    errors: [400, 404],
    handler: async ({ params, query, shared }) => {
      if (query.starting_on >= query.ending_before)
        throw invalid(['endingBefore'], 'must be after starting_on');
      const size = query.window_size === 'HOUR' ? 'hour' : 'day';
      const range = { start: query.starting_on, end: query.ending_before };
      const filter = {
        customerId: params.customer_id,
        range,
        size,
        status: query.status,
        creditTypeId: query.credit_type_id,
        withoutEmpty: query.skip_zero_qty_line_items === true,
        ...pagesOfAnswer(shared, range),
      } as const;
      const page = await listBreakdowns(context, filter, {
        ...pageRequest({ ...query, limit: Math.min(query.limit, WINDOWS_PER_PAGE[size]) }),
        order: order[query.sort],
      });
      const view = await viewOf(context, page.rows, { ...query, areWindows: true });
      return await pageToWireInParts(page, (item) => breakdownToWire(item, view));
    },
  });
}

/** An answer in CSV has many pages; a draft is computed once for all of them. */
export function pagesOfAnswer(
  shared: SharedByPages | undefined,
  range: Interval,
): { readonly pages?: PagesOfAnswer } {
  return shared === undefined ? {} : { pages: { drafts: shared(createKeptDrafts), range } };
}

/** The query parameters that select the shown parts of lines. */
interface ShownQuery {
  readonly skip_zero_qty_line_items?: boolean | undefined;
  readonly include_list_prices?: boolean | undefined;
}

export async function viewOf(
  context: BillingContext,
  invoices: readonly (Invoice & InvoiceUnits & WithCard)[],
  shown: ShownQuery & { /** Windows are compared with no invoice. */ readonly areWindows?: true },
): Promise<InvoiceView> {
  const listPrices = shown.include_list_prices === true ? await listPricesOf(context, invoices) : null;
  const compared = shown.areWindows === true ? [] : invoices;
  const [creditTypes, customFields, numbers, external, credited, payers, customers, previous] =
    await Promise.all([
      pricingUnitsOf(context, invoices, listPrices),
      customFieldsOfInvoices(context, invoices),
      numbersOfInvoices(context, invoices),
      externalOfInvoices(context, invoices),
      creditedOfInvoices(context, compared),
      payersOfInvoices(context, invoices),
      customersOfInvoices(context, invoices),
      previousInvoicesOf(context, compared),
    ]);
  return {
    ...{ creditTypes, customFields, numbers, external, credited, payers, customers, previous, listPrices },
    skipZeroQuantityLines: shown.skip_zero_qty_line_items === true,
  };
}
