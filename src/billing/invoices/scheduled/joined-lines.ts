/** Scheduled charges and commit purchases on usage invoices (docs/invoices.md, "Scheduled invoices"). */
import type { Product } from '../../../core/catalogue.ts';
import { assert } from '../../../core/errors.ts';
import { groupBy } from '../../../core/group-by.ts';
import type { Instant, Interval } from '../../../core/time.ts';
import { scheduledLine } from '../../../rating/scheduled/scheduled-lines.ts';
import type { RatedScheduledLine } from '../../../rating/types.ts';
import type { Contract } from '../../../store/contracts.ts';
import type { Database, Transaction } from '../../../store/database.ts';
import { loadProducts } from '../../../store/products.ts';
import { contractsWithChargesOnUsageInvoices } from '../../../store/scheduled-charges.ts';
import { type JoinedItem, loadOpenSchedules } from './open-items.ts';

/** An item with its product. */
export interface PricedItem extends JoinedItem {
  readonly product: Product;
}

/** By contract; contracts that no item joins are absent. One query if no contract takes any. */
export async function loadJoinedItems(
  db: Database | Transaction,
  contracts: readonly Contract[],
): Promise<Map<string, PricedItem[]>> {
  const forced = await contractsWithChargesOnUsageInvoices(
    db,
    contracts.map(({ id }) => id),
  );
  const joining = contracts.filter(
    ({ id, scheduledChargesOnUsageInvoices }) => scheduledChargesOnUsageInvoices || forced.has(id),
  );
  if (joining.length === 0) return new Map();
  const schedules = [...(await loadOpenSchedules(db, joining))].filter(([, { joined }]) => joined.length > 0);
  const priced = await pricedItems(
    db,
    schedules.flatMap(([contractId, { joined }]) => joined.map((one) => ({ ...one, contractId }))),
  );
  return groupBy(priced, ({ contractId }) => contractId);
}

/** The same items in the same order, each with its product. One query. */
export async function pricedItems<Item extends JoinedItem>(
  db: Database | Transaction,
  items: readonly Item[],
): Promise<(Item & PricedItem)[]> {
  const products = await loadProducts(db, [...new Set(items.map(({ item }) => item.productId))]);
  return items.map((one) => {
    const product = products.get(one.item.productId);
    assert(product !== undefined, `product ${one.item.productId} of a scheduled item exists`);
    return { ...one, product };
  });
}

/**
 * The lines of the items that join the invoice of `period`. They are due when it ends, so they lie in its last
 * window; `boundaries` are those of the windows.
 */
export function joinedLines(
  items: readonly PricedItem[],
  period: Interval,
  boundaries: readonly Instant[],
): RatedScheduledLine[] {
  const window = { start: boundaries.at(-2) ?? period.start, end: period.end };
  return items
    .filter(({ periodEnd }) => periodEnd === period.end)
    .map(({ item, product }) => {
      const line = scheduledLine(item, product);
      return { ...line, windows: [{ window, quantity: line.quantity, total: line.total }] };
    });
}
