/** Loads the charges of subscriptions that are on no invoice yet, with the prices they are based on. */
import { assert } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import type { Instant } from '../../core/time.ts';
import { prepareIndex } from '../../rating/rates/override-index.ts';
import { type ScheduledItem, subscriptionItem } from '../../rating/scheduled/scheduled-items.ts';
import { chargePrice, nextChargeDate, openCharges } from '../../rating/subscriptions/charges.ts';
import { type SubscriptionPrices, subscriptionPrices } from '../../rating/subscriptions/prices.ts';
import { type UnpricedPeriod, unpricedPeriods } from '../../rating/subscriptions/unpriced-periods.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import type { Contract } from '../../store/contracts/contracts.ts';
import { loadOverrides } from '../../store/contracts/load-overrides.ts';
import { loadBillingStarts, loadSubscriptions } from '../../store/contracts/subscriptions.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import { loadBilledCharges } from '../../store/invoices/billed-charges.ts';
import { loadProducts } from '../../store/products/products.ts';
import { loadRateCards } from '../../store/rate-cards/rate-cards.ts';
import { loadRateEntries } from '../../store/rate-cards/rates.ts';

/** The subscriptions of one contract. */
export interface ContractCharges {
  /** The charges owed up to the end of the current billing periods, by date. */
  readonly items: readonly ScheduledItem[];
  readonly prices: SubscriptionPrices;
  /** Quantities that are not charged, because there is no rate. */
  readonly unpriced: readonly UnpricedPeriod[];
  /** When further charges may be due. Null: never. */
  readonly nextDate: Instant | null;
}

/**
 * By contract; contracts without subscriptions are absent. A fixed number of queries. Charges on the invoice `instead`
 * count as not billed.
 */
export async function loadCharges(
  db: Database | Transaction,
  contracts: readonly Contract[],
  now: Instant,
  instead: string | null = null,
): Promise<Map<string, ContractCharges>> {
  const subscriptions = await loadSubscriptions(
    db,
    contracts.map(({ id }) => id),
  );
  if (subscriptions.length === 0) return new Map();
  const ids = subscriptions.map(({ id }) => id);
  const billed = groupBy(await loadBilledCharges(db, ids, instead), ({ subscriptionId }) => subscriptionId);
  const billedFrom = await loadBillingStarts(db, ids);
  const pricesOf = await loadPrices(db, contracts, subscriptions);
  const byContract = groupBy(subscriptions, ({ contractId }) => contractId);
  return new Map(
    contracts.flatMap((contract) => {
      const own = byContract.get(contract.id) ?? [];
      if (own.length === 0) return [];
      const prices = pricesOf(contract);
      const items = own.flatMap((subscription) => {
        const { id } = subscription;
        const charges = openCharges({
          ...{ contract, subscription, prices, now },
          billed: billed.get(id) ?? [],
          billedFrom: billedFromOf(contract, billedFrom.get(id)),
        });
        return charges.map((charge) => {
          const price = chargePrice(charge, prices);
          assert(price !== null, `charge ${charge.id} has a price`);
          return subscriptionItem(subscription, charge, price, prices.fiatCreditTypeId);
        });
      });
      const dates = own.flatMap((subscription) => nextChargeDate(contract, subscription, now) ?? []);
      const unpriced = own.flatMap((one) => unpricedPeriods(contract, one, prices, now));
      const nextDate = dates.length === 0 ? null : Math.min(...dates);
      return [
        [contract.id, { items: items.sort((a, b) => a.at - b.at), prices, unpriced, nextDate }] as const,
      ];
    }),
  );
}

/**
 * Charges that are due before invoicing begins, or were due before subscriptions were billed at all, are not billed.
 */
function billedFromOf(
  { invoiceGenerationStartingAt }: Contract,
  billingStart: Instant | undefined,
): Instant | null {
  const starts = [invoiceGenerationStartingAt, billingStart ?? null].filter((start) => start !== null);
  return starts.length === 0 ? null : Math.max(...starts);
}

/** The prices of the subscriptions of each contract. */
export async function loadPrices(
  db: Database | Transaction,
  contracts: readonly Contract[],
  subscriptions: readonly Subscription[],
): Promise<(contract: Contract) => SubscriptionPrices> {
  const withCard = new Set(subscriptions.map(({ contractId }) => contractId));
  const priced = contracts.filter(({ id }) => withCard.has(id));
  const cardIds = [...new Set(priced.flatMap(({ rateCardId }) => rateCardId ?? []))];
  const productIds = [...new Set(subscriptions.map(({ productId }) => productId))];
  const cards = await loadRateCards(db, cardIds);
  const units = await loadCreditTypes(
    db,
    [...cards.values()].flatMap(({ conversions }) => conversions.map((one) => one.customCreditTypeId)),
  );
  const entries = await loadRateEntries(db, cardIds, productIds);
  const products = await loadProducts(db, productIds);
  const overrides = await loadOverrides(
    db,
    priced.map(({ id }) => id),
  );
  for (const { id, multiplierPrioritization: prioritization } of priced) {
    await prepareIndex({ overrides: overrides.get(id) ?? [], prioritization });
  }
  return ({ id, rateCardId, multiplierPrioritization: prioritization }) => {
    const card = cards.get(rateCardId ?? '');
    assert(card !== undefined, 'a contract with subscriptions has a rate card');
    const byProduct = groupBy(entries.get(card.id) ?? [], ({ productId }) => productId);
    return subscriptionPrices(
      {
        fiatCreditTypeId: card.fiatCreditTypeId,
        conversions: new Map(
          card.conversions.map((one) => {
            const unit = units.get(one.customCreditTypeId);
            assert(unit !== undefined, `pricing unit ${one.customCreditTypeId} exists`);
            return [one.customCreditTypeId, { ...one, name: unit.name }];
          }),
        ),
        products: [...products.values()].map((product) => ({
          product,
          rateEntries: byProduct.get(product.id) ?? [],
        })),
      },
      { overrides: overrides.get(id) ?? [], prioritization },
    );
  };
}
