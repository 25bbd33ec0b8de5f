/** Credit notes (docs/explanation/credit-notes.md). */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { createCreditNote, previewCreditNote } from '../../../billing/invoices/credit-notes/issue-note.ts';
import type { CreditNoteInput } from '../../../billing/invoices/credit-notes/plan-note.ts';
import { listShownNotes, readCreditNote } from '../../../billing/invoices/credit-notes/read-notes.ts';
import { voidCreditNote } from '../../../billing/invoices/credit-notes/void-note.ts';
import { pricingUnitsWithIds as creditTypesOf } from '../../../billing/invoices/read/pricing-units.ts';
import { CREDIT_NOTE_REASONS, SETTLEMENTS } from '../../../core/credit-note.ts';
import { EXTERNAL_NOTE_STATUSES } from '../../../core/external-credit-note.ts';
import type { CreditRequest } from '../../../rating/credit-notes/credit-lines.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { createdId, enumIn, exactNumber, hourAlignedTimestamp, timestamp, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import {
  creditNotePreviewSchema,
  creditNotePreviewToWire,
  creditNoteSchema,
  creditNotesCsv,
  creditNoteToWire,
} from './credit-note-output.ts';
import { order, sort } from './routes.ts';

/** Whether one of both is given, and not the other. */
const exactlyOne = (a: unknown, b: unknown) => (a === undefined) !== (b === undefined);

const LINES_MAX = 1_000;
const SMALLEST = '0.000000000000000000000000000001';

const creditedLine = z
  .object({
    line_item_id: uuid.optional(),
    product_id: uuid.optional(),
    amount: exactNumber({ min: SMALLEST }).optional(),
    quantity: exactNumber({ min: SMALLEST }).optional(),
  })
  .superRefine((one, context) => {
    if (!exactlyOne(one.line_item_id, one.product_id))
      context.addIssue({
        code: 'custom',
        path: ['line_item_id'],
        message: 'either this or product_id is needed',
      });
    if (!exactlyOne(one.amount, one.quantity))
      context.addIssue({ code: 'custom', path: ['amount'], message: 'either this or quantity is needed' });
  })
  .meta({
    id: 'CreditedLine',
    description: 'A line, or all lines of a product: the money first, then what balances paid.',
  });

const TEXT_MAX = 500;

const noteBody = z
  .object({
    invoice_id: uuid,
    reason: z.enum(CREDIT_NOTE_REASONS),
    memo: z.string().min(1).max(TEXT_MAX).optional().meta({ description: 'Printed on the note.' }),
    lines: z.array(creditedLine).min(1).max(LINES_MAX).optional(),
    difference_to_regenerated: z.literal(true).optional().meta({
      description: 'Instead of lines: what the usage invoice would be less today, line by line.',
    }),
    settlement: z.enum(SETTLEMENTS).optional().meta({
      description:
        'Where the money goes that was paid; what is unpaid is credited first. Required if any was or is to be paid.',
    }),
    credit_product_id: uuid
      .optional()
      .meta({ description: 'With `credit_balance`: the FIXED product of the credit.' }),
    credit_starting_at: hourAlignedTimestamp
      .optional()
      .meta({ description: 'When the credit can be used. Default: the hour of the issue.' }),
    credit_ending_before: hourAlignedTimestamp
      .optional()
      .meta({ description: 'With `credit_balance`: until when the credit can be used.' }),
    deliver_after: timestamp.optional().meta({
      description: 'When it may be sent to the billing provider of the invoice. Default: at once.',
    }),
    uniqueness_key: z.string().min(1).max(128).optional().meta({
      description: 'A repeated key answers 409 and creates nothing.',
    }),
  })
  .refine((body) => exactlyOne(body.lines, body.difference_to_regenerated), {
    path: ['lines'],
    message: 'either these or difference_to_regenerated is needed',
  })
  .meta({ id: 'CreditNoteRequest' });

function requestOf(one: z.output<typeof creditedLine>): CreditRequest {
  return {
    lineItemId: one.line_item_id ?? null,
    productId: one.product_id ?? null,
    amount: one.amount ?? null,
    quantity: one.quantity ?? null,
  };
}

function inputOf(body: z.output<typeof noteBody>, createdBy: string): CreditNoteInput {
  return {
    invoiceId: body.invoice_id,
    reason: body.reason,
    memo: body.memo ?? null,
    lines: body.lines?.map(requestOf) ?? null,
    settlement: body.settlement ?? null,
    credit: {
      productId: body.credit_product_id ?? null,
      startingAt: body.credit_starting_at ?? null,
      endingBefore: body.credit_ending_before ?? null,
    },
    uniquenessKey: body.uniqueness_key ?? null,
    deliverAfter: body.deliver_after ?? null,
    createdBy,
  };
}

export function creditNoteRoutes(billing: BillingContext): RouteDefinition[] {
  return [
    createRoute(billing),
    previewRoute(billing),
    voidRoute(billing),
    listRoute(billing),
    getRoute(billing),
  ];
}

function createRoute(billing: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/invoices/creditNotes/create',
    operationId: 'createCreditNote',
    summary: 'Issue a credit note',
    description:
      'Takes back a part of a finalized invoice, or all of it. It has a number at once, and does not change the lines of ' +
      'the invoice. Amounts are in the unit of the invoice, net of tax, in whole minor units. A second note counts the ' +
      'first: no line is credited for more than it has. The invoice can then not be voided unless the note is. It is ' +
      'sent to the billing provider of the invoice once that has the invoice.',
    tags: ['Invoices'],
    scope: 'write',
    body: noteBody,
    response: createdId,
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      return { data: { id: await createCreditNote(billing, inputOf(body, actor.name)) } };
    },
  });
}

function previewRoute(billing: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/invoices/creditNotes/preview',
    operationId: 'previewCreditNote',
    summary: 'Preview a credit note',
    description:
      'Answers what `create` with the same body would take back, and where it would go. Nothing is stored.',
    tags: ['Invoices'],
    scope: 'read',
    body: noteBody,
    response: z.object({ data: creditNotePreviewSchema }),
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      const planned = await previewCreditNote(billing, inputOf(body, actor.name));
      const units = await creditTypesOf(billing, [planned.invoice.creditTypeId]);
      return { data: creditNotePreviewToWire(planned, units) };
    },
  });
}

function voidRoute(billing: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/invoices/creditNotes/void',
    operationId: 'voidCreditNote',
    summary: 'Void a credit note',
    description:
      'It keeps its number, and takes back from balances what it gave them. 409 once it is sent to a billing provider, ' +
      'after the month of its issue, and if what it gave is used.',
    tags: ['Invoices'],
    scope: 'write',
    body: z.object({ id: uuid }),
    response: createdId,
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      await voidCreditNote(billing, body.id, actor.name);
      return { data: { id: body.id } };
    },
  });
}

const listQuery = pageQuery(keysetPosition, 25).extend({
  invoice_id: uuid.optional(),
  customer_id: uuid.optional(),
  status: enumIn(['ISSUED', 'VOID']).optional(),
  external_status: enumIn(EXTERNAL_NOTE_STATUSES)
    .optional()
    .meta({ description: 'The state at the provider of the invoice.' }),
  issued_from: timestamp.optional().meta({ description: 'Issued at this time or later.' }),
  issued_before: timestamp.optional().meta({ description: 'Issued before this time.' }),
  sort,
});

function listRoute(billing: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/invoices/creditNotes',
    operationId: 'listCreditNotes',
    summary: 'List credit notes',
    description: 'Those of all customers, by issue date. As CSV one row for each line.',
    tags: ['Invoices'],
    scope: 'read',
    query: listQuery,
    response: pageOf(creditNoteSchema),
    csv: creditNotesCsv,
    errors: [400],
    async handler({ query }) {
      const { invoice_id: invoiceId, customer_id: customerId, status } = query;
      const { external_status: externalStatus } = query;
      const { issued_from: start = 0, issued_before: end = LATEST } = query;
      const filter = { invoiceId, customerId, status, externalStatus, issued: { start, end } };
      const page = await listShownNotes(billing, filter, { ...pageRequest(query), order: order[query.sort] });
      const units = await creditTypesOf(
        billing,
        page.rows.map(({ note }) => note.creditTypeId),
      );
      return pageToWire(page, (shown) => creditNoteToWire(shown, units));
    },
  });
}

/** Later than any note. */
const LATEST = Date.UTC(3000, 0, 1);

function getRoute(billing: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/invoices/creditNotes/{credit_note_id}',
    operationId: 'getCreditNote',
    summary: 'Get a credit note',
    tags: ['Invoices'],
    scope: 'read',
    params: z.object({ credit_note_id: uuid }),
    response: z.object({ data: creditNoteSchema }),
    errors: [404],
    async handler({ params }) {
      const shown = await readCreditNote(billing, params.credit_note_id);
      const units = await creditTypesOf(billing, [shown.note.creditTypeId]);
      return { data: creditNoteToWire(shown, units) };
    },
  });
}
