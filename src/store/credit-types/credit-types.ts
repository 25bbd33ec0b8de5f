/** Pricing units: the fiat currencies of core/ and the custom ones in the database, seen as one. */
import { asc, eq, inArray } from 'drizzle-orm';
import { type CreditType, fiatCreditType } from '../../core/credit-types.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { behind, keysetPage } from '../base/keyset.ts';
import { creditTypes } from './credit-types.tables.ts';

export interface CustomCreditType extends CreditType {
  readonly createdAt: Instant;
}

/** The pricing units by id; unknown ids are absent. */
export async function loadCreditTypes(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, CreditType>> {
  const known = new Map<string, CreditType>();
  for (const id of ids) {
    const fiat = fiatCreditType(id);
    if (fiat !== undefined) known.set(id, fiat);
  }
  const custom = ids.filter((id) => !known.has(id));
  if (custom.length === 0) return known;
  const rows = await db
    .select({ id: creditTypes.id, name: creditTypes.name })
    .from(creditTypes)
    .where(inArray(creditTypes.id, custom));
  for (const row of rows) known.set(row.id, row);
  return known;
}

/** The custom pricing units in the order in which they were created. */
export async function listCustomCreditTypes(
  db: Database | Transaction,
  page: PageRequest,
): Promise<Page<CustomCreditType>> {
  const rows = await db
    .select()
    .from(creditTypes)
    .where(behind(creditTypes, page.after))
    .orderBy(asc(creditTypes.createdAt), asc(creditTypes.id))
    .limit(page.limit + 1);
  return keysetPage(rows, page.limit);
}

/** Stores a custom pricing unit, and returns the id of the unit with this name, which may already exist. */
export async function insertCreditType(
  db: Database | Transaction,
  creditType: CustomCreditType,
): Promise<string | null> {
  await db.insert(creditTypes).values(creditType).onConflictDoNothing({ target: creditTypes.name });
  const [row] = await db
    .select({ id: creditTypes.id })
    .from(creditTypes)
    .where(eq(creditTypes.name, creditType.name));
  return row?.id ?? null;
}
