/** Persons, their passkeys, and the links with which they set one. */
import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm';
import { isUuid } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { behind, keysetPage } from '../base/keyset.ts';
import { auditLog } from './audit-log.tables.ts';
import { passkeys, people, personLinks, personSessions } from './people.tables.ts';

export type Person = typeof people.$inferSelect;
export type Passkey = typeof passkeys.$inferSelect;
type PersonLink = typeof personLinks.$inferSelect;

export async function insertPerson(tx: Transaction, person: Person): Promise<void> {
  await tx.insert(people).values(person);
}

export async function findPerson(db: Database | Transaction, id: string): Promise<Person | null> {
  if (!isUuid(id)) return null;
  const rows = await db.select().from(people).where(eq(people.id, id));
  return rows[0] ?? null;
}

/** The person, locked until the transaction ends. */
export async function lockPerson(tx: Transaction, id: string): Promise<Person | null> {
  if (!isUuid(id)) return null;
  const rows = await tx.select().from(people).where(eq(people.id, id)).for('update');
  return rows[0] ?? null;
}

/**
 * The person with the issuer and subject of `fresh`, locked until the transaction ends. If there is none, `fresh` is
 * stored where `isCreated`, else the result is null.
 */
export async function lockPersonOfIssuer(
  tx: Transaction,
  fresh: Person,
  { isCreated }: { readonly isCreated: boolean },
): Promise<Person | null> {
  if (isCreated) await tx.insert(people).values(fresh).onConflictDoNothing();
  const { issuer, subject } = fresh;
  if (issuer === null || subject === null) return null;
  const identity = and(eq(people.issuer, issuer), eq(people.subject, subject));
  const rows = await tx.select().from(people).where(identity).for('update');
  return rows[0] ?? null;
}

/** Persons with passkeys who have this address, in the order of creation. */
export async function findPeopleByEmail(db: Database | Transaction, email: string): Promise<Person[]> {
  return await db
    .select()
    .from(people)
    .where(and(eq(people.email, email), isNull(people.issuer), isNull(people.erasedAt)))
    .orderBy(asc(people.createdAt))
    .limit(2);
}

/** In the order of creation. */
export async function listPeople(db: Database | Transaction, page: PageRequest): Promise<Page<Person>> {
  const rows = await db
    .select()
    .from(people)
    .where(behind(people, page.after))
    .orderBy(asc(people.createdAt), asc(people.id))
    .limit(page.limit + 1);
  return keysetPage(rows, page.limit);
}

export async function updatePerson(
  tx: Transaction,
  id: string,
  change: Partial<Omit<Person, 'id' | 'createdAt'>>,
): Promise<void> {
  await tx.update(people).set(change).where(eq(people.id, id));
}

/** Ends all sessions of a person, in every process, and makes links that were not opened useless. */
export async function endAccessOfPerson(tx: Transaction, personId: string): Promise<void> {
  await tx.delete(personSessions).where(eq(personSessions.personId, personId));
  await tx.delete(personLinks).where(and(eq(personLinks.personId, personId), isNull(personLinks.usedAt)));
}

export async function deletePasskeys(tx: Transaction, personId: string): Promise<void> {
  await tx.delete(passkeys).where(eq(passkeys.personId, personId));
}

/** Removes name and address of a person from the audit log, whose rows stay under the id. */
export async function forgetNamesInAuditLog(tx: Transaction, personId: string, name: string): Promise<void> {
  await tx.update(auditLog).set({ actorName: name, actorEmail: null }).where(eq(auditLog.actorId, personId));
}

export async function insertPersonLink(tx: Transaction, link: PersonLink): Promise<void> {
  await tx.insert(personLinks).values(link);
}

/** The person whom a link is for that was not used and has not expired at `now`. */
export async function findPersonOfLink(
  db: Database | Transaction,
  sha256: string,
  now: Instant,
): Promise<Person | null> {
  const rows = await db
    .select({ person: people })
    .from(personLinks)
    .innerJoin(people, eq(people.id, personLinks.personId))
    .where(and(eq(personLinks.sha256, sha256), isNull(personLinks.usedAt), gt(personLinks.expiresAt, now)));
  return rows[0]?.person ?? null;
}

/** Uses a link. If several requests do so concurrently, one succeeds. Returns whether this one did. */
export async function usePersonLink(
  tx: Transaction,
  { sha256, personId }: { readonly sha256: string; readonly personId: string },
  now: Instant,
): Promise<boolean> {
  const rows = await tx
    .update(personLinks)
    .set({ usedAt: now })
    .where(
      and(
        eq(personLinks.sha256, sha256),
        eq(personLinks.personId, personId),
        isNull(personLinks.usedAt),
        gt(personLinks.expiresAt, now),
      ),
    )
    .returning({ id: personLinks.id });
  return rows.length > 0;
}

export async function listPasskeys(db: Database | Transaction, personId: string): Promise<Passkey[]> {
  return await db
    .select()
    .from(passkeys)
    .where(eq(passkeys.personId, personId))
    .orderBy(asc(passkeys.createdAt));
}

export async function findPasskey(
  db: Database | Transaction,
  credentialId: string,
): Promise<{ readonly passkey: Passkey; readonly person: Person } | null> {
  const rows = await db
    .select({ passkey: passkeys, person: people })
    .from(passkeys)
    .innerJoin(people, eq(people.id, passkeys.personId))
    .where(eq(passkeys.credentialId, credentialId));
  return rows[0] ?? null;
}

/** Stores a passkey. Returns whether it is a new one. */
export async function insertPasskey(tx: Transaction, passkey: Passkey): Promise<boolean> {
  const rows = await tx.insert(passkeys).values(passkey).onConflictDoNothing().returning({ id: passkeys.id });
  return rows.length > 0;
}

/** Records a use. The counter only grows; returns whether it did, or is not kept by the passkey (0). */
export async function usePasskey(
  tx: Transaction,
  id: string,
  counter: number,
  now: Instant,
): Promise<boolean> {
  const rows = await tx
    .update(passkeys)
    .set({ counter, lastUsedAt: now })
    .where(and(eq(passkeys.id, id), sql`(${passkeys.counter} < ${counter} or ${passkeys.counter} = 0)`))
    .returning({ id: passkeys.id });
  return rows.length > 0;
}
