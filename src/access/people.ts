/**
 * Persons: who may sign in, with which roles.
 *
 * Does not own: how they sign in (`passkeys.ts`), their sessions (`console-sessions.ts`), roles (`roles.ts`).
 */
import { randomBytes } from 'node:crypto';
import { conflict, invalid, notFound } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import type { Page, PageRequest } from '../core/paging.ts';
import { builtInRole, type Permissions } from '../core/permissions.ts';
import { DAY_MS, type Instant } from '../core/time.ts';
import {
  deletePasskeys,
  endAccessOfPerson,
  findPeopleByEmail,
  forgetNamesInAuditLog,
  insertPerson,
  insertPersonLink,
  listPeople as listStoredPeople,
  lockPerson,
  type Person,
  updatePerson,
} from '../store/access/people.ts';
import { listStoredRoles } from '../store/access/roles.ts';
import type { Database, Transaction } from '../store/base/database.ts';
import type { AccessContext } from './access-context.ts';
import { refuseMore } from './given-permissions.ts';
import { permissionsOfRoles, ROLES_MAX } from './roles.ts';
import { hashToken } from './tokens.ts';

export type { Person };

type Context = Pick<AccessContext, 'db' | 'clock'>;

/** How long a link for a passkey works. */
const LINK_MS = 7 * DAY_MS;
const ERASED_NAME = 'erased person';

/** A person with a link to set a passkey, which cannot be read again. */
export interface InvitedPerson {
  readonly person: Person;
  readonly link: string;
  readonly linkExpiresAt: Instant;
}

/** The permissions of a person at this moment. */
export async function permissionsOfPerson(
  db: Database | Transaction,
  { roles }: Pick<Person, 'roles'>,
): Promise<Permissions> {
  const isBuiltIn = roles.every((name) => builtInRole(name) !== undefined);
  return permissionsOfRoles(roles, isBuiltIn ? [] : await listStoredRoles(db, ROLES_MAX));
}

/**
 * Invites a person. Refuses an address that a person has (`conflict`), a role that does not exist (`invalid`), and one
 * with a permission that the giver lacks (`forbidden`); giver null: the operator.
 */
export async function invitePerson(
  { db, clock }: Context,
  { email, name, role }: { readonly email: string; readonly name: string | null; readonly role: string },
  giver: Permissions | null,
): Promise<InvitedPerson> {
  return await db.transaction(async (tx) => {
    await refuseRole(tx, role, giver);
    if ((await findPeopleByEmail(tx, email)).length > 0)
      throw conflict(`${email} is invited already: reset the person for another link`);
    const now = clock.now();
    const person: Person = {
      ...{ id: newId(), name: name ?? email, email, roles: [role], createdAt: now },
      ...{ issuer: null, subject: null, disabledAt: null, erasedAt: null, lastSeenAt: null },
    };
    await insertPerson(tx, person);
    return { person, ...(await newLink(tx, person.id, now)) };
  });
}

/** In the order of creation, disabled and erased ones too. */
export function listPeople({ db }: Pick<Context, 'db'>, page: PageRequest): Promise<Page<Person>> {
  return listStoredPeople(db, page);
}

/**
 * Gives a person another role. Refuses as `invitePerson`, a person with more permissions than the giver, and one whose
 * roles an identity provider states (`conflict`).
 */
export async function setRole(
  { db }: Context,
  { id, role }: { readonly id: string; readonly role: string },
  giver: Permissions | null,
): Promise<Person> {
  return await db.transaction(async (tx) => {
    const person = await managedPerson(tx, id, giver);
    if (person.issuer !== null) throw conflict(`the identity provider states the roles of ${person.name}`);
    await refuseRole(tx, role, giver);
    await updatePerson(tx, id, { roles: [role] });
    return { ...person, roles: [role] };
  });
}

/** Disables a person, whose sessions end at once in every process, or lets the person sign in again. */
export async function disablePerson(
  { db, clock }: Context,
  { id, isDisabled }: { readonly id: string; readonly isDisabled: boolean },
  giver: Permissions | null,
): Promise<Person> {
  return await db.transaction(async (tx) => {
    const person = await managedPerson(tx, id, giver);
    const disabledAt = isDisabled ? (person.disabledAt ?? clock.now()) : null;
    await updatePerson(tx, id, { disabledAt });
    if (isDisabled) await endAccessOfPerson(tx, id);
    return { ...person, disabledAt };
  });
}

/** Removes the passkeys of a person, ends all sessions, and returns a link for a new passkey. */
export async function resetPerson(
  { db, clock }: Context,
  id: string,
  giver: Permissions | null,
): Promise<InvitedPerson> {
  return await db.transaction(async (tx) => {
    const person = await managedPerson(tx, id, giver);
    if (person.issuer !== null)
      throw conflict(`${person.name} signs in at an identity provider, without a passkey`);
    if (person.disabledAt !== null) throw conflict(`${person.name} is disabled`);
    await endAccessOfPerson(tx, id);
    await deletePasskeys(tx, id);
    return { person, ...(await newLink(tx, id, clock.now())) };
  });
}

/** Removes what identifies a person who left. Rows of the audit log stay, under the id alone. Idempotent. */
export async function erasePerson(
  { db, clock }: Context,
  id: string,
  giver: Permissions | null,
): Promise<Person> {
  return await db.transaction(async (tx) => {
    const person = await lockPerson(tx, id);
    if (person === null) throw notFound('person', id);
    if (person.erasedAt !== null) return person;
    refuseMore(giver, await permissionsOfPerson(tx, person));
    const now = clock.now();
    const gone = {
      ...{ name: ERASED_NAME, email: null, issuer: null, subject: null, roles: [] },
      ...{ disabledAt: person.disabledAt ?? now, erasedAt: now },
    };
    await endAccessOfPerson(tx, id);
    await deletePasskeys(tx, id);
    await updatePerson(tx, id, gone);
    await forgetNamesInAuditLog(tx, id, ERASED_NAME);
    return { ...person, ...gone };
  });
}

async function managedPerson(tx: Transaction, id: string, giver: Permissions | null): Promise<Person> {
  const person = await lockPerson(tx, id);
  if (person === null) throw notFound('person', id);
  if (person.erasedAt !== null) throw conflict(`person ${id} is erased`);
  refuseMore(giver, await permissionsOfPerson(tx, person));
  return person;
}

async function refuseRole(tx: Transaction, role: string, giver: Permissions | null): Promise<void> {
  const permissions = await permissionsOfPerson(tx, { roles: [role] });
  if (permissions.size === 0) throw invalid(['role'], `must be a role that is not archived; ${role} is none`);
  refuseMore(giver, permissions);
}

async function newLink(tx: Transaction, personId: string, now: Instant) {
  const link = randomBytes(24).toString('base64url');
  const linkExpiresAt = now + LINK_MS;
  await insertPersonLink(tx, {
    ...{ id: newId(), personId, sha256: hashToken(link), createdAt: now },
    ...{ expiresAt: linkExpiresAt, usedAt: null },
  });
  return { link, linkExpiresAt };
}
