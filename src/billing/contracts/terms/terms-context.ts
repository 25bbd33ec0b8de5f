/**
 * The data for validating terms: their contract, and the objects that they name. Loaded once for all terms of a
 * request, so that the validations are pure functions.
 */
import type { BillingFrequency, Product } from '../../../core/catalogue.ts';
import { type CreditType, USD_CENTS } from '../../../core/credit-types.ts';
import type { Decimal } from '../../../core/decimal.ts';
import { type FieldPath, invalid, words } from '../../../core/errors.ts';
import { isUuid } from '../../../core/ids.ts';
import type { MultiplierPrioritization } from '../../../core/terms/overrides.ts';
import type { PaymentProvider } from '../../../core/terms/payment-gate.ts';
import type { Instant } from '../../../core/time.ts';
import { commitIdsForContract } from '../../../store/balances/commits.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { loadCreditTypes } from '../../../store/credit-types/credit-types.ts';
import { loadProducts } from '../../../store/products/products.ts';
import { type RateCard, rateCardProductOrder } from '../../../store/rate-cards/rate-cards.ts';
import { loadRateEntries } from '../../../store/rate-cards/rates.ts';

/** A subscription that recurring terms may be linked to. */
interface SubscriptionFacts {
  readonly id: string;
  readonly quantityManagementMode: 'SEAT_BASED' | 'QUANTITY_ONLY';
}

export interface TermsContext {
  readonly contract: { readonly startingAt: Instant; readonly endingBefore: Instant | null };
  readonly multiplierPrioritization: MultiplierPrioritization;
  /** The products that the terms name. */
  readonly products: ReadonlyMap<string, Product>;
  readonly creditTypes: ReadonlyMap<string, CreditType>;
  /** Null: the contract has no rate card. */
  readonly card: CardFacts | null;
  /** By id and by temporary id. */
  readonly subscriptions: ReadonlyMap<string, SubscriptionFacts>;
  /** From id or temporary id to the id of a commit, credit, or recurring term that an override may name. */
  readonly commitIds: ReadonlyMap<string, string>;
  readonly recurringCommitIds: ReadonlyMap<string, string>;
  /** Includes both kinds of credits. */
  readonly balanceIds: ReadonlyMap<string, string>;
  /** Collects payments of gate STRIPE; null: such gates are not available. */
  readonly paymentProvider: PaymentProvider | null;
}

export interface CardFacts {
  readonly id: string;
  readonly fiatCreditTypeId: string;
  /** The amount in the card's currency for one custom unit, by unit. */
  readonly conversions: ReadonlyMap<string, Decimal>;
  /** The named products that have a rate. */
  readonly productIds: ReadonlySet<string>;
  /** `<product id>:<billing frequency>` of their subscription rates. */
  readonly subscriptionRates: ReadonlySet<string>;
}

/** The objects that terms name, to be loaded together. */
export interface NamedIds {
  readonly productIds: readonly string[];
  readonly creditTypeIds: readonly string[];
  /** Ids and temporary ids of commits and credits. */
  readonly balanceIds: readonly string[];
}

/** The context for validating commits and credits, including those of a customer, which belong to no contract. */
export type BalanceContext = Pick<TermsContext, 'products' | 'creditTypes' | 'paymentProvider'>;

/** The loaded objects, as opposed to those that the request itself defines. */
export interface LoadedContext extends BalanceContext, Pick<TermsContext, 'card'> {
  /** Commits and credits of the customer that the terms name. */
  readonly knownBalanceIds: ReadonlySet<string>;
}

interface TermsOwner {
  /** Null for the terms of a package. */
  readonly contract: { readonly id: string; readonly customerId: string } | null;
  readonly paymentProvider: PaymentProvider | undefined;
}

/**
 * Loads the objects that the terms name, and which of them have rates on the card. Unknown ids are absent. Terms of a
 * package, which have no contract, cannot name existing balances.
 */
export async function loadTermsContext(
  db: Database | Transaction,
  card: RateCard | null,
  named: NamedIds,
  { contract, paymentProvider }: TermsOwner,
): Promise<LoadedContext> {
  const products = await loadProducts(db, [...new Set(named.productIds)]);
  return {
    products,
    paymentProvider: paymentProvider ?? null,
    creditTypes: await loadCreditTypes(db, [...new Set([...named.creditTypeIds, USD_CENTS.id])]),
    card: card === null ? null : await cardFacts(db, card, products),
    knownBalanceIds:
      contract === null
        ? new Set()
        : await commitIdsForContract(db, contract, named.balanceIds.filter(isUuid)),
  };
}

async function cardFacts(
  db: Database | Transaction,
  card: RateCard,
  products: ReadonlyMap<string, Product>,
): Promise<CardFacts> {
  const priced = [...products.values()].filter((product) => product.type !== 'FIXED');
  const onCard = priced.length === 0 ? [] : ((await rateCardProductOrder(db, [card.id])).get(card.id) ?? []);
  const productIds = new Set(onCard.filter((id) => products.has(id)));
  const subscriptionProducts = [...productIds].filter((id) => products.get(id)?.type === 'SUBSCRIPTION');
  const entries = (await loadRateEntries(db, [card.id], subscriptionProducts)).get(card.id) ?? [];
  return {
    id: card.id,
    fiatCreditTypeId: card.fiatCreditTypeId,
    conversions: new Map(card.conversions.map((one) => [one.customCreditTypeId, one.fiatPerCustomCredit])),
    productIds,
    subscriptionRates: new Set(
      entries.flatMap(({ productId, billingFrequency }) =>
        billingFrequency === null ? [] : [subscriptionRateKey(productId, billingFrequency)],
      ),
    ),
  };
}

export function subscriptionRateKey(productId: string, frequency: BillingFrequency): string {
  return `${productId}:${frequency}`;
}

/** The product named by a term. Refuses (`invalid`) an unknown one. */
export function requireProduct(
  context: Pick<BalanceContext, 'products'>,
  id: string,
  field: FieldPath,
): Product {
  const product = context.products.get(id);
  if (product === undefined) throw invalid(field, `product ${id} not found`);
  return product;
}

/** Refuses (`invalid`) a product that is unknown, archived, or not of type FIXED. */
export function requireFixedProduct(
  context: Pick<BalanceContext, 'products'>,
  id: string,
  field: FieldPath,
): void {
  const product = requireProduct(context, id, field);
  if (product.type !== 'FIXED') throw invalid(field, `must be a FIXED product, not ${product.type}`);
  if (product.archivedAt !== null) throw invalid(field, `product ${id} is archived`);
}

/** The pricing unit named by a term, US cents by default. Refuses (`invalid`) an unknown one. */
export function requireCreditType(context: BalanceContext, id: string | null, field: FieldPath): string {
  const known = id ?? USD_CENTS.id;
  if (!context.creditTypes.has(known)) throw invalid(field, `pricing unit ${known} not found`);
  return known;
}

/** Refuses (`invalid`) a range that does not end after it starts. */
export function requireEndAfterStart(
  range: { readonly startingAt: Instant; readonly endingBefore: Instant | null },
  path: FieldPath,
): void {
  if (range.endingBefore !== null && range.endingBefore <= range.startingAt) {
    throw invalid([...path, 'endingBefore'], words`must be after ${['startingAt']}`);
  }
}
