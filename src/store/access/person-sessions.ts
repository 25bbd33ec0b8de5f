/** Sessions of persons by the SHA-256 of their text, and the list of all sessions. */
import { and, desc, eq, gt, inArray, lt, lte, or, type SQL } from 'drizzle-orm';
import { isUuid } from '../../core/ids.ts';
import type { KeysetPosition } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { consoleSessions } from './console-sessions.tables.ts';
import { people, personSessions } from './people.tables.ts';
import type { Person } from './people.ts';
import { tokens } from './tokens.tables.ts';

export type PersonSession = typeof personSessions.$inferSelect;

/** Stores a session, and removes those that have expired. */
export async function insertPersonSession(tx: Transaction, session: PersonSession): Promise<void> {
  await tx.delete(personSessions).where(lte(personSessions.expiresAt, session.createdAt));
  await tx.insert(personSessions).values(session);
}

/** The session that is valid at `now` and was used after `usedAfter`, with its person, who may be disabled. */
export async function findPersonSession(
  db: Database | Transaction,
  sha256: string,
  now: Instant,
  usedAfter: Instant,
): Promise<{ readonly session: PersonSession; readonly person: Person } | null> {
  const rows = await db
    .select({ session: personSessions, person: people })
    .from(personSessions)
    .innerJoin(people, eq(people.id, personSessions.personId))
    .where(
      and(
        eq(personSessions.sha256, sha256),
        gt(personSessions.expiresAt, now),
        gt(personSessions.lastSeenAt, usedAfter),
      ),
    );
  return rows[0] ?? null;
}

/** Records that a session of either kind was used. */
export async function noteSessionUse(
  db: Database,
  { id, personId }: { readonly id: string; readonly personId: string | null },
  now: Instant,
): Promise<void> {
  if (personId === null) {
    await db.update(consoleSessions).set({ lastSeenAt: now }).where(eq(consoleSessions.id, id));
    return;
  }
  await db.update(personSessions).set({ lastSeenAt: now }).where(eq(personSessions.id, id));
  await db.update(people).set({ lastSeenAt: now }).where(eq(people.id, personId));
}

/** The sealed tokens of the identity provider in a session; null if it has none. */
export async function findPersonSessionTokens(db: Database, sha256: string): Promise<string | null> {
  const rows = await db
    .select({ tokens: personSessions.refreshToken })
    .from(personSessions)
    .where(eq(personSessions.sha256, sha256));
  return rows[0]?.tokens ?? null;
}

/**
 * Sets when a session was refreshed, if that was `before`. If several requests do so concurrently, one succeeds. Returns
 * whether this one did.
 */
export async function claimRefresh(
  db: Database,
  id: string,
  before: Instant,
  refreshedAt: Instant,
): Promise<boolean> {
  const rows = await db
    .update(personSessions)
    .set({ refreshedAt })
    .where(and(eq(personSessions.id, id), eq(personSessions.refreshedAt, before)))
    .returning({ id: personSessions.id });
  return rows.length > 0;
}

/** Stores the new tokens of a session; `refreshedAt` null: its roles were not read. */
export async function keepRefreshed(
  tx: Transaction,
  id: string,
  refreshToken: string,
  refreshedAt: Instant | null,
): Promise<void> {
  const at = refreshedAt === null ? {} : { refreshedAt };
  await tx
    .update(personSessions)
    .set({ refreshToken, ...at })
    .where(eq(personSessions.id, id));
}

/** The sessions that end at an identity provider: one, or without its name all of a person. */
export interface ProviderLogout {
  readonly issuer: string;
  readonly subject: string | null;
  readonly session: string | null;
}

export async function deleteSessionsOfProvider(
  tx: Transaction,
  { issuer, subject, session }: ProviderLogout,
): Promise<void> {
  const ofIssuer = tx
    .select({ id: people.id })
    .from(people)
    .where(and(eq(people.issuer, issuer), subject === null ? undefined : eq(people.subject, subject)));
  const one = session === null ? undefined : eq(personSessions.providerSession, session);
  await tx.delete(personSessions).where(and(inArray(personSessions.personId, ofIssuer), one));
}

export async function deletePersonSession(db: Database | Transaction, sha256: string): Promise<void> {
  await db.delete(personSessions).where(eq(personSessions.sha256, sha256));
}

/** A session of a person or of a token, as lists show it. */
export interface ListedSession {
  readonly id: string;
  readonly actorId: string;
  readonly actorName: string;
  readonly actorEmail: string | null;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly lastSeenAt: Instant | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

interface SessionsWanted {
  /** Null: those of everybody. */
  readonly actorId: string | null;
  readonly now: Instant;
  readonly after: KeysetPosition | null;
  readonly limit: number;
}

/** At most `limit` sessions of persons and as many of tokens that are valid at `now`, the newest first. */
export async function listSessionsOfBothKinds(
  db: Database,
  { actorId, now, after, limit }: SessionsWanted,
): Promise<ListedSession[]> {
  const ofPersons = await db
    .select({
      ...{ id: personSessions.id, actorId: people.id, actorName: people.name, actorEmail: people.email },
      ...{ createdAt: personSessions.createdAt, expiresAt: personSessions.expiresAt },
      ...{
        lastSeenAt: personSessions.lastSeenAt,
        ip: personSessions.ip,
        userAgent: personSessions.userAgent,
      },
    })
    .from(personSessions)
    .innerJoin(people, eq(people.id, personSessions.personId))
    .where(
      and(
        gt(personSessions.expiresAt, now),
        actorId === null ? undefined : eq(people.id, actorId),
        before(personSessions, after),
      ),
    )
    .orderBy(desc(personSessions.createdAt), desc(personSessions.id))
    .limit(limit);
  const ofTokens = await db
    .select({
      ...{ id: consoleSessions.id, actorId: tokens.id, actorName: tokens.name },
      ...{ createdAt: consoleSessions.createdAt, expiresAt: consoleSessions.expiresAt },
      ...{
        lastSeenAt: consoleSessions.lastSeenAt,
        ip: consoleSessions.ip,
        userAgent: consoleSessions.userAgent,
      },
    })
    .from(consoleSessions)
    .innerJoin(tokens, eq(tokens.id, consoleSessions.tokenId))
    .where(
      and(
        eq(consoleSessions.kind, 'session'),
        gt(consoleSessions.expiresAt, now),
        actorId === null ? undefined : eq(tokens.id, actorId),
        before(consoleSessions, after),
      ),
    )
    .orderBy(desc(consoleSessions.createdAt), desc(consoleSessions.id))
    .limit(limit);
  return [...ofPersons, ...ofTokens.map((session) => ({ ...session, actorEmail: null }))];
}

function before(
  columns: typeof personSessions | typeof consoleSessions,
  after: KeysetPosition | null,
): SQL | undefined {
  if (after === null) return undefined;
  return or(lt(columns.createdAt, after.at), and(eq(columns.createdAt, after.at), lt(columns.id, after.id)));
}

/** The person or token of a session; null if there is no such session. */
export async function findOwnerOfSession(db: Database | Transaction, id: string): Promise<string | null> {
  if (!isUuid(id)) return null;
  const [ofPerson] = await db
    .select({ owner: personSessions.personId })
    .from(personSessions)
    .where(eq(personSessions.id, id));
  if (ofPerson !== undefined) return ofPerson.owner;
  const [ofToken] = await db
    .select({ owner: consoleSessions.tokenId })
    .from(consoleSessions)
    .where(and(eq(consoleSessions.id, id), eq(consoleSessions.kind, 'session')));
  return ofToken?.owner ?? null;
}

export async function deleteSession(tx: Transaction, id: string): Promise<void> {
  await tx.delete(personSessions).where(eq(personSessions.id, id));
  await tx.delete(consoleSessions).where(eq(consoleSessions.id, id));
}
