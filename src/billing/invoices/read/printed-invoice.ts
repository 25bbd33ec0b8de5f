/** Everything that the printed form of an invoice shows. */
import type { BillingAddress } from '../../../core/billing-address.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { customFieldsOf } from '../../../core/custom-fields.ts';
import { notFound, Refusal } from '../../../core/errors.ts';
import type { ExternalInvoice } from '../../../core/external-invoice.ts';
import type { Invoice } from '../../../core/invoice.ts';
import { customerNames, findCustomer } from '../../../store/customers/customers.ts';
import type { BillingContext } from '../../billing-context.ts';
import { customFieldsOfInvoices } from '../freeze/invoice-fields.ts';
import { numbersOfInvoices } from '../issue/numbering.ts';
import { externalOfInvoices } from './external-invoices.ts';
import { pricingUnitsOf } from './pricing-units.ts';
import { getBilledInvoice } from './read-invoices.ts';

type Fields = Readonly<Record<string, string>>;

export interface PrintedInvoice {
  readonly invoice: Invoice;
  /** Null for drafts. */
  readonly number: string | null;
  /** Its copy at the billing provider; null for drafts, and where it goes to none. */
  readonly external: ExternalInvoice | null;
  readonly customerName: string;
  readonly billingAddress: BillingAddress | null;
  /** By id, of the customers whose usage a consolidated invoice has; empty for others. */
  readonly originNames: ReadonlyMap<string, string>;
  /** As frozen with an issued invoice, the present ones for a draft. */
  readonly customFields: { readonly customer: Fields; readonly contract: Fields; readonly invoice: Fields };
  readonly creditTypes: ReadonlyMap<string, CreditType>;
}

/**
 * A draft or issued invoice of a customer. Refuses an unknown one (`not_found`), and an issued one in the seconds
 * before it has its number (`unavailable`): a document without it must not leave the house.
 */
export async function printedInvoice(
  context: BillingContext,
  customerId: string,
  invoiceId: string,
): Promise<PrintedInvoice> {
  const invoice = await getBilledInvoice(context, customerId, invoiceId);
  const number = (await numbersOfInvoices(context, [invoice])).get(invoice.id) ?? null;
  if (number === null && invoice.status !== 'DRAFT') {
    throw new Refusal(
      'unavailable',
      'The invoice has been issued and gets its number within seconds: try again',
    );
  }
  const customer = await findCustomer(context.db, customerId);
  if (customer === null) throw notFound('customer', customerId);
  const fields = (await customFieldsOfInvoices(context, [invoice])).get(invoice.id) ?? new Map();
  return {
    invoice,
    number,
    external: (await externalOfInvoices(context, [invoice])).get(invoice.id) ?? null,
    customerName: customer.name,
    billingAddress: customer.billingAddress,
    originNames: await customerNames(
      context.db,
      (invoice.constituents ?? []).map((one) => one.customerId),
    ),
    customFields: {
      customer: customFieldsOf(fields, customerId),
      contract: customFieldsOf(fields, invoice.contractId),
      invoice: customFieldsOf(fields, invoice.id),
    },
    creditTypes: await pricingUnitsOf(context, [invoice]),
  };
}
