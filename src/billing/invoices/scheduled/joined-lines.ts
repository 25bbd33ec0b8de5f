/** Scheduled charges and commit purchases on usage invoices (docs/explanation/invoices.md, "Scheduled invoices"). */
import type { Product } from '../../../core/catalogue.ts';
import { ZERO } from '../../../core/decimal.ts';
import { assert } from '../../../core/errors.ts';
import { groupBy } from '../../../core/group-by.ts';
import type { BilledPeriod, SubscriptionInvoiceLine } from '../../../core/invoice.ts';
import { contains, type Instant, type Interval } from '../../../core/time.ts';
import { NO_COVERAGE } from '../../../rating/balances/coverage.ts';
import { windowBoundaries } from '../../../rating/invoices/breakdown.ts';
import type { CountedCharges } from '../../../rating/invoices/rate-invoice.ts';
import type { RatedScheduledLine, RatedSubscriptionLine } from '../../../rating/lines/types.ts';
import { chargeLines, type PricedCharge, pricedCharges } from '../../../rating/scheduled/charge-lines.ts';
import { scheduledLine } from '../../../rating/scheduled/scheduled-lines.ts';
import type { SubscriptionPrices } from '../../../rating/subscriptions/prices.ts';
import type { UnpricedPeriod } from '../../../rating/subscriptions/unpriced-periods.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { contractsWithChargesOnUsageInvoices } from '../../../store/contract-terms/scheduled-charges.ts';
import type { Contract } from '../../../store/contracts/contracts.ts';
import { contractsWithSubscriptions } from '../../../store/contracts/subscriptions.ts';
import { loadProducts } from '../../../store/products/products.ts';
import { type JoinedItem, loadOpenSchedules } from '../../invoice-queue/open-items.ts';

/** An item with its product. */
export interface PricedItem extends JoinedItem {
  readonly product: Product;
}

/** The items that join the usage invoices of one contract. */
export interface JoinedSchedule {
  readonly items: readonly PricedItem[];
  /** Prices of the subscriptions; null without any. */
  readonly prices: SubscriptionPrices | null;
  /** Charges of subscriptions as they stand on an issued invoice that is computed again, without them. */
  readonly issuedCharges?: readonly SubscriptionInvoiceLine[];
  /** The issued charges before balances paid for them, as composites count them. */
  readonly countedCharges?: readonly SubscriptionInvoiceLine[];
  /** Such charges on earlier invoices of the billing periods, each in the last hour of its invoice. */
  readonly earlierCharges?: readonly RatedSubscriptionLine[];
}

export const NOTHING_JOINED: JoinedSchedule = { items: [], prices: null };

/** The items of schedules and subscriptions on usage invoices, by contract; contracts without any are absent. */
interface JoinedTerms {
  readonly joined: Map<string, JoinedSchedule>;
  readonly unpriced: Map<string, readonly UnpricedPeriod[]>;
}

/** Two queries if no contract takes any. */
export async function loadJoinedItems(
  db: Database | Transaction,
  contracts: readonly Contract[],
  now: Instant,
): Promise<JoinedTerms> {
  const ids = contracts.map(({ id }) => id);
  const [forced, subscribing] = await Promise.all([
    contractsWithChargesOnUsageInvoices(db, ids),
    contractsWithSubscriptions(db, ids),
  ]);
  const joining = contracts.filter(
    ({ id, scheduledChargesOnUsageInvoices }) =>
      scheduledChargesOnUsageInvoices || forced.has(id) || subscribing.has(id),
  );
  if (joining.length === 0) return { joined: new Map(), unpriced: new Map() };
  const schedules = await loadOpenSchedules(db, joining, now);
  const items = [...schedules].flatMap(([contractId, { joined }]) =>
    joined.map((one) => ({ ...one, contractId })),
  );
  const priced = groupBy(await pricedItems(db, items), ({ contractId }) => contractId);
  return {
    joined: new Map(
      [...priced].map(([id, own]) => [id, { items: own, prices: schedules.get(id)?.prices ?? null }]),
    ),
    unpriced: new Map(
      [...schedules].flatMap(([id, { unpriced }]) => (unpriced.length === 0 ? [] : [[id, unpriced]])),
    ),
  };
}

/** The items in the given order, each with its product. One query. */
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

/** The items of subscriptions that join the invoice of `period`. */
export function joinedCharges({ items, prices }: JoinedSchedule, { end }: Interval): readonly PricedCharge[] {
  const own = items.filter(({ periodEnd }) => periodEnd === end);
  return pricedCharges(
    own.map(({ item }) => item),
    prices,
  );
}

/** Items that join an invoice are due when it ends, so they lie in its last window. */
export function windowOfJoined(period: Interval, boundaries: readonly Instant[]): Interval {
  return { start: boundaries.at(-2) ?? period.start, end: period.end };
}

/** Issued charges with their window. */
export function issuedChargeLines(
  { issuedCharges = [] }: JoinedSchedule,
  window: Interval,
): RatedSubscriptionLine[] {
  return inWindow(issuedCharges, window);
}

function inWindow(lines: readonly SubscriptionInvoiceLine[], window: Interval): RatedSubscriptionLine[] {
  return lines.map((line) => {
    const { quantity, total } = line;
    return { ...line, windows: [{ window, quantity, total }], hasMoved: !quantity.eq(ZERO) };
  });
}

/**
 * The charges of subscriptions on the invoice of `period` as its composites count them: before balances pay, in its last
 * hour. `products` are those of subscriptions on the card.
 */
export function chargesToCount(
  { prices, countedCharges = [], earlierCharges = [] }: JoinedSchedule,
  charges: readonly PricedCharge[],
  products: readonly Product[],
  period: BilledPeriod,
): CountedCharges {
  const billed = [
    ...chargeLines(charges, prices, NO_COVERAGE, lastHourOf(period)),
    ...inLastHour(countedCharges, period),
  ];
  const before = { start: period.countedFrom, end: period.start };
  const earlier = earlierCharges.filter(({ windows }) =>
    windows.every(({ window }) => contains(before, window.start)),
  );
  const ids = new Set([...billed, ...earlier].map(({ productId }) => productId));
  const own = charges.flatMap(({ charge }) => prices?.productOf(charge) ?? []);
  const byId = new Map([...products, ...own].map((product) => [product.id, product]));
  return { billed, earlier, products: [...byId.values()].filter(({ id }) => ids.has(id)) };
}

/** Charges on the invoice of `period`, in the hour that its breakdown shows them in. */
export function inLastHour(
  lines: readonly SubscriptionInvoiceLine[],
  period: Interval,
): RatedSubscriptionLine[] {
  return inWindow(lines, lastHourOf(period));
}

function lastHourOf(period: Interval): Interval {
  return windowOfJoined(period, windowBoundaries(period, 'hour'));
}

/** The lines of the other items; `boundaries` are those of the windows of the invoice. */
export function joinedLines(
  items: readonly PricedItem[],
  period: Interval,
  boundaries: readonly Instant[],
): RatedScheduledLine[] {
  const window = windowOfJoined(period, boundaries);
  return items
    .filter(({ periodEnd, item }) => periodEnd === period.end && item.charge === null)
    .map(({ item, product }) => {
      const line = scheduledLine(item, product);
      return { ...line, windows: [{ window, quantity: line.quantity, total: line.total }] };
    });
}
