/** Lines of schedules. Never prorated, and never paid from balances. */
import type { Product } from '../../core/catalogue.ts';
import { assert } from '../../core/errors.ts';
import type { ScheduledInvoiceLine } from '../../core/invoice.ts';
import { versionAt } from '../quantities/product-spans.ts';
import type { ScheduledItem } from './scheduled-items.ts';

/** An item with one line; charges of subscriptions may have several (rating/subscriptions). */
type PlainSource = Exclude<ScheduledItem['source']['kind'], 'subscription'>;

const LINE_TYPES: Readonly<Record<PlainSource, ScheduledInvoiceLine['type']>> = {
  scheduled_charge: 'scheduled',
  discount: 'discount',
  professional_service: 'professional_service',
  commit: 'commit_purchase',
  true_up: 'true_up',
};

/**
 * `product`: the product of the item, with its name at the date. The tags are those at the date too; invoices show the
 * current ones.
 */
export function scheduledLine(
  { id, source, at, name, quantity, unitPrice, total, creditTypeId, metadata }: ScheduledItem,
  product: Product,
): ScheduledInvoiceLine {
  assert(source.kind !== 'subscription', 'a charge of a subscription has separate lines');
  const version = versionAt(product, at);
  return {
    type: LINE_TYPES[source.kind],
    name: name ?? version.name,
    productId: product.id,
    productType: product.type,
    productTags: version.tags,
    creditTypeId,
    interval: { start: at, end: at },
    quantity,
    unitPrice,
    total,
    scheduleItemId: id,
    sourceId: source.id,
    metadata,
  };
}
