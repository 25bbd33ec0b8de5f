/** Idempotency keys: claims on them, and the stored answers. */
import { and, eq, inArray, isNotNull, isNull, lte, sql } from 'drizzle-orm';
import { z } from 'zod';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { idempotencyKeys } from './idempotency-keys.tables.ts';

/** The key of one operation. */
export interface KeyOfOperation {
  readonly operation: string;
  readonly key: string;
}

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: an answer without a body. */
  readonly body: string | null;
}

export interface StoredKey {
  readonly requestHash: string;
  /** Null while the request is running. */
  readonly answer: StoredAnswer | null;
}

/** How long a claim lasts in real time unless it is renewed. */
const CLAIM = sql`clock_timestamp() + interval '60 seconds'`;

/**
 * Claims a free key: unknown, older than `expiredAt`, or claimed by a process that has died. Returns whether it was
 * free.
 */
export async function claimKey(
  db: Database,
  claim: KeyOfOperation & {
    readonly requestHash: string;
    readonly claimedBy: string;
    readonly createdAt: Instant;
    readonly expiredAt: Instant;
  },
): Promise<boolean> {
  const { operation, key, requestHash, claimedBy, createdAt, expiredAt } = claim;
  const fresh = { requestHash, claimedBy, createdAt, status: null, headers: null, body: null };
  const { status, claimedUntil } = idempotencyKeys;
  const isLeft = sql`(${status} is null and ${claimedUntil} < clock_timestamp())`;
  const isExpired = sql`(${status} is not null and ${idempotencyKeys.createdAt} <= ${formatInstant(expiredAt)})`;
  const rows = await db
    .insert(idempotencyKeys)
    .values({ operation, key, ...fresh, claimedUntil: CLAIM })
    .onConflictDoUpdate({
      target: [idempotencyKeys.operation, idempotencyKeys.key],
      set: { ...fresh, claimedUntil: CLAIM },
      setWhere: sql`${isLeft} or ${isExpired}`,
    })
    .returning({ claimedBy: idempotencyKeys.claimedBy });
  return rows.length > 0;
}

const storedHeaders = z.record(z.string(), z.string());

/** Null if the key is free by now. */
export async function findKey(db: Database, of: KeyOfOperation): Promise<StoredKey | null> {
  const [row] = await db.select().from(idempotencyKeys).where(isKey(of));
  if (row === undefined) return null;
  const { requestHash, status, headers, body } = row;
  const answer = status === null ? null : { status, headers: storedHeaders.parse(headers), body };
  return { requestHash, answer };
}

/** Renews a claim while its request is running. */
export async function renewClaim(db: Database, of: KeyOfOperation, claimedBy: string): Promise<void> {
  await db.update(idempotencyKeys).set({ claimedUntil: CLAIM }).where(isClaim(of, claimedBy));
}

/** Stores the answer. Returns false, and stores nothing, if another claim holds the key by now. */
export async function storeAnswer(
  db: Database | Transaction,
  of: KeyOfOperation,
  claimedBy: string,
  { status, headers, body }: StoredAnswer,
): Promise<boolean> {
  const rows = await db
    .update(idempotencyKeys)
    .set({ status, headers, body })
    .where(isClaim(of, claimedBy))
    .returning({ key: idempotencyKeys.key });
  return rows.length > 0;
}

/** Frees a key whose request failed without an answer to store. */
export async function releaseClaim(db: Database, of: KeyOfOperation, claimedBy: string): Promise<void> {
  await db.delete(idempotencyKeys).where(isClaim(of, claimedBy));
}

/** Deletes answers that are no longer replayed, at most `limit`. */
export async function deleteExpiredKeys(db: Database, expiredAt: Instant, limit: number): Promise<void> {
  const expired = db
    .select({ of: sql`(${idempotencyKeys.operation}, ${idempotencyKeys.key})` })
    .from(idempotencyKeys)
    .where(and(isNotNull(idempotencyKeys.status), lte(idempotencyKeys.createdAt, expiredAt)))
    .limit(limit);
  const row = sql`(${idempotencyKeys.operation}, ${idempotencyKeys.key})`;
  await db.delete(idempotencyKeys).where(inArray(row, sql`${expired}`));
}

const isKey = ({ operation, key }: KeyOfOperation) =>
  and(eq(idempotencyKeys.operation, operation), eq(idempotencyKeys.key, key));

const isClaim = (of: KeyOfOperation, claimedBy: string) =>
  and(isKey(of), eq(idempotencyKeys.claimedBy, claimedBy), isNull(idempotencyKeys.status));
