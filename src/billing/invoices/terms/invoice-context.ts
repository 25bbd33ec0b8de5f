/**
 * The input of usage invoices other than events. For drafts it is read from PostgreSQL in bulk, one query per kind of
 * entity for any number of invoices. For an issued invoice it is stored with the invoice.
 */

import { assert } from '../../../core/errors.ts';
import type { BilledPeriod } from '../../../core/invoice.ts';
import type { CardTerms, ContractUsageTerms } from '../../../core/invoice-terms.ts';
import type { BillableMetric } from '../../../core/metric.ts';
import type { Instant } from '../../../core/time.ts';
import { usageNeeds } from '../../../rating/quantities/product-spans.ts';
import type { UsageNeed } from '../../../rating/quantities/usage-need.ts';
import { prepareIndex } from '../../../rating/rates/override-index.ts';
import type { UnpricedPeriod } from '../../../rating/subscriptions/unpriced-periods.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { loadUsageFilters } from '../../../store/contracts/contract-settings.ts';
import type { Contract } from '../../../store/contracts/contracts.ts';
import { loadOverrides } from '../../../store/contracts/load-overrides.ts';
import { customerRefs } from '../../../store/customers/customers.ts';
import { loadMetrics } from '../../../store/metrics/billable-metrics.ts';
import type { CustomerBalances } from '../../balances/books.ts';
import { type JoinedSchedule, loadJoinedItems } from '../scheduled/joined-lines.ts';
import { loadCardTerms } from './card-terms.ts';
import { metricsOfCard, type PricedCard, pricedCard } from './priced-card.ts';

/** The usage of one contract in one period. */
export interface UsageTarget {
  readonly contract: Pick<Contract, 'id' | 'customerId' | 'rateCardId'>;
  readonly period: BilledPeriod;
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

const NOTHING: InvoiceContext = {
  cards: new Map(),
  contracts: new Map(),
  metrics: new Map(),
  joined: new Map(),
  unpriced: new Map(),
  balances: new Map(),
};

export async function loadInvoiceContext(
  db: Database | Transaction,
  targets: readonly { readonly contract: Contract; readonly period: BilledPeriod }[],
  now: Instant,
): Promise<InvoiceContext> {
  if (targets.length === 0) return NOTHING;
  const billed = [...new Map(targets.map(({ contract }) => [contract.id, contract])).values()];
  const [cards, contracts, { joined, unpriced }] = await Promise.all([
    loadCardTerms(db, unique(billed.map(({ rateCardId }) => rateCardId ?? ''))),
    loadContractTerms(db, billed),
    loadJoinedItems(db, billed, now),
  ]);
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
  const metrics = await loadMetrics(db, unique([...cards.values()].flatMap(metricsOfCard)));
  for (const { overrides, multiplierPrioritization: prioritization } of contracts.values()) {
    await prepareIndex({ overrides, prioritization });
  }
  const priced = new Map<string, PricedCard>();
  for (const [id, terms] of cards) priced.set(id, await pricedCard(terms, metrics));
  return {
    cards: priced,
    contracts,
    metrics,
    joined: new Map(),
    unpriced: new Map(),
    balances: new Map(),
  };
}

/** Two contexts of different contracts as one, without balances. */
export function joinContexts(one: InvoiceContext, other: InvoiceContext): Omit<InvoiceContext, 'balances'> {
  return {
    cards: new Map([...one.cards, ...other.cards]),
    contracts: new Map([...one.contracts, ...other.contracts]),
    metrics: new Map([...one.metrics, ...other.metrics]),
    joined: new Map([...one.joined, ...other.joined]),
    unpriced: new Map([...one.unpriced, ...other.unpriced]),
  };
}

/** The usage that a target needs from metering; may contain duplicates across products. */
export function needsOf(
  context: Pick<InvoiceContext, 'cards' | 'contracts'>,
  { contract, period }: UsageTarget,
): UsageNeed[] {
  const { usageFilters } = termsOf(context, contract);
  return cardOf(context, contract).needing.flatMap(({ product }) =>
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

async function loadContractTerms(
  db: Database | Transaction,
  contracts: readonly Contract[],
): Promise<Map<string, ContractUsageTerms>> {
  const ids = unique(contracts.map(({ id }) => id));
  const [usageFilters, overrides, refs] = await Promise.all([
    loadUsageFilters(db, ids),
    loadOverrides(db, ids),
    customerRefs(db, unique(contracts.map(({ customerId }) => customerId))),
  ]);
  return new Map(
    contracts.map(({ id, customerId, multiplierPrioritization }) => [
      id,
      {
        customerRefs: refs.get(customerId) ?? [customerId],
        overrides: overrides.get(id) ?? [],
        multiplierPrioritization,
        usageFilters: usageFilters.get(id) ?? [],
        compositesCountSubscriptions: true,
      },
    ]),
  );
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
