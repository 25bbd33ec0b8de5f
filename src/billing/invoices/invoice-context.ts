/**
 * The input of usage invoices other than events. For drafts it is read from PostgreSQL in bulk, one query per
 * kind of entity for any number of invoices. For an issued invoice it is what was stored with the invoice.
 */

import type { Product, ProductType } from '../../core/catalogue.ts';
import { assert } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import type { BilledPeriod } from '../../core/invoice.ts';
import type { CardTerms, ContractUsageTerms } from '../../core/invoice-terms.ts';
import type { BillableMetric } from '../../core/metric.ts';
import type { Instant } from '../../core/time.ts';
import { prepareIndex } from '../../rating/rates/override-index.ts';
import { rateBook } from '../../rating/rates/rate-schedule.ts';
import type { UnpricedPeriod } from '../../rating/subscriptions/unpriced-periods.ts';
import type { CompositeOnCard, ProductOnCard, UsageNeed } from '../../rating/types.ts';
import type { UnitConversion } from '../../rating/usage/cpu-conversion.ts';
import { usageNeeds } from '../../rating/usage/product-spans.ts';
import { loadMetrics } from '../../store/billable-metrics.ts';
import { loadUsageFilters } from '../../store/contract-settings.ts';
import type { Contract } from '../../store/contracts.ts';
import { loadCreditTypes } from '../../store/credit-types.ts';
import { customerRefs } from '../../store/customers.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { loadOverrides } from '../../store/load-overrides.ts';
import { loadProducts, type StoredProduct } from '../../store/products.ts';
import { loadRateCards, rateCardProductOrder } from '../../store/rate-cards.ts';
import { loadRateEntries } from '../../store/rates.ts';
import type { CustomerBalances } from '../balances/books.ts';
import { type JoinedSchedule, loadJoinedItems } from './scheduled/joined-lines.ts';

/** The usage of one contract in one period. */
export interface UsageTarget {
  readonly contract: Pick<Contract, 'id' | 'customerId' | 'rateCardId'>;
  readonly period: BilledPeriod;
}

/** The terms of a rate card, with lookups. */
export interface PricedCard {
  readonly terms: CardTerms;
  /** Usage products. */
  readonly products: readonly ProductOnCard[];
  readonly composites: readonly CompositeOnCard[];
  /** By custom pricing unit. */
  readonly conversions: ReadonlyMap<string, UnitConversion>;
}

export interface InvoiceContext {
  /** By rate card. */
  readonly cards: ReadonlyMap<string, PricedCard>;
  /** By contract. */
  readonly contracts: ReadonlyMap<string, ContractUsageTerms>;
  readonly metrics: ReadonlyMap<string, BillableMetric>;
  /** Scheduled items and charges of subscriptions on usage invoices, by contract. */
  readonly joined: ReadonlyMap<string, JoinedSchedule>;
  /** Periods of subscriptions without a rate, by contract; contracts without any are absent. */
  readonly unpriced: ReadonlyMap<string, readonly UnpricedPeriod[]>;
  /** By customer; those without commits and credits are absent. */
  readonly balances: CustomerBalances;
}

export async function loadInvoiceContext(
  db: Database | Transaction,
  targets: readonly { readonly contract: Contract; readonly period: BilledPeriod }[],
  now: Instant,
): Promise<InvoiceContext> {
  const cards = await loadCardTerms(db, unique(targets.map(({ contract }) => contract.rateCardId ?? '')));
  const billed = [...new Map(targets.map(({ contract }) => [contract.id, contract])).values()];
  const contracts = await loadContractTerms(db, billed);
  const { joined, unpriced } = await loadJoinedItems(db, billed, now);
  return { ...(await invoiceContext(db, cards, contracts)), joined, unpriced };
}

/**
 * The context of these terms: with the metrics by which usage is counted, whose definitions never change, and without
 * scheduled items.
 */
export async function invoiceContext(
  db: Database | Transaction,
  cards: ReadonlyMap<string, CardTerms>,
  contracts: ReadonlyMap<string, ContractUsageTerms>,
): Promise<InvoiceContext> {
  const products = [...cards.values()].flatMap((card) => card.products.map(({ product }) => product));
  const versions = products.flatMap((product) => product.versions);
  const metrics = await loadMetrics(
    db,
    unique(versions.flatMap((version) => version.billableMetricId ?? [])),
  );
  for (const { overrides, multiplierPrioritization: prioritization } of contracts.values()) {
    await prepareIndex({ overrides, prioritization });
  }
  const priced = [...cards].map(([id, terms]) => [id, pricedCard(terms, metrics)] as const);
  return {
    cards: new Map(priced),
    contracts,
    metrics,
    joined: new Map(),
    unpriced: new Map(),
    balances: new Map(),
  };
}

/** The usage that a target needs from metering; may contain duplicates across products. */
export function needsOf(
  context: Pick<InvoiceContext, 'cards' | 'contracts'>,
  { contract, period }: UsageTarget,
): UsageNeed[] {
  const { usageFilters } = termsOf(context, contract);
  return cardOf(context, contract).products.flatMap(({ product }) =>
    usageNeeds(product, period, usageFilters),
  );
}

/** The priced card of a contract that bills usage. */
export function cardOf(
  { cards }: Pick<InvoiceContext, 'cards'>,
  { rateCardId }: UsageTarget['contract'],
): PricedCard {
  const card = cards.get(rateCardId ?? '');
  assert(card !== undefined, `rate card ${rateCardId} is loaded`);
  return card;
}

export function termsOf(
  { contracts }: Pick<InvoiceContext, 'contracts'>,
  { id }: UsageTarget['contract'],
): ContractUsageTerms {
  const terms = contracts.get(id);
  assert(terms !== undefined, `the terms of contract ${id} are loaded`);
  return terms;
}

/** Prepares the lookups of a card, once for all contracts on it. */
function pricedCard(terms: CardTerms, metrics: InvoiceContext['metrics']): PricedCard {
  return {
    terms,
    products: terms.products.map(({ product, rateEntries }) => ({
      product: streamedByHour(product, metrics),
      rates: rateBook(rateEntries),
    })),
    composites: terms.composites.map(({ product, rateEntries }) => ({
      product,
      rates: rateBook(rateEntries),
    })),
    conversions: new Map(terms.conversions.map((one) => [one.customCreditTypeId, one])),
  };
}

/** A granularity applies to SQL metrics only; streaming metrics are always read by the hour. */
function streamedByHour(product: Product, metrics: InvoiceContext['metrics']): Product {
  const versions = product.versions.map((version) =>
    metrics.get(version.billableMetricId ?? '')?.kind === 'streaming'
      ? { ...version, sqlBreakdownGranularity: 'HOUR' as const }
      : version,
  );
  return { ...product, versions };
}

async function loadCardTerms(
  db: Database | Transaction,
  rateCardIds: readonly string[],
): Promise<Map<string, CardTerms>> {
  const cards = await loadRateCards(db, rateCardIds);
  const entries = await loadRateEntries(db, rateCardIds);
  const order = await rateCardProductOrder(db, rateCardIds);
  const products = await loadProducts(db, unique([...order.values()].flat()));
  const units = await loadCreditTypes(
    db,
    [...cards.values()].flatMap(({ conversions }) => conversions.map((one) => one.customCreditTypeId)),
  );
  const loaded = [...cards].map(([id, { fiatCreditTypeId, conversions }]) => {
    const byProduct = groupBy(entries.get(id) ?? [], (entry) => entry.productId);
    const productOrder = order.get(id) ?? [];
    const pricedOfType = (type: ProductType) =>
      productsOfType(type, productOrder, products).map((product) => ({
        product,
        rateEntries: byProduct.get(product.id) ?? [],
      }));
    const card: CardTerms = {
      fiatCreditTypeId,
      conversions: conversions.map((one) => ({ ...one, name: nameOf(units, one.customCreditTypeId) })),
      productOrder,
      products: pricedOfType('USAGE'),
      composites: pricedOfType('COMPOSITE'),
      subscriptions: pricedOfType('SUBSCRIPTION'),
    };
    return [id, card] as const;
  });
  return new Map(loaded);
}

async function loadContractTerms(
  db: Database | Transaction,
  contracts: readonly Contract[],
): Promise<Map<string, ContractUsageTerms>> {
  const ids = unique(contracts.map(({ id }) => id));
  const usageFilters = await loadUsageFilters(db, ids);
  const overrides = await loadOverrides(db, ids);
  const refs = await customerRefs(db, unique(contracts.map(({ customerId }) => customerId)));
  return new Map(
    contracts.map(({ id, customerId, multiplierPrioritization }) => [
      id,
      {
        customerRefs: refs.get(customerId) ?? [customerId],
        overrides: overrides.get(id) ?? [],
        multiplierPrioritization,
        usageFilters: usageFilters.get(id) ?? [],
      },
    ]),
  );
}

function productsOfType(
  type: ProductType,
  ids: readonly string[],
  products: ReadonlyMap<string, StoredProduct>,
): StoredProduct[] {
  return ids.flatMap((id) => {
    const product = products.get(id);
    return product?.type === type ? [product] : [];
  });
}

function nameOf(units: ReadonlyMap<string, { readonly name: string }>, id: string): string {
  const unit = units.get(id);
  assert(unit !== undefined, `pricing unit ${id} of a conversion exists`);
  return unit.name;
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
