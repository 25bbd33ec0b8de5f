/**
 * Everything that computing usage invoices needs from Postgres, read in bulk: one query per kind of
 * entity for any number of invoices.
 */
import type { Product } from '../../core/catalogue.ts';
import { assert } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import type { BillableMetric } from '../../core/metric.ts';
import type { UsageFilter } from '../../core/terms/contract.ts';
import type { Override } from '../../core/terms/overrides.ts';
import { usageNeeds } from '../../rating/product-spans.ts';
import { rateBook } from '../../rating/rate-schedule.ts';
import type { ProductOnCard } from '../../rating/types.ts';
import { loadMetrics } from '../../store/billable-metrics.ts';
import { loadUsageFilters } from '../../store/contract-settings.ts';
import { customerRefs } from '../../store/customers.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { loadOverrides } from '../../store/overrides.ts';
import { loadProducts } from '../../store/products.ts';
import { loadRateCards, rateCardProductOrder } from '../../store/rate-cards.ts';
import { loadRateEntries } from '../../store/rates.ts';
import type { InvoiceTarget } from './usage-periods.ts';

/** A rate card as an invoice sees it. */
export interface PricedCard {
  readonly fiatCreditTypeId: string;
  readonly products: readonly ProductOnCard[];
  readonly productOrder: readonly string[];
}

export interface InvoiceContext {
  readonly cards: ReadonlyMap<string, PricedCard>;
  readonly metrics: ReadonlyMap<string, BillableMetric>;
  /** Contract id → its overrides; contracts without any are absent. */
  readonly overrides: ReadonlyMap<string, readonly Override[]>;
  /** Contract id → its usage filters; contracts without any are absent. */
  readonly usageFilters: ReadonlyMap<string, readonly UsageFilter[]>;
  /** Customer id → the names under which its events come. */
  readonly refs: ReadonlyMap<string, readonly string[]>;
}

export async function loadInvoiceContext(
  db: Database | Transaction,
  targets: readonly InvoiceTarget[],
): Promise<InvoiceContext> {
  const cards = await loadPricedCards(db, unique(targets.map(({ contract }) => contract.rateCardId ?? '')));
  const contractIds = unique(targets.map(({ contract }) => contract.id));
  const usageFilters = await loadUsageFilters(db, contractIds);
  const metricIds = new Set<string>();
  for (const { contract, period } of targets) {
    for (const { product } of cardOf(cards, contract.rateCardId).products) {
      for (const need of usageNeeds(product, period, [])) metricIds.add(need.billableMetricId);
    }
  }
  const metrics = await loadMetrics(db, [...metricIds]);
  const refs = await customerRefs(db, unique(targets.map(({ contract }) => contract.customerId)));
  const overrides = groupBy(await loadOverrides(db, contractIds), (override) => override.contractId);
  return { cards, metrics, refs, overrides, usageFilters };
}

/** The contract's usage filters by start. */
export function filtersOf({ usageFilters }: InvoiceContext, contractId: string): readonly UsageFilter[] {
  return usageFilters.get(contractId) ?? [];
}

/** The priced card of a contract that bills usage. */
export function cardOf(cards: InvoiceContext['cards'], rateCardId: string | null): PricedCard {
  const card = cards.get(rateCardId ?? '');
  assert(card !== undefined, `rate card ${rateCardId} is loaded`);
  return card;
}

async function loadPricedCards(
  db: Database | Transaction,
  rateCardIds: readonly string[],
): Promise<Map<string, PricedCard>> {
  const cards = await loadRateCards(db, rateCardIds);
  const entries = await loadRateEntries(db, rateCardIds);
  const order = await rateCardProductOrder(db, rateCardIds);
  const productIds = unique([...order.values()].flat());
  const products = await loadProducts(db, productIds);
  return new Map(
    [...cards].map(([id, card]) => {
      const entriesByProduct = groupBy(entries.get(id) ?? [], (entry) => entry.productId);
      const productOrder = order.get(id) ?? [];
      return [
        id,
        {
          fiatCreditTypeId: card.fiatCreditTypeId,
          productOrder,
          products: usageProducts(productOrder, products).map((product) => ({
            product,
            rates: rateBook(entriesByProduct.get(product.id) ?? []),
          })),
        },
      ];
    }),
  );
}

function usageProducts(ids: readonly string[], products: ReadonlyMap<string, Product>): Product[] {
  return ids.flatMap((id) => {
    const product = products.get(id);
    return product?.type === 'USAGE' ? [product] : [];
  });
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
