/**
 * Roles: the built-in ones, and those that were created. A role is a list of permissions.
 *
 * Does not own: who has which (`people.ts`), the permissions of the built-in ones (`core/permissions.ts`).
 */
import { conflict, notFound } from '../core/errors.ts';
import {
  BUILT_IN_ROLES,
  builtInRole,
  isPermission,
  type Permission,
  type Permissions,
} from '../core/permissions.ts';
import type { Instant } from '../core/time.ts';
import { archiveStoredRole, insertRole, listStoredRoles, type StoredRole } from '../store/access/roles.ts';
import type { Database, Transaction } from '../store/base/database.ts';
import type { AccessContext } from './access-context.ts';
import { refuseMore } from './given-permissions.ts';

/** More than a company has kinds of work. */
export const ROLES_MAX = 100;

export interface Role {
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly isBuiltIn: boolean;
  readonly createdAt: Instant | null;
  readonly archivedAt: Instant | null;
}

/** The built-in roles, then the others by name, archived ones too. */
export async function listRoles({ db }: { readonly db: Database | Transaction }): Promise<Role[]> {
  const builtIn = BUILT_IN_ROLES.map(({ name, permissions }) => ({
    ...{ name, permissions },
    ...{ isBuiltIn: true, createdAt: null, archivedAt: null },
  }));
  return [...builtIn, ...(await listStoredRoles(db, ROLES_MAX)).map(roleOf)];
}

/**
 * Creates a role. Refuses a name that is or was in use, more roles than there may be (`conflict`), and a permission that
 * the giver does not have (`forbidden`).
 */
export async function createRole(
  { db, clock }: Pick<AccessContext, 'db' | 'clock'>,
  { name, permissions }: { readonly name: string; readonly permissions: readonly Permission[] },
  giver: Permissions,
): Promise<Role> {
  refuseMore(giver, permissions);
  if (builtInRole(name) !== undefined) throw conflict(`${name} is a built-in role`);
  return await db.transaction(async (tx) => {
    if ((await listStoredRoles(tx, ROLES_MAX)).length >= ROLES_MAX) {
      throw conflict(`there are ${ROLES_MAX} roles already, archived ones included`);
    }
    const role = { name, permissions: [...new Set(permissions)], createdAt: clock.now(), archivedAt: null };
    if (!(await insertRole(tx, role))) throw conflict(`the role ${name} exists, or has existed`);
    return roleOf(role);
  });
}

/**
 * Archives a role, which gives nothing from then on. Idempotent. Refuses a built-in one (`conflict`), and one that does
 * not exist (`not_found`).
 */
export async function archiveRole(
  { db, clock }: Pick<AccessContext, 'db' | 'clock'>,
  name: string,
): Promise<Role> {
  if (builtInRole(name) !== undefined) throw conflict(`${name} is a built-in role, which cannot be archived`);
  return await db.transaction(async (tx) => {
    const role = await archiveStoredRole(tx, name, clock.now());
    if (role === null) throw notFound('role', name);
    return roleOf(role);
  });
}

/** The permissions of all these roles together. Archived and unknown roles give nothing. */
export function permissionsOfRoles(names: readonly string[], stored: readonly StoredRole[]): Permissions {
  const all = names.flatMap((name): readonly Permission[] => {
    const own = stored.find((role) => role.name === name && role.archivedAt === null);
    return builtInRole(name)?.permissions ?? own?.permissions.filter(isPermission) ?? [];
  });
  return new Set(all);
}

function roleOf({ name, permissions, createdAt, archivedAt }: StoredRole): Role {
  return { name, permissions: permissions.filter(isPermission), isBuiltIn: false, createdAt, archivedAt };
}
