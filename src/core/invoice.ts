/** An invoice as a value: what the billing layer computes, the store freezes and the API shows. */
import type { ProductType } from './catalogue.ts';
import type { Decimal } from './decimal.ts';
import type { Instant, Interval } from './time.ts';

export type InvoiceStatus = 'DRAFT' | 'FINALIZED' | 'VOID';
export type InvoiceType = 'USAGE';

/** The tier that prices a line. `startingAt` is its lower bound; `size` is null in the last tier. */
export interface LineTier {
  readonly level: number;
  readonly startingAt: Decimal;
  readonly size: Decimal | null;
}

export interface InvoiceLine {
  readonly type: 'usage';
  readonly productId: string;
  readonly productType: ProductType;
  readonly productTags: readonly string[];
  readonly name: string;
  readonly creditTypeId: string;
  readonly interval: Interval;
  readonly quantity: Decimal;
  readonly unitPrice: Decimal;
  /** Exact: never rounded. */
  readonly total: Decimal;
  readonly pricingGroupValues: Readonly<Record<string, string>>;
  readonly presentationGroupValues: Readonly<Record<string, string>>;
  readonly tier: LineTier | null;
}

export interface Invoice {
  readonly id: string;
  readonly customerId: string;
  readonly contractId: string;
  readonly type: InvoiceType;
  readonly status: InvoiceStatus;
  readonly period: Interval;
  /** When it was finalized; for a draft, when it is expected to be. */
  readonly issuedAt: Instant;
  readonly creditTypeId: string;
  readonly total: Decimal;
  readonly netPaymentTermsDays: number | null;
  readonly lines: readonly InvoiceLine[];
}

/** What happened to one line in one window of the breakdown. */
export interface LineWindow {
  /** Position of the line on the invoice. */
  readonly position: number;
  readonly window: Interval;
  readonly quantity: Decimal;
  readonly total: Decimal;
}
