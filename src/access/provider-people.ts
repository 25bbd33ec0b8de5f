/**
 * Persons of the identity provider: created at their first sign-in, with the labels and roles that the provider states.
 *
 * Does not own: which roles claims give (`provider-roles.ts`), sessions.
 */
import type { Clock } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import type { RoleRules } from '../core/provider-settings.ts';
import { endAccessOfPerson, lockPersonOfIssuer, type Person, updatePerson } from '../store/access/people.ts';
import type { Transaction } from '../store/base/database.ts';
import { createAudit, type WriteAudit } from './audit.ts';
import { permissionsOfPerson } from './people.ts';
import { type Claims, labelsOfClaims, rolesOfClaims } from './provider-roles.ts';

/** The actor of changes that the provider has caused. */
const PROVIDER = { id: 'identity:provider', name: 'identity provider', email: null, role: null };

interface StatedPerson {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Claims;
}

/** Stores what the provider states of a person. Null: no role, which also ends the sessions that there were. */
export type TakeUpPerson = (
  tx: Transaction,
  stated: StatedPerson,
  requestId: string,
) => Promise<Person | null>;

export function createTakeUpPerson(rules: RoleRules, clock: Clock): TakeUpPerson {
  const audit = createAudit({ clock });
  return (tx, stated, requestId) => takeUp({ tx, rules, clock, audit, requestId }, stated);
}

interface Parts {
  readonly tx: Transaction;
  readonly rules: RoleRules;
  readonly clock: Clock;
  readonly audit: WriteAudit;
  readonly requestId: string;
}

async function takeUp(parts: Parts, { issuer, subject, claims }: StatedPerson): Promise<Person | null> {
  const { tx, rules, clock } = parts;
  const named = rolesOfClaims(rules, claims);
  // A role that is not there, or is archived, gives no entry.
  const roles = (await permissionsOfPerson(tx, { roles: named })).size === 0 ? [] : named;
  const stated = { ...labelsOfClaims(claims), roles };
  const fresh: Person = {
    ...stated,
    ...{ id: newId(), issuer, subject, createdAt: clock.now() },
    ...{ disabledAt: null, erasedAt: null, lastSeenAt: null },
  };
  const person = await lockPersonOfIssuer(tx, fresh, { isCreated: roles.length > 0 });
  if (person === null) return null;
  if (roles.length === 0) await endAccessOfPerson(tx, person.id);
  const isNew = person.id === fresh.id;
  if (!isNew) await updatePerson(tx, person.id, stated);
  if (isNew || person.roles.join() !== roles.join()) await writeRoles(parts, person, roles);
  return roles.length === 0 ? null : { ...person, ...stated };
}

async function writeRoles({ tx, audit, requestId }: Parts, { id }: Person, roles: readonly string[]) {
  await audit(
    tx,
    { actor: PROVIDER, requestId, ip: null, userAgent: null, action: 'setRoleOfPerson' },
    {
      ...{ status: 'success', resourceType: 'person', resourceId: id },
      description:
        roles.length === 0
          ? 'The identity provider states no role any more'
          : `The identity provider states ${roles.join(', ')}`,
    },
  );
}
