import { describe, expect, it } from 'vitest';
import { everyRouteOfApp } from '../../../../scripts/reference/every-route.ts';
import { permissionsOfRoles } from '../../../../src/access/roles.ts';
import { DECIDED_OPERATIONS, permissionOf } from '../../../../src/api/http/permissions.ts';
import {
  BUILT_IN_ROLES,
  builtInRole,
  PERMISSIONS,
  type Permission,
  SCOPE_PERMISSIONS,
} from '../../../../src/core/permissions.ts';
import { TOKEN_SCOPES } from '../../../../src/core/token-scopes.ts';

const routes = everyRouteOfApp().filter(({ scope }) => scope !== 'public');

describe('permissions of operations', () => {
  it('every operation that is not public has its permission in the table, and the table no other', () => {
    const known = routes.map(({ operationId }) => operationId);
    expect(known.filter((id) => !DECIDED_OPERATIONS.has(id))).toEqual([]);
    expect([...DECIDED_OPERATIONS].filter((id) => !known.includes(id))).toEqual([]);
  });

  it('a token of each scope may call the operations that it could when there were no permissions', () => {
    const differing = TOKEN_SCOPES.flatMap((scope) =>
      routes.filter((route) => {
        const needed = permissionOf(route);
        const could = scope === 'write' || route.scope === scope;
        return needed !== null && could !== SCOPE_PERMISSIONS[scope].has(needed);
      }),
    );
    expect(differing.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('an operation that changes something needs a permission to write, and one that reads a permission to read', () => {
    const wrong = routes.filter((route) => {
      const needed = permissionOf(route);
      const reads = route.scope === 'read' || route.method === 'get';
      return needed !== null && needed.endsWith(':read') !== reads;
    });
    expect(wrong.map(({ operationId }) => operationId)).toEqual([]);
  });
});

describe('roles of a person', () => {
  const auditor = { name: 'auditor', permissions: ['settings:read'], createdAt: 0, archivedAt: null };

  it('several roles are united, and an archived or unknown role gives nothing', () => {
    const of = (names: string[], archivedAt: number | null = null) =>
      permissionsOfRoles(names, [{ ...auditor, archivedAt }]);
    expect([...of(['auditor'])]).toEqual(['settings:read']);
    expect(of(['auditor', 'support']).has('deliveries:write')).toBe(true);
    expect([...of(['auditor', 'nobody'], 1)]).toEqual([]);
  });
});

describe('built-in roles', () => {
  const has = (role: string, permission: Permission) =>
    builtInRole(role)?.permissions.includes(permission) === true;

  it('the role admin has every permission, and no other role those of tokens, people and settings to write', () => {
    expect(builtInRole('admin')?.permissions).toEqual(PERMISSIONS);
    const kept: Permission[] = [
      'tokens:read',
      'tokens:write',
      'people:read',
      'people:write',
      'settings:write',
    ];
    const holders = BUILT_IN_ROLES.filter(({ name }) => kept.some((each) => has(name, each)));
    expect(holders.map(({ name }) => name)).toEqual(['admin']);
  });

  it('the role support sees no prices, contracts or SQL, and changes nothing but deliveries', () => {
    const all = builtInRole('support')?.permissions ?? [];
    expect(all.filter((each) => /^(prices|contracts|sql)/.test(each))).toEqual([]);
    expect(all.filter((each) => each.endsWith(':write'))).toEqual(['deliveries:write']);
  });

  it('the roles analyst and developer change no money', () => {
    const money = /^(invoices|contracts|prices|balances|customers|deliveries|approvals):write$/;
    for (const name of ['analyst', 'developer']) {
      expect(builtInRole(name)?.permissions.filter((each) => money.test(each))).toEqual([]);
    }
  });
});
