/** An invoice as a PDF. */
import { z } from 'zod';
import { printedInvoice } from '../../../billing/invoices/read/printed-invoice.ts';
import { resultInChunks } from '../../../core/in-chunks.ts';
import type { Invoice } from '../../../core/invoice.ts';
import { FileAnswer } from '../../http/file-answer.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { invoiceContent } from '../../pdf/invoice-content.ts';
import { uuid } from '../../wire/fields.ts';
import type { CatalogueRouteContext } from '../route-context.ts';

export const invoiceFile = z.instanceof(FileAnswer).meta({ type: 'string', format: 'binary' });

export function invoicePdfRoute(context: CatalogueRouteContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/customers/{customer_id}/invoices/{invoice_id}/pdf',
    operationId: 'getInvoicePdf',
    summary: 'Read an invoice as a PDF',
    description:
      'Drafts and voided invoices are marked as such on every page. An issued invoice is refused with 503 in the ' +
      'seconds before it has its number.',
    tags: ['Invoices'],
    scope: 'read',
    params: z.object({ customer_id: uuid, invoice_id: uuid }),
    response: invoiceFile,
    mediaType: 'application/pdf',
    errors: [400, 404, 429, 503],
    handler: ({ params }) => printInvoice(context, params.customer_id, params.invoice_id),
  });
}

/** `check` refuses an invoice that the caller may not see. */
export async function printInvoice(
  context: CatalogueRouteContext,
  customerId: string,
  invoiceId: string,
  check: (invoice: Invoice) => void = () => {},
): Promise<FileAnswer> {
  const printed = await printedInvoice(context, customerId, invoiceId);
  check(printed.invoice);
  const content = await resultInChunks(invoiceContent(printed, context.seller, context.invoiceDecimals));
  const bytes = await context.invoicePdf.write(content, printed.invoice.issuedAt);
  return new FileAnswer(bytes, `${printed.number ?? `draft-${printed.invoice.id}`}.pdf`);
}
