/** Invoices to print, as a test describes them. */
import type { PrintedInvoice } from '../../../../src/billing/invoices/read/printed-invoice.ts';
import { USD_CENTS } from '../../../../src/core/credit-types.ts';
import { Decimal } from '../../../../src/core/decimal.ts';
import type { ConversionLine, Invoice, InvoiceLine, UsageInvoiceLine } from '../../../../src/core/invoice.ts';
import { invoiceTotal } from '../../../../src/rating/invoices/breakdown.ts';

export const PERIOD = {
  start: Date.UTC(2026, 10, 1),
  end: Date.UTC(2026, 11, 1),
  countedFrom: Date.UTC(2026, 10, 1),
};
export const ISSUED_AT = Date.UTC(2026, 11, 2);
export const CREDITS = { id: 'c0000000-0000-4000-8000-000000000000', name: 'Credits' };

/** A usage line of `quantity` at `unitPrice` cents. */
export function usageLine(
  quantity: string,
  unitPrice: string,
  other: Partial<UsageInvoiceLine> = {},
): UsageInvoiceLine {
  return {
    type: 'usage',
    name: 'Tokens',
    productId: 'tokens',
    productType: 'USAGE',
    productTags: [],
    creditTypeId: USD_CENTS.id,
    interval: PERIOD,
    quantity: new Decimal(quantity),
    unitPrice: new Decimal(unitPrice),
    total: new Decimal(quantity).times(new Decimal(unitPrice)),
    pricingGroupValues: {},
    presentationGroupValues: {},
    tier: null,
    payer: null,
    ...other,
  };
}

export function conversionLine(quantity: string, unitPrice: string): ConversionLine {
  return {
    type: 'cpu_conversion',
    name: 'Conversion of Credits',
    creditTypeId: USD_CENTS.id,
    convertedCreditTypeId: CREDITS.id,
    interval: PERIOD,
    quantity: new Decimal(quantity),
    unitPrice: new Decimal(unitPrice),
    total: new Decimal(quantity).times(new Decimal(unitPrice)),
    payer: null,
  };
}

export function printed(
  lines: readonly InvoiceLine[],
  invoice: Partial<Invoice> = {},
  other: Partial<PrintedInvoice> = {},
): PrintedInvoice {
  return {
    invoice: {
      id: 'a0000000-0000-4000-8000-000000000000',
      customerId: 'customer',
      contractId: 'contract',
      type: 'USAGE',
      status: 'FINALIZED',
      period: PERIOD,
      issuedAt: ISSUED_AT,
      creditTypeId: USD_CENTS.id,
      total: invoiceTotal(lines, USD_CENTS.id),
      regeneratedFromInvoiceId: null,
      netPaymentTermsDays: null,
      isHistorical: false,
      lines,
      ...invoice,
    },
    number: 'INV-2026-000042',
    external: null,
    billingAddress: null,
    customerName: 'Ada Ltd',
    originNames: new Map(),
    customFields: { customer: {}, contract: {}, invoice: {} },
    creditTypes: new Map([USD_CENTS, CREDITS].map((unit) => [unit.id, unit])),
    ...other,
  };
}
