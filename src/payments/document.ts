/**
 * An issued invoice for delivery: the data that every provider needs, independent of the provider. Built by
 * `billing/payments/delivery-document.ts`.
 */
import type { Currency } from '../core/currencies.ts';
import type { Decimal } from '../core/decimal.ts';
import type { InvoiceLine, InvoiceType } from '../core/invoice.ts';
import type { Instant, Interval } from '../core/time.ts';

/** A line with its id in the API. */
export type DocumentLine = InvoiceLine & { readonly id: string };

export interface PaymentDocument {
  readonly invoiceId: string;
  readonly customerId: string;
  readonly contractId: string;
  readonly type: InvoiceType;
  readonly number: string;
  readonly creditTypeId: string;
  readonly currency: Currency;
  /** Exact. */
  readonly total: Decimal;
  /** The total rounded once to the minor unit; amounts are in the unit of the invoice. */
  readonly payable: Decimal;
  /** Null for an invoice without a billing period. */
  readonly period: Interval | null;
  readonly issuedAt: Instant;
  readonly paymentTermsDays: number | null;
  readonly lines: readonly DocumentLine[];
  /**
   * Names of balances by commit, of units by pricing unit, and of the customers with usage on a consolidated invoice.
   */
  readonly names: {
    readonly balances: ReadonlyMap<string, string>;
    readonly units: ReadonlyMap<string, string>;
    readonly customers: ReadonlyMap<string, string>;
  };
  /** The provider's product ids by ours. */
  readonly products: ReadonlyMap<string, string>;
  /** The voided invoice that this one replaces. */
  readonly replaces: { readonly invoiceId: string; readonly externalId: string | null } | null;
  /** Addresses of the invoice's PDF and CSV; null if the service does not know its own address. */
  readonly links: { readonly pdf: string; readonly csv: string } | null;
}
