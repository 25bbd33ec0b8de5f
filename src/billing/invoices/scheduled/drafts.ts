/** SCHEDULED invoices before they are issued. */

import type { Product } from '../../../core/catalogue.ts';
import { assert } from '../../../core/errors.ts';
import type { Invoice, InvoiceLine } from '../../../core/invoice.ts';
import type { OfferedBalance } from '../../../core/invoice-balances.ts';
import { HOUR_MS, type Instant, type Interval, intersect } from '../../../core/time.ts';
import { type BalanceBook, type Deduction, NO_BALANCES } from '../../../rating/balances/balance-book.ts';
import type { Bucket } from '../../../rating/balances/buckets.ts';
import { coverSegments } from '../../../rating/balances/coverage.ts';
import { deductionsOf } from '../../../rating/balances/draw-down.ts';
import { offeredBalances } from '../../../rating/balances/offered-balances.ts';
import { invoiceTotal } from '../../../rating/invoices/breakdown.ts';
import { versionAt } from '../../../rating/quantities/product-spans.ts';
import { chargeClaims, chargeLines, pricedCharges } from '../../../rating/scheduled/charge-lines.ts';
import type { ScheduledItem } from '../../../rating/scheduled/scheduled-items.ts';
import { scheduledLine } from '../../../rating/scheduled/scheduled-lines.ts';
import { conversionLines } from '../../../rating/usage/cpu-conversion.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { loadProducts } from '../../../store/products/products.ts';
import type { ScheduledTarget } from '../../invoice-queue/open-items.ts';

/** A draft, and its deductions from balances, which pay only for charges of subscriptions. */
export interface ScheduledDraft {
  readonly invoice: Invoice;
  readonly deductions: readonly Deduction[];
  /** The balances that may pay for it, in burn-down order. */
  readonly balances: readonly OfferedBalance[];
}

/** Products by id. */
export type ItemProducts = ReadonlyMap<string, Product>;

/** The products of the items of the targets. One query. */
export function loadItemProducts(
  db: Database | Transaction,
  targets: readonly ScheduledTarget[],
): Promise<ItemProducts> {
  const items = targets.flatMap((target) => target.items);
  return loadProducts(db, [...new Set(items.map(({ productId }) => productId))]);
}

/** The drafts of the targets in their order, if no balance pays for anything. One query. */
export async function scheduledDrafts(
  db: Database | Transaction,
  targets: readonly ScheduledTarget[],
  now: Instant,
): Promise<Invoice[]> {
  const products = await loadItemProducts(db, targets);
  return targets.map((target) => scheduledDraft(target, products, now, NO_BALANCES).invoice);
}

/** Whether balances may pay for a part of it. */
export function mayDraw({ items }: ScheduledTarget): boolean {
  return items.some(({ charge }) => charge !== null);
}

/** The draft, drawing on the amounts left in the book. */
export function scheduledDraft(
  target: ScheduledTarget,
  products: ItemProducts,
  now: Instant,
  book: BalanceBook,
): ScheduledDraft {
  const { contract, invoiceId, at, issueAt, creditTypeId, items } = target;
  const plain = items.filter(({ charge }) => charge === null).map((item) => lineOf(item, products, now));
  const balances = offeredBalances(payingBuckets(target, book), book);
  const { lines: charged, deductions } = drawnLines(target, now, book);
  const lines = [...plain, ...charged];
  return {
    deductions,
    balances,
    invoice: {
      id: invoiceId,
      customerId: contract.customerId,
      contractId: contract.id,
      type: 'SCHEDULED',
      status: 'DRAFT',
      period: { start: at, end: at, countedFrom: at },
      issuedAt: issueAt,
      creditTypeId,
      total: invoiceTotal(lines, creditTypeId),
      netPaymentTermsDays: contract.netPaymentTermsDays,
      isHistorical: false,
      regeneratedFromInvoiceId: null,
      lines,
    },
  };
}

function lineOf(item: ScheduledItem, products: ItemProducts, now: Instant): InvoiceLine {
  const product = products.get(item.productId);
  assert(product !== undefined, `product ${item.productId} of a scheduled item exists`);
  return { ...scheduledLine(item, product), productTags: versionAt(product, now).tags };
}

/** The invoice has no period; an hour serves as the window in which its charges move. */
function hourOf({ at }: ScheduledTarget): Interval {
  return { start: at, end: at + HOUR_MS };
}

/** The balances that are open when one of its charges is payable, or that may pay for a conversion, in their order. */
function payingBuckets(target: ScheduledTarget, book: BalanceBook): readonly Bucket[] {
  const { contract, items } = target;
  const payableAt = items.flatMap(({ charge }) => charge?.payableAt ?? []);
  if (payableAt.length === 0) return [];
  const times = [hourOf(target), ...payableAt.map((at) => ({ start: at, end: at + 1 }))];
  const all = {
    start: Math.min(...times.map(({ start }) => start)),
    end: Math.max(...times.map(({ end }) => end)),
  };
  return book
    .sharedBucketsOf(contract.id, all)
    .filter(({ access }) => times.some((time) => intersect(access, time) !== null));
}

/** The lines of subscriptions, and the conversions of those in custom pricing units. */
function drawnLines(
  target: ScheduledTarget,
  now: Instant,
  book: BalanceBook,
): { readonly lines: readonly InvoiceLine[]; readonly deductions: readonly Deduction[] } {
  const { contract, at, items, prices } = target;
  if (prices === null) return { lines: [], deductions: [] };
  const charges = pricedCharges(items, prices);
  const { coverage, covered } = coverSegments(chargeClaims(charges, prices, contract.id, book), book);
  const hour = hourOf(target);
  const lines = chargeLines(charges, prices, coverage, hour);
  const converted = conversionLines({
    lines,
    fiatCreditTypeId: prices.fiatCreditTypeId,
    conversions: prices.conversions,
    period: hour,
    boundaries: [hour.start, hour.end],
    buckets: book.sharedBucketsOf(contract.id, hour),
    book,
  });
  return {
    lines: [
      ...lines.map(({ windows: _, hasMoved: __, ...line }) => ({
        ...line,
        productTags: versionAt(prices.productOf(line), now).tags,
      })),
      ...converted.lines.map(({ windows: _, ...line }) => ({ ...line, interval: { start: at, end: at } })),
    ],
    deductions: deductionsOf([...covered, ...converted.covered]),
  };
}
