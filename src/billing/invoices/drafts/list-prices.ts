/**
 * The rates of the rate card for the lines of invoices, before overrides. For drafts and issued invoices they are part
 * of the terms that the lines were computed from, which are stored with issued ones.
 */
import type { Rate } from '../../../core/catalogue.ts';
import { type InvoiceLine, isSubscriptionLine } from '../../../core/invoice.ts';
import type { CardTerms } from '../../../core/invoice-terms.ts';
import { type RateBook, rateAt, rateBook } from '../../../rating/rates/rate-schedule.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { loadCardTerms } from '../../../store/invoices/invoice-terms.ts';
import type { IssuedInvoice } from '../../../store/invoices/invoices.ts';

interface ListPrice {
  readonly rate: Rate;
  readonly creditTypeId: string;
}

/** Null for lines without a rate of the card, such as scheduled charges and usage that only an OVERWRITE prices. */
export type ListPriceOf = (line: InvoiceLine) => ListPrice | null;

/** The part of an invoice that identifies its rate card. */
export interface WithCard {
  readonly id: string;
  /** Set for a draft. */
  readonly cardTerms?: CardTerms | undefined;
  /** Set for an issued invoice. */
  readonly frozen?: IssuedInvoice['frozen'] | undefined;
  /** Set for a consolidated invoice, whose lines have the rate cards of its constituents. */
  readonly parts?: readonly WithCard[] | undefined;
}

/** By invoice; invoices without usage are absent. */
export async function listPricesOf(
  { db }: { readonly db: Database | Transaction },
  invoices: readonly WithCard[],
): Promise<ReadonlyMap<string, ListPriceOf>> {
  const all = invoices.flatMap((invoice) => [invoice, ...(invoice.parts ?? [])]);
  const frozen = await loadCardTerms(
    db,
    all.flatMap((invoice) => invoice.frozen?.cardTermsId ?? []),
  );
  const pricesOf = new Map<CardTerms, ListPriceOf>();
  const priced = new Map(
    all.flatMap((invoice) => {
      const card = invoice.cardTerms ?? frozen.get(invoice.frozen?.cardTermsId ?? '');
      if (card === undefined) return [];
      const prices = pricesOf.get(card) ?? listPrices(card);
      pricesOf.set(card, prices);
      return [[invoice.id, prices] as const];
    }),
  );
  const ofOrigin: ListPriceOf = (line) => priced.get(line.origin?.invoiceId ?? '')?.(line) ?? null;
  for (const { id, parts } of invoices) if (parts !== undefined) priced.set(id, ofOrigin);
  return priced;
}

/** The listed rate is constant within a line, because a line is cut when it changes. */
function listPrices({ products, composites, subscriptions }: CardTerms): ListPriceOf {
  const priced = new Map(
    [...products, ...composites, ...subscriptions].map((one) => [one.product.id, one.rateEntries]),
  );
  const books = new Map<string, RateBook>();
  return (line) => {
    if (line.type !== 'usage' && line.type !== 'subscription') return null;
    const book = books.get(line.productId) ?? rateBook(priced.get(line.productId) ?? []);
    books.set(line.productId, book);
    const entry = isSubscriptionLine(line)
      ? rateAt(book, {}, line.pricedAt, line.billingFrequency)
      : rateAt(book, line.pricingGroupValues, line.interval.start);
    return entry && { rate: entry.rate, creditTypeId: entry.creditTypeId };
  };
}
