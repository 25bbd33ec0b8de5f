/**
 * Which roles the claims of an identity provider give, and what they say of a person. Pure.
 *
 * Claims are what others wrote: every type is possible, and only the documented ones count.
 */
import { cutText } from '../core/cut-text.ts';
import type { RoleRules } from '../core/provider-settings.ts';

export type Claims = Readonly<Record<string, unknown>>;

const ADMIN = 'admin';
const NAME_LENGTH_MAX = 200;
/** The longest address that can be sent to. */
const EMAIL_LENGTH_MAX = 254;

/**
 * The names of the roles of a person, each once; empty: no entry. Roles of the claim are united. The default role counts
 * where there is none of them.
 */
export function rolesOfClaims(rules: RoleRules, claims: Claims): string[] {
  const values = new Set(textsOf(claimAt(claims, rules.claim)));
  const email = verifiedEmail(claims);
  const roles = [
    ...(email !== null && rules.admins.includes(email.toLowerCase()) ? [ADMIN] : []),
    ...rules.mapped.filter(({ value }) => values.has(value)).map(({ role }) => role),
  ];
  if (roles.length === 0 && rules.defaultRole !== undefined) return [rules.defaultRole];
  return [...new Set(roles)];
}

/** The value of a claim by its name, or where there is none by its path with dots; undefined if it is absent. */
export function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

/** Labels of a person for lists and the audit log. Nobody is found by them. */
export function labelsOfClaims(claims: Claims): { readonly name: string; readonly email: string | null } {
  const email = emailOf(claims);
  const names = [claims.name, claims.preferred_username, email, claims.sub];
  const name = names.map(plainText).find((text) => text !== '') ?? '';
  return { name: cutText(name, NAME_LENGTH_MAX), email };
}

/** A text, the texts of a list, or the keys of an object. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.filter((each) => typeof each === 'string');
  return isRecord(value) ? Object.keys(value) : [];
}

function emailOf({ email }: Claims): string | null {
  const text = plainText(email);
  return text.length <= EMAIL_LENGTH_MAX && /^[^\s@]+@[^\s@]+$/.test(text) ? text : null;
}

/** Some providers send the word. */
function verifiedEmail(claims: Claims): string | null {
  return [true, 'true'].some((yes) => claims.email_verified === yes) ? emailOf(claims) : null;
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/\p{Cc}/gu, '').trim() : '';
}

function isRecord(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
