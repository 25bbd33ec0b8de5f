/** Sessions of the console by the SHA-256 of their text; the text itself is never stored. */
import { and, eq, gt, lte } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { consoleSessions } from './console-sessions.tables.ts';
import { tokens } from './tokens.tables.ts';
import type { Token } from './tokens.ts';

export interface ConsoleSession {
  readonly id: string;
  readonly tokenId: string;
  /** Lower-case hex. */
  readonly sha256: string;
  /** A link begins a session, once. */
  readonly kind: 'link' | 'session';
  readonly createdAt: Instant;
  /** Valid before this instant. */
  readonly expiresAt: Instant;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** Stores a session or a link, and removes those that have expired. */
export async function createConsoleSession(tx: Transaction, session: ConsoleSession): Promise<void> {
  await tx.delete(consoleSessions).where(lte(consoleSessions.expiresAt, session.createdAt));
  await tx.insert(consoleSessions).values(session);
}

interface FoundSession {
  readonly id: string;
  readonly token: Token;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly lastSeenAt: Instant | null;
}

/** The session that is valid at `now`, with its token, which may be expired or revoked. */
export async function findConsoleSession(
  db: Database | Transaction,
  sha256: string,
  now: Instant,
): Promise<FoundSession | null> {
  const rows = await db
    .select({
      ...{ token: tokens, id: consoleSessions.id, createdAt: consoleSessions.createdAt },
      ...{ expiresAt: consoleSessions.expiresAt, lastSeenAt: consoleSessions.lastSeenAt },
    })
    .from(consoleSessions)
    .innerJoin(tokens, eq(tokens.id, consoleSessions.tokenId))
    .where(
      and(
        eq(consoleSessions.sha256, sha256),
        eq(consoleSessions.kind, 'session'),
        gt(consoleSessions.expiresAt, now),
      ),
    );
  return rows[0] ?? null;
}

/**
 * Turns a link into a session with another text. If several requests do so concurrently, one succeeds. Returns whether
 * this one did.
 */
export async function openConsoleLink(
  tx: Transaction,
  linkSha256: string,
  session: Pick<ConsoleSession, 'sha256' | 'createdAt' | 'expiresAt' | 'ip' | 'userAgent'>,
): Promise<boolean> {
  const rows = await tx
    .update(consoleSessions)
    .set({ ...session, kind: 'session' })
    .where(
      and(
        eq(consoleSessions.sha256, linkSha256),
        eq(consoleSessions.kind, 'link'),
        gt(consoleSessions.expiresAt, session.createdAt),
      ),
    )
    .returning({ id: consoleSessions.id });
  return rows.length > 0;
}

export async function deleteConsoleSession(db: Database | Transaction, sha256: string): Promise<void> {
  await db.delete(consoleSessions).where(eq(consoleSessions.sha256, sha256));
}
