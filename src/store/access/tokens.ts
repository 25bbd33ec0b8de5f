/** API tokens by the SHA-256 of their text; the text itself is never stored. */
import { and, asc, count, eq, isNull, ne, type SQL, sql } from 'drizzle-orm';
import { isUuid } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { TokenScope } from '../../core/token-scopes.ts';
import { builtOnce } from '../base/built-once.ts';
import type { Database, Transaction } from '../base/database.ts';
import { behind, keysetPage } from '../base/keyset.ts';

import { tokens } from './tokens.tables.ts';

/** `api_token`: the token set in the configuration. It is valid as long as it is configured. */
type TokenOrigin = 'issued' | 'api_token';

export interface Token {
  readonly id: string;
  readonly name: string;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly scope: TokenScope;
  /** Null: those of its scope. With a list, the scope means nothing. */
  readonly permissions: readonly string[] | null;
  readonly origin: TokenOrigin;
  readonly createdAt: Instant;
  /** Valid before this instant; null: without an end. */
  readonly expiresAt: Instant | null;
  readonly revokedAt: Instant | null;
  /** A few seconds late; null if it was never used. */
  readonly lastUsedAt: Instant | null;
}

/** The channel on which processes announce changed tokens, by their SHA-256. */
export const TOKENS_CHANNEL = 'tallyhouse_tokens';

/** The token, even if expired or revoked: the caller, who knows the time, checks that. */
export async function findTokenBySha256(db: Database | Transaction, sha256: string): Promise<Token | null> {
  const [row] = await tokenWithSha256(db, { sha256 });
  return row ?? null;
}

/** Runs at the start of each request. */
const tokenWithSha256 = builtOnce<Token[]>((db) =>
  db
    .select()
    .from(tokens)
    .where(eq(tokens.sha256, sql.placeholder('sha256')))
    .prepare(''),
);

/** The token with this id, even if expired or revoked. */
export async function findToken(db: Database | Transaction, id: string): Promise<Token | null> {
  if (!isUuid(id)) return null;
  const rows = await db.select().from(tokens).where(eq(tokens.id, id));
  return rows[0] ?? null;
}

/** The token, locked until the transaction ends. */
export async function lockToken(tx: Transaction, id: string): Promise<Token | null> {
  if (!isUuid(id)) return null;
  const rows = await tx.select().from(tokens).where(eq(tokens.id, id)).for('update');
  return rows[0] ?? null;
}

/** In the order in which they were created. */
export async function listTokens(db: Database | Transaction, page: PageRequest): Promise<Page<Token>> {
  const rows = await db
    .select()
    .from(tokens)
    .where(behind(tokens, page.after))
    .orderBy(asc(tokens.createdAt), asc(tokens.id))
    .limit(page.limit + 1);
  return keysetPage(rows, page.limit);
}

/** Stores a token. An existing token stays as it is; returns whether it was stored. */
export async function createToken(db: Database | Transaction, token: Token): Promise<boolean> {
  const rows = await db
    .insert(tokens)
    .values(rowOf(token))
    .onConflictDoNothing({ target: tokens.sha256 })
    .returning({ id: tokens.id });
  return rows.length > 0;
}

/**
 * Stores the configured token. If a token with this text was revoked when it left the configuration, it is valid again.
 * Returns its id, or null if it is valid already.
 */
export async function keepConfiguredToken(tx: Transaction, token: Token): Promise<string | null> {
  const [row] = await tx
    .insert(tokens)
    .values(rowOf(token))
    .onConflictDoUpdate({
      target: tokens.sha256,
      set: { revokedAt: null },
      setWhere: sql`${tokens.origin} = 'api_token' and ${tokens.revokedAt} is not null`,
    })
    .returning({ id: tokens.id });
  await announce(tx, token.sha256);
  return row?.id ?? null;
}

/** Revokes a token, for all processes as soon as the transaction is committed. */
export async function revokeStoredToken(tx: Transaction, { id, sha256 }: Token, at: Instant): Promise<void> {
  await tx.update(tokens).set({ revokedAt: at }).where(eq(tokens.id, id));
  await announce(tx, sha256);
}

/** Revokes the tokens that the configuration had before, except the one with `keptSha256`. Returns their ids. */
export async function revokeFormerConfiguredTokens(
  tx: Transaction,
  keptSha256: string | null,
  at: Instant,
): Promise<string[]> {
  const others: (SQL | undefined)[] = [eq(tokens.origin, 'api_token'), isNull(tokens.revokedAt)];
  if (keptSha256 !== null) others.push(ne(tokens.sha256, keptSha256));
  const rows = await tx
    .update(tokens)
    .set({ revokedAt: at })
    .where(and(...others))
    .returning({ id: tokens.id, sha256: tokens.sha256 });
  for (const { sha256 } of rows) await announce(tx, sha256);
  return rows.map(({ id }) => id);
}

/** Drizzle writes lists that may be changed. */
function rowOf(token: Token) {
  return { ...token, permissions: token.permissions === null ? null : [...token.permissions] };
}

async function announce(tx: Transaction, sha256: string): Promise<void> {
  await tx.execute(sql`select pg_notify(${TOKENS_CHANNEL}, ${sha256})`);
}

/** Records when tokens were used; an earlier instant than the stored one changes nothing. */
export async function noteUses(db: Database, uses: ReadonlyMap<string, Instant>): Promise<void> {
  const rows = [...uses].map(([id, at]) => ({ id, at: formatInstant(at) }));
  await db.execute(sql`
    update ${tokens} set last_used_at = greatest(${tokens.lastUsedAt}, used.at)
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as used(id uuid, at timestamptz)
    where ${tokens.id} = used.id`);
}

/** Counts all tokens that this service has created, revoked ones included. */
export async function countIssuedTokens(db: Database | Transaction): Promise<number> {
  const rows = await db.select({ tokens: count() }).from(tokens).where(eq(tokens.origin, 'issued'));
  return rows[0]?.tokens ?? 0;
}
