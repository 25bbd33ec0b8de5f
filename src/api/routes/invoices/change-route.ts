/** The change of an invoice against the one before it. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { numbersOfInvoices } from '../../../billing/invoices/issue/numbering.ts';
import { type ChangedInvoice, readInvoiceChange } from '../../../billing/invoices/read/invoice-change.ts';
import { formatInstant } from '../../../core/time.ts';
import type { ChangeReasons, ProductChange } from '../../../rating/invoices/change-reasons.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { exactValue, timestamp, uuid } from '../../wire/fields.ts';

export const reasonsSchema = z
  .object({
    price_change: exactValue,
    volume_change: exactValue,
    mix_change: exactValue,
    terms_change: exactValue,
  })
  .optional()
  .meta({ description: 'The parts of the change; they add up to it, exactly.' });

export function reasonsToWire({ price, volume, mix, terms }: ChangeReasons): z.input<typeof reasonsSchema> {
  return { price_change: price, volume_change: volume, mix_change: mix, terms_change: terms };
}

const productSchema = z
  .object({
    product_id: uuid,
    product_name: z.string(),
    total: exactValue.meta({
      type: 'number',
      description: 'The usage lines of the product in the currency of the invoice.',
    }),
    former_total: exactValue.meta({ type: 'number', description: 'The same on the former invoice.' }),
    change: exactValue,
    price_change: exactValue,
    volume_change: exactValue,
    mix_change: exactValue,
  })
  .meta({ id: 'ProductChange' });

const changeSchema = z
  .object({
    total: exactValue,
    former_invoice: z
      .object({
        id: uuid,
        invoice_number: z.string().optional(),
        start_timestamp: timestamp,
        end_timestamp: timestamp,
        total: exactValue,
      })
      .optional()
      .meta({ description: 'Absent if there is none; then there is no change either.' }),
    change: exactValue.optional().meta({ type: 'number', description: 'Against that invoice.' }),
    reasons: reasonsSchema,
    products: z
      .array(productSchema)
      .meta({ description: 'Products with usage on one of both invoices; all other lines are terms.' }),
  })
  .meta({ id: 'InvoiceChange' });

export function invoiceChangeRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/customers/{customer_id}/invoices/{invoice_id}/change',
    operationId: 'readInvoiceChange',
    summary: 'Compare an invoice with the one before it',
    description:
      'The one before is the last finalized invoice of the same type and currency, of the contract or of the one that it ' +
      'renews. Volume is the change of quantities at the former average price, price what the present quantities cost ' +
      'more per group, mix the rest of usage, and terms are all other lines.',
    tags: ['Invoices'],
    scope: 'read',
    params: z.object({ customer_id: uuid, invoice_id: uuid }),
    response: z.object({ data: changeSchema }),
    errors: [400, 404],
    async handler({ params }) {
      const changed = await readInvoiceChange(context, params.customer_id, params.invoice_id);
      const former = changed.compared === null ? [] : [changed.compared.former];
      return { data: toWire(changed, await numbersOfInvoices(context, former)) };
    },
  });
}

function toWire(
  { invoice, compared }: ChangedInvoice,
  numbers: ReadonlyMap<string, string>,
): z.input<typeof changeSchema> {
  if (compared === null) return { total: invoice.total, products: [] };
  const { former, change } = compared;
  const number = numbers.get(former.id);
  return {
    total: invoice.total,
    former_invoice: {
      id: former.id,
      ...(number === undefined ? {} : { invoice_number: number }),
      start_timestamp: formatInstant(former.period.start),
      end_timestamp: formatInstant(former.period.end),
      total: former.total,
    },
    change: invoice.total.minus(former.total),
    reasons: reasonsToWire(change),
    products: change.products.map(productToWire),
  };
}

function productToWire(product: ProductChange): z.input<typeof productSchema> {
  const { total, formerTotal } = product;
  return {
    product_id: product.productId,
    product_name: product.name,
    total,
    former_total: formerTotal,
    change: total.minus(formerTotal),
    price_change: product.price,
    volume_change: product.volume,
    mix_change: product.mix,
  };
}
