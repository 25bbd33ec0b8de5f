/** The amount that credit notes can still take back of each line of an issued invoice. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { readCreditable } from '../../../billing/invoices/credit-notes/read-creditable.ts';
import { pricingUnitsWithIds } from '../../../billing/invoices/read/pricing-units.ts';
import type { OpenLine } from '../../../rating/credit-notes/credit-book.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { creditType, exactValue, uuid } from '../../wire/fields.ts';

const lineSchema = z
  .object({
    line_item_id: uuid,
    product_id: uuid.optional(),
    name: z.string(),
    quantity: exactValue,
    amount: exactValue.meta({
      type: 'number',
      description: 'All that can be credited of the line, net of tax: its share of the payable amount.',
    }),
    left_amount: exactValue.meta({
      type: 'number',
      description: '`amount` without what notes have credited.',
    }),
    paid_by: z.enum(['money', 'balance']),
  })
  .meta({ id: 'CreditableLine' });

const creditableSchema = z
  .object({
    credit_type: creditType,
    left_amount: exactValue.meta({
      type: 'number',
      description:
        'The money that notes can still take back, net of tax. Discounts make it less than the lines together.',
    }),
    lines: z.array(lineSchema),
  })
  .meta({ id: 'CreditableInvoice' });

export function creditableRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/customers/{customer_id}/invoices/{invoice_id}/creditable',
    operationId: 'readCreditable',
    summary: 'Read what can be credited of an invoice',
    description:
      'The lines that a credit note can name, in the order of the invoice, each with what standing notes have left of ' +
      'it. An invoice that cannot be credited answers 400 with the reason.',
    tags: ['Invoices'],
    scope: 'read',
    params: z.object({ customer_id: uuid, invoice_id: uuid }),
    response: z.object({ data: creditableSchema }),
    errors: [400, 404],
    async handler({ params }) {
      const book = await readCreditable(context, params.customer_id, params.invoice_id);
      const unit = (await pricingUnitsWithIds(context, [book.creditTypeId])).get(book.creditTypeId);
      if (unit === undefined) throw new Error(`pricing unit ${book.creditTypeId} of an invoice exists`);
      return { data: { credit_type: unit, left_amount: book.money, lines: book.lines.map(lineToWire) } };
    },
  });
}

function lineToWire({ id, productId, line, amount, left, paidBy }: OpenLine): z.input<typeof lineSchema> {
  return {
    line_item_id: id,
    ...(productId === null ? {} : { product_id: productId }),
    ...{ name: line.name, quantity: line.quantity, amount, left_amount: left, paid_by: paidBy },
  };
}
