/** API tokens by the SHA-256 of their text; the text itself is never stored. */
import { count, eq } from 'drizzle-orm';
import type { Instant } from '../core/time.ts';
import type { Database, Transaction } from './database.ts';
import { tokens } from './schema/tokens.ts';

export type TokenScope = 'ingest' | 'read' | 'write';

export interface Token {
  readonly id: string;
  readonly name: string;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly scope: TokenScope;
  readonly createdAt: Instant;
  /** Valid before this instant; null for ever. */
  readonly expiresAt: Instant | null;
  readonly revokedAt: Instant | null;
}

/** The token, even if expired or revoked: the caller, who knows the time, checks that. */
export async function findTokenBySha256(db: Database | Transaction, sha256: string): Promise<Token | null> {
  const rows = await db.select().from(tokens).where(eq(tokens.sha256, sha256));
  return rows[0] ?? null;
}

/** Stores a token. One that is already there stays as it is; returns whether it was stored. */
export async function createToken(db: Database | Transaction, token: Token): Promise<boolean> {
  const rows = await db
    .insert(tokens)
    .values(token)
    .onConflictDoNothing({ target: tokens.sha256 })
    .returning({ id: tokens.id });
  return rows.length > 0;
}

export async function countTokens(db: Database | Transaction): Promise<number> {
  const rows = await db.select({ tokens: count() }).from(tokens);
  return rows[0]?.tokens ?? 0;
}
