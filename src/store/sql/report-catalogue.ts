/** Rows of the catalogue for queries across customers: products, rate cards, custom fields, provider prices. */
import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm';
import type { Decimal } from '../../core/decimal.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { customFieldKeys, customFieldValues } from '../custom-fields/custom-fields.tables.ts';
import { products } from '../products/products.tables.ts';
import { rateCards } from '../rate-cards/rate-cards.tables.ts';
import { tokenPrices } from '../token-billing/token-billing.tables.ts';

type Reader = Database | Transaction;

/** The rows after `after`, in order; null: from the first one. At most `limit`. */
interface CataloguePart<After> {
  readonly after: After | null;
  readonly limit: number;
}

export async function reportProductIds(
  db: Reader,
  { after, limit }: CataloguePart<string>,
): Promise<string[]> {
  const rows = await db
    .select({ id: products.id })
    .from(products)
    .where(after === null ? undefined : gt(products.id, after))
    .orderBy(asc(products.id))
    .limit(limit);
  return rows.map(({ id }) => id);
}

export async function reportRateCards(db: Reader, { after, limit }: CataloguePart<string>) {
  return db
    .select()
    .from(rateCards)
    .where(after === null ? undefined : gt(rateCards.id, after))
    .orderBy(asc(rateCards.id))
    .limit(limit);
}

/** The place of a value of a custom field. */
export interface FieldPlace {
  readonly keyId: number;
  readonly entityId: string;
}

/** Values of keys that are declared, in the order of keys and objects. */
export async function reportCustomFields(db: Reader, { after, limit }: CataloguePart<FieldPlace>) {
  const { keyId, entityId, value } = customFieldValues;
  return db
    .select({ keyId, entityId, value, entity: customFieldKeys.entity, key: customFieldKeys.key })
    .from(customFieldValues)
    .innerJoin(customFieldKeys, eq(customFieldKeys.id, keyId))
    .where(
      and(
        isNull(customFieldKeys.removedAt),
        after === null
          ? undefined
          : sql`(${keyId}, ${entityId}) > (${after.keyId}::bigint, ${after.entityId}::uuid)`,
      ),
    )
    .orderBy(asc(keyId), asc(entityId))
    .limit(limit);
}

export interface PricePlace {
  readonly provider: string;
  readonly model: string;
  readonly kind: string;
  readonly validFrom: Instant;
}

/** Prices of tokens in US dollars, in the order of provider, model, kind and time. */
export async function reportTokenPrices(
  db: Reader,
  { after, limit }: CataloguePart<PricePlace>,
): Promise<Array<PricePlace & { readonly usdPerToken: Decimal }>> {
  const { provider, model, kind, validFrom, usdPerToken } = tokenPrices;
  const place = sql`(${provider}, ${model}, ${kind}, ${validFrom})`;
  return db
    .select({ provider, model, kind, validFrom, usdPerToken })
    .from(tokenPrices)
    .where(
      after === null
        ? undefined
        : sql`${place} > (${after.provider}, ${after.model}, ${after.kind}, ${formatInstant(after.validFrom)}::timestamptz)`,
    )
    .orderBy(asc(provider), asc(model), asc(kind), asc(validFrom))
    .limit(limit);
}
