/** The names shown with the terms of contracts, those of the objects they refer to, and custom fields. */
import { type CreditType, USD_CENTS } from '../../core/credit-types.ts';
import type { CustomFieldsById } from '../../core/custom-fields.ts';
import type { Contract, ContractTerms } from '../../core/terms/contract.ts';
import type { Instant } from '../../core/time.ts';
import { versionAt } from '../../rating/quantities/product-spans.ts';
import type { Database } from '../../store/base/database.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import { loadCustomFields } from '../../store/custom-fields/custom-fields.ts';
import { loadInvoicedItems } from '../../store/invoices/invoiced-items.ts';
import { loadProducts } from '../../store/products/products.ts';

/** Data that answers show with terms: names of the objects they refer to, and custom fields. */
export interface TermNames {
  readonly products: ReadonlyMap<string, string>;
  readonly creditTypes: ReadonlyMap<string, CreditType>;
  /** The current values, also for earlier states: fields belong to the object. */
  readonly customFields: CustomFieldsById;
  /** The issued invoice that an item of an invoice schedule is on, by item. */
  readonly invoiceIds: ReadonlyMap<string, string>;
}

/** The current names of products, the current custom fields, and the pricing units. */
export async function loadNames(
  db: Database,
  states: readonly { readonly contract?: Contract; readonly terms: ContractTerms }[],
  now: Instant,
): Promise<TermNames> {
  const productIds = new Set(states.flatMap(({ terms }) => productIdsOf(terms)));
  const creditTypeIds = new Set([USD_CENTS.id, ...states.flatMap(({ terms }) => creditTypeIdsOf(terms))]);
  const products = await loadProducts(db, [...productIds]);
  return {
    products: new Map([...products].map(([id, product]) => [id, versionAt(product, now).name])),
    creditTypes: await loadCreditTypes(db, [...creditTypeIds]),
    customFields: await loadCustomFields(db, states.flatMap(idsWithFields)),
    invoiceIds: await loadInvoiceIds(db, states),
  };
}

function productIdsOf(terms: ContractTerms): string[] {
  const { commits, recurringCommits, subscriptions, overrides, scheduledCharges } = terms;
  return [...commits, ...recurringCommits, ...subscriptions, ...overrides, ...scheduledCharges].flatMap(
    ({ productId }) => productId ?? [],
  );
}

function creditTypeIdsOf({ overrides, commits, scheduledCharges }: ContractTerms): string[] {
  const found = [
    ...overrides.map(({ overwriteRate }) => overwriteRate?.creditTypeId),
    ...commits.flatMap((one) => [one.accessSchedule.creditTypeId, one.invoiceSchedule?.creditTypeId]),
    ...scheduledCharges.map(({ schedule }) => schedule.creditTypeId),
  ];
  return found.flatMap((id) => id ?? []);
}

async function loadInvoiceIds(
  db: Database,
  states: readonly { readonly terms: ContractTerms }[],
): Promise<Map<string, string>> {
  const items = states.flatMap(({ terms: { commits, scheduledCharges } }) => [
    ...commits.flatMap(({ invoiceSchedule }) => invoiceSchedule?.items ?? []),
    ...scheduledCharges.flatMap(({ schedule }) => schedule.items),
  ]);
  const invoiced = await loadInvoicedItems(db, [...new Set(items.map(({ id }) => id))]);
  return new Map([...invoiced].map(([itemId, { invoiceId }]) => [itemId, invoiceId]));
}

function idsWithFields({ contract, terms }: Parameters<typeof loadNames>[1][number]): string[] {
  const { commits, scheduledCharges, professionalServices, subscriptions } = terms;
  const owner = contract === undefined ? [] : [contract];
  return [...owner, ...commits, ...scheduledCharges, ...professionalServices, ...subscriptions].map(
    ({ id }) => id,
  );
}
