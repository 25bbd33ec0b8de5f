/** The settings of sign-in at an identity provider (OpenID Connect), docs/how-to/identity-provider.md. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { entries } from './settings.ts';

/** A value of the role claim, and the role that it gives. */
interface MappedRole {
  readonly value: string;
  readonly role: string;
}

export interface RoleRules {
  /** A name of a claim, or names of nested ones with dots between them. */
  readonly claim: string;
  readonly mapped: readonly MappedRole[];
  /** The role of who has none of them; undefined: no entry. */
  readonly defaultRole: string | undefined;
  /** Verified addresses of persons who are admin whatever the claim says, in lower case. */
  readonly admins: readonly string[];
}

/** The proof that a request to the provider is from this service. */
export type ClientCredential = { readonly secret: string } | { readonly privateKey: KeyObject };

export interface ProviderConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly credential: ClientCredential;
  /** Separated by blanks. */
  readonly scopes: string;
  readonly roles: RoleRules;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether a text is an issuer: https, or http on this machine, which tests and trials use. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash, username, password } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
  return isSafe && [search, hash, username, password].every((part) => part === '');
}

const KEY_TYPES = ['rsa', 'ec'];

/** PEM, in which environment files write line breaks as a backslash and an n. */
const privateKey = z.string().transform((text, context): KeyObject => {
  try {
    const key = createPrivateKey(text.replaceAll('\\n', '\n'));
    if (KEY_TYPES.includes(key.asymmetricKeyType ?? '')) return key;
  } catch {
    // The message could quote the key.
  }
  context.addIssue('must be a private key of RSA or an elliptic curve as PEM, without a password');
  return z.NEVER;
});

const roleName = z.string().regex(/^[^\s,=]{1,100}$/, 'must be the name of a role');

const mappedRoles = entries.transform((texts, context): readonly MappedRole[] =>
  texts.map((text) => {
    const at = text.lastIndexOf('=');
    const [value, role] = [text.slice(0, Math.max(at, 0)).trim(), text.slice(at + 1).trim()];
    if (value !== '' && roleName.safeParse(role).success) return { value, role };
    context.addIssue(`must be claim value=role, separated by commas, not "${text}"`);
    return z.NEVER;
  }),
);

const admins = entries.transform((texts, context): readonly string[] => {
  const wrong = texts.find((text) => !/^[^\s@]+@[^\s@]+$/.test(text));
  if (wrong !== undefined) context.addIssue(`must be addresses such as kim@acme.example, not "${wrong}"`);
  return texts.map((text) => text.toLowerCase());
});

export const providerSettings = {
  OIDC_ISSUER: z
    .string()
    .refine(isIssuer, 'must be a URL with https, or with http on this machine, without a query')
    .optional()
    .describe(
      'Issuer of the identity provider (OpenID Connect) at which persons sign in to the console, as its discovery document names it. When unset, persons sign in with passkeys and tokens only.',
    ),
  OIDC_CLIENT_ID: z
    .string()
    .regex(/^[\x21-\x7e]{1,256}$/, 'must be printable ASCII without spaces, at most 256 characters')
    .optional()
    .describe('Id of this service at the identity provider.'),
  OIDC_CLIENT_SECRET: z
    .string()
    .regex(/^[\x20-\x7e]{1,512}$/, 'must be printable ASCII, at most 512 characters')
    .optional()
    .describe('Secret of this service at the identity provider.'),
  OIDC_PRIVATE_KEY: privateKey
    .optional()
    .describe(
      'Private key with which this service signs instead of OIDC_CLIENT_SECRET (`private_key_jwt`): PEM, lines separated by \\n. The provider has the public key.',
    ),
  OIDC_SCOPES: z
    .string()
    .regex(/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/, 'must be scopes separated by blanks')
    .refine((text) => text.split(' ').includes('openid'), 'must contain openid')
    .default('openid profile email')
    .describe(
      'Scopes that are asked for. Many providers need `offline_access` here to give the refresh token with which roles are read again every hour.',
    ),
  OIDC_ROLE_CLAIM: z
    .string()
    .regex(/^[\x21-\x7e]{1,256}$/, 'must be printable ASCII without spaces, at most 256 characters')
    .default('groups')
    .describe(
      'Claim with the groups or roles of a person: a text, a list, or an object whose keys count. A name with dots that is no claim leads into nested ones, such as `realm_access.roles`.',
    ),
  OIDC_ROLES: mappedRoles.describe(
    'Roles by the values of the claim: `claim value=role`, separated by commas. Several roles are united.',
  ),
  OIDC_DEFAULT_ROLE: roleName
    .optional()
    .describe('Role of persons to whom OIDC_ROLES gives none. When unset, they are refused.'),
  OIDC_ADMINS: admins.describe(
    'Addresses of persons who are admin whatever the claim says, separated by commas. They count where the provider says that they are verified.',
  ),
};

interface ProviderEnvironment {
  readonly OIDC_ISSUER?: string | undefined;
  readonly OIDC_CLIENT_ID?: string | undefined;
  readonly OIDC_CLIENT_SECRET?: string | undefined;
  readonly OIDC_PRIVATE_KEY?: KeyObject | undefined;
  readonly OIDC_SCOPES: string;
  readonly OIDC_ROLE_CLAIM: string;
  readonly OIDC_ROLES: readonly MappedRole[];
  readonly OIDC_DEFAULT_ROLE?: string | undefined;
  readonly OIDC_ADMINS: readonly string[];
}

/** Checks that the settings can be used together. */
export function checkProviderSettings(env: ProviderEnvironment, context: z.RefinementCtx): void {
  const refuse = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = env;
  const credentials = [env.OIDC_CLIENT_SECRET, env.OIDC_PRIVATE_KEY].filter((each) => each !== undefined);
  if (issuer === undefined) {
    if (clientId !== undefined || credentials.length > 0) refuse('OIDC_CLIENT_ID', 'needs OIDC_ISSUER');
    return;
  }
  if (clientId === undefined) refuse('OIDC_ISSUER', 'needs OIDC_CLIENT_ID');
  if (credentials.length === 0) refuse('OIDC_ISSUER', 'needs OIDC_CLIENT_SECRET or OIDC_PRIVATE_KEY');
  if (credentials.length > 1) refuse('OIDC_PRIVATE_KEY', 'cannot be set beside OIDC_CLIENT_SECRET');
  const gives =
    env.OIDC_ROLES.length + env.OIDC_ADMINS.length + (env.OIDC_DEFAULT_ROLE === undefined ? 0 : 1);
  if (gives === 0)
    refuse('OIDC_ISSUER', 'needs OIDC_ROLES, OIDC_DEFAULT_ROLE or OIDC_ADMINS: nobody could sign in');
}

export function providerConfig(env: ProviderEnvironment): ProviderConfig | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = env;
  const credential = credentialOf(env);
  if (issuer === undefined || clientId === undefined || credential === null) return undefined;
  return {
    ...{ issuer, clientId, credential, scopes: env.OIDC_SCOPES },
    roles: {
      claim: env.OIDC_ROLE_CLAIM,
      mapped: env.OIDC_ROLES,
      defaultRole: env.OIDC_DEFAULT_ROLE,
      admins: env.OIDC_ADMINS,
    },
  };
}

function credentialOf(env: ProviderEnvironment): ClientCredential | null {
  if (env.OIDC_PRIVATE_KEY !== undefined) return { privateKey: env.OIDC_PRIVATE_KEY };
  return env.OIDC_CLIENT_SECRET === undefined ? null : { secret: env.OIDC_CLIENT_SECRET };
}
