/** Pricing units: the fiat currencies of core/ and the custom ones in the database, seen as one. */
import { asc, inArray } from 'drizzle-orm';
import { type CreditType, FIAT_CREDIT_TYPES } from '../core/credit-types.ts';
import type { Database, Transaction } from './database.ts';
import { creditTypes } from './schema/credit-types.ts';

/** The pricing units by id; unknown ids are absent. */
export async function loadCreditTypes(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, CreditType>> {
  const known = new Map<string, CreditType>();
  for (const fiat of FIAT_CREDIT_TYPES) if (ids.includes(fiat.id)) known.set(fiat.id, fiat);
  const custom = ids.filter((id) => !known.has(id));
  if (custom.length === 0) return known;
  const rows = await db
    .select({ id: creditTypes.id, name: creditTypes.name })
    .from(creditTypes)
    .where(inArray(creditTypes.id, custom));
  for (const row of rows) known.set(row.id, row);
  return known;
}

/** The custom pricing units by name. */
export async function listCustomCreditTypes(db: Database | Transaction): Promise<CreditType[]> {
  return db
    .select({ id: creditTypes.id, name: creditTypes.name })
    .from(creditTypes)
    .orderBy(asc(creditTypes.name));
}
