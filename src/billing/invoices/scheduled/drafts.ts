/** SCHEDULED invoices as they are now, before they are issued. */

import type { Product } from '../../../core/catalogue.ts';
import { assert } from '../../../core/errors.ts';
import type { Invoice } from '../../../core/invoice.ts';
import type { Instant } from '../../../core/time.ts';
import { invoiceTotal } from '../../../rating/invoice/breakdown.ts';
import type { ScheduledItem } from '../../../rating/scheduled/scheduled-items.ts';
import { scheduledLine } from '../../../rating/scheduled/scheduled-lines.ts';
import { versionAt } from '../../../rating/usage/product-spans.ts';
import type { Database, Transaction } from '../../../store/database.ts';
import { loadProducts } from '../../../store/products.ts';
import type { ScheduledTarget } from './open-items.ts';

/** The drafts of the targets in their order. One query. */
export async function scheduledDrafts(
  db: Database | Transaction,
  targets: readonly ScheduledTarget[],
  now: Instant,
): Promise<Invoice[]> {
  const items = targets.flatMap((target) => target.items);
  const products = await loadProducts(db, [...new Set(items.map(({ productId }) => productId))]);
  return targets.map((target) => draftOf(target, products, now));
}

function draftOf(
  { contract, invoiceId, at, issueAt, creditTypeId, items }: ScheduledTarget,
  products: ReadonlyMap<string, Product>,
  now: Instant,
): Invoice {
  const lines = items.map((item) => lineOf(item, products, now));
  return {
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
  };
}

function lineOf(item: ScheduledItem, products: ReadonlyMap<string, Product>, now: Instant) {
  const product = products.get(item.productId);
  assert(product !== undefined, `product ${item.productId} of a scheduled item exists`);
  return { ...scheduledLine(item, product), productTags: versionAt(product, now).tags };
}
