import { describe, expect, it } from 'vitest';
import { claimAt, labelsOfClaims, rolesOfClaims } from '../../../src/access/provider-roles.ts';
import type { RoleRules } from '../../../src/core/provider-settings.ts';

const rules: RoleRules = {
  claim: 'groups',
  mapped: [
    { value: 'billing-fin', role: 'finance' },
    { value: 'care', role: 'support' },
    { value: 'money', role: 'finance' },
  ],
  defaultRole: undefined,
  admins: ['ada@acme.example'],
};
const ada = { email: 'Ada@Acme.example', email_verified: true };

describe('roles of claims', () => {
  it.each<readonly [what: string, claims: Record<string, unknown>, roles: readonly string[]]>([
    ['a list', { groups: ['billing-fin', 'other'] }, ['finance']],
    ['a text', { groups: 'care' }, ['support']],
    ['keys of an object', { groups: { care: { org: 'acme' }, x: true } }, ['support']],
    ['several, united, each once', { groups: ['money', 'care', 'billing-fin'] }, ['finance', 'support']],
    ['a list with odd members', { groups: [null, 7, ['care'], { care: 1 }, 'care'] }, ['support']],
    [
      'a thousand groups',
      { groups: [...Array.from({ length: 1_000 }, (_, at) => `g${at}`), 'care'] },
      ['support'],
    ],
    ['none', {}, []],
    ['null', { groups: null }, []],
    ['a number', { groups: 7 }, []],
    ['a truth', { groups: true }, []],
    ['another case of letters', { groups: ['Care'] }, []],
    ['a part of a value', { groups: ['care team', 'car', 'care,money'] }, []],
    ['a value around which blanks stand', { groups: [' care'] }, []],
    ['names that objects inherit', { groups: { ['__proto__']: 1, constructor: 1 } }, []],
    ['an administrator by a verified address', { ...ada }, ['admin']],
    ['an administrator who also has a group', { ...ada, groups: ['care'] }, ['admin', 'support']],
    ['an administrator, where the provider sends a word', { ...ada, email_verified: 'true' }, ['admin']],
    ['an address that is not verified', { ...ada, email_verified: false }, []],
    ['an address of which nobody says so', { email: ada.email }, []],
    ['an address that is no text', { email: [ada.email], email_verified: true }, []],
    [
      'an address with another behind it',
      { email: 'ada@acme.example eve@x.example', email_verified: true },
      [],
    ],
  ])('roles of claims: %s', (_what, claims, roles) => {
    expect(rolesOfClaims(rules, claims)).toEqual(roles);
  });

  it('roles of claims: the default role counts where the claim gives none', () => {
    const withDefault = { ...rules, defaultRole: 'analyst' };
    expect(rolesOfClaims(withDefault, { groups: ['other'] })).toEqual(['analyst']);
    expect(rolesOfClaims(withDefault, { groups: ['care'] })).toEqual(['support']);
    expect(rolesOfClaims(withDefault, ada)).toEqual(['admin']);
  });

  it.each([
    ['realm_access.roles', { realm_access: { roles: ['care'] } }],
    ['https://acme.example/roles', { 'https://acme.example/roles': ['care'] }],
    ['a.b', { 'a.b': ['care'], a: { b: ['money'] } }],
  ])('roles of claims: %s names the claim, or the way into it', (claim, claims) => {
    expect(rolesOfClaims({ ...rules, claim }, claims)).toEqual(['support']);
  });

  it('roles of claims: a way through a text, a list or an inherited member leads nowhere', () => {
    expect(claimAt({ a: 'text' }, 'a.length')).toBeUndefined();
    expect(claimAt({ a: ['x'] }, 'a.0')).toBeUndefined();
    expect(claimAt({ a: {} }, 'a.constructor.name')).toBeUndefined();
  });
});

describe('labels of claims', () => {
  it.each([
    [{ name: 'Ada', preferred_username: 'al', email: 'a@b.example', sub: '1' }, 'Ada', 'a@b.example'],
    [{ name: ' \u0000 ', preferred_username: 'al', sub: '1' }, 'al', null],
    [{ name: { first: 'Ada' }, email: 'a@b.example', sub: '1' }, 'a@b.example', 'a@b.example'],
    [{ email: 'no address', sub: '1' }, '1', null],
    [{ name: 'x'.repeat(500), sub: '1' }, `${'x'.repeat(199)}…`, null],
    [{ name: 'half \ud800', sub: '1' }, 'half \ufffd', null],
  ])('labels of claims: %j', (claims, name, email) => {
    expect(labelsOfClaims(claims)).toEqual({ name, email });
  });
});
