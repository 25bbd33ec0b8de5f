/**
 * The terms that issued invoices were computed from. Rows are added and never changed; the id is derived
 * from the content, so that invoices with the same terms share one row.
 */
import { eq, inArray, sql } from 'drizzle-orm';
import { assert } from '../../core/errors.ts';
import { derivedIdInParts } from '../../core/ids.ts';
import type { InvoiceBalances, OfferedBalance } from '../../core/invoice-balances.ts';
import {
  type CardTerms,
  type ContractUsageTerms,
  contractUsageTerms,
  type InvoiceTerms,
} from '../../core/invoice-terms.ts';
import { isLongJson } from '../../core/json-in-parts.ts';
import type { Database, Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import {
  cardTermsDocument,
  contractTermsDocument,
  invoiceBalancesDocument,
} from '../stored-documents/document-kinds.ts';
import type { JsonObject } from '../stored-documents/documents.ts';
import { jsonbInParts } from '../stored-documents/jsonb-in-parts.ts';
import { storedOverrides } from '../stored-documents/stored-overrides.ts';
import { invoiceTerms } from './invoices.tables.ts';

export interface InvoiceTermsIds {
  readonly cardTermsId: string;
  readonly contractTermsId: string;
}

type Terms = CardTerms | ContractUsageTerms | InvoiceBalances;

/** Stores the terms that are not stored yet, and returns the id of each of `terms`. */
export async function storeInvoiceTerms(
  tx: Transaction,
  terms: readonly Terms[],
): Promise<ReadonlyMap<Terms, string>> {
  // JSON writes every decimal as text, and the members of an object in the order in which it was built.
  const documents = new Map(terms.map((one) => [one, toDocument(one)]));
  const ids = new Map<Terms, string>();
  for (const [one, document] of documents) ids.set(one, await derivedIdInParts('invoice-terms', document));
  const known = await knownIds(tx, [...new Set(ids.values())]);
  const missing = new Map([...documents].map(([one, document]) => [ids.get(one) ?? '', document]));
  // Always in one order, so that two transactions that store the same terms cannot deadlock.
  const inOrder = [...missing].filter(([id]) => !known.has(id)).sort(([a], [b]) => (a < b ? -1 : 1));
  let short: (typeof invoiceTerms.$inferInsert)[] = [];
  for (const [id, document] of inOrder) {
    if (isLongJson(document)) {
      await insertShort(tx, short);
      short = [];
      await tx
        .insert(invoiceTerms)
        .values({ id, terms: await jsonbInParts(document) })
        .onConflictDoNothing();
    } else {
      short.push({ id, terms: document });
    }
  }
  await insertShort(tx, short);
  return ids;
}

/** Stores the balances offered to invoices, and returns the id of each list; null for an empty one. */
export async function storeInvoiceBalances(
  tx: Transaction,
  found: readonly (readonly OfferedBalance[])[],
): Promise<(balances: readonly OfferedBalance[]) => string | null> {
  const documents = new Map(
    found.filter((balances) => balances.length > 0).map((balances) => [balances, { balances }]),
  );
  const ids = await storeInvoiceTerms(tx, [...documents.values()]);
  return (balances) => {
    const document = documents.get(balances);
    return (document && ids.get(document)) ?? null;
  };
}

/** The JSON of some of them is written in one go. */
async function insertShort(
  tx: Transaction,
  rows: readonly (typeof invoiceTerms.$inferInsert)[],
): Promise<void> {
  for (const chunk of rowsPerInsert(rows)) {
    await insertRows(tx, invoiceTerms, chunk, sql`on conflict do nothing`);
  }
}

export async function loadInvoiceTerms(
  db: Database | Transaction,
  { cardTermsId, contractTermsId }: InvoiceTermsIds,
): Promise<InvoiceTerms> {
  const rows = await db
    .select()
    .from(invoiceTerms)
    .where(inArray(invoiceTerms.id, [cardTermsId, contractTermsId]));
  const termsOf = (id: string) => {
    const row = rows.find((one) => one.id === id);
    assert(row !== undefined, `terms ${id} of an invoice are stored`);
    return row.terms;
  };
  return {
    card: cardTermsDocument.read(termsOf(cardTermsId)),
    contract: await contractTermsOf(termsOf(contractTermsId)),
  };
}

async function contractTermsOf(column: unknown): Promise<ContractUsageTerms> {
  const { overrides, ...others } = contractTermsDocument.upgraded(column);
  const rest = contractUsageTerms.parse({ ...others, overrides: [] });
  return { ...rest, overrides: await storedOverrides(overrides) };
}

/** The balances offered to an invoice, in burn-down order. */
export async function loadInvoiceBalances(
  db: Database | Transaction,
  balancesId: string | null,
): Promise<readonly OfferedBalance[]> {
  if (balancesId === null) return [];
  const [row] = await db.select().from(invoiceTerms).where(eq(invoiceTerms.id, balancesId));
  assert(row !== undefined, `balances ${balancesId} of an invoice are stored`);
  return invoiceBalancesDocument.read(row.terms).balances;
}

/** Terms of rate cards by id. */
export async function loadCardTerms(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, CardTerms>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select()
    .from(invoiceTerms)
    .where(inArray(invoiceTerms.id, [...new Set(ids)]));
  return new Map(rows.map(({ id, terms }) => [id, cardTermsDocument.read(terms)]));
}

function toDocument(terms: Terms): JsonObject {
  if ('balances' in terms) return invoiceBalancesDocument.write(terms);
  return 'customerRefs' in terms ? contractTermsDocument.write(terms) : cardTermsDocument.write(terms);
}

async function knownIds(tx: Transaction, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await tx
    .select({ id: invoiceTerms.id })
    .from(invoiceTerms)
    .where(isOneOf(invoiceTerms.id, ids));
  return new Set(rows.map(({ id }) => id));
}
