/**
 * The identity provider of the company (OpenID Connect): where browsers are sent, and what it says of a person.
 *
 * Owns: discovery, the exchange of a code, the check of what is signed, refreshes. Does not own: who may enter
 * (`provider-roles.ts`), attempts and sessions (`provider-sign-in.ts`). ID tokens are checked against the system's clock,
 * also in a sandbox.
 */
import type { KeyObject } from 'node:crypto';
import type { ClientAuth, Configuration, CryptoKey } from 'openid-client';
import { z } from 'zod';
import { Refusal } from '../core/errors.ts';
import { ownValue } from '../core/own-value.ts';
import type { ProviderConfig } from '../core/provider-settings.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { type Claims, claimAt } from './provider-roles.ts';

/** A provider that answers more slowly counts as unavailable. */
const TIMEOUT_SECONDS = 5;
const CLOCK_SKEW_SECONDS = 60;
/** Its addresses and keys are read again after this time, and when a signature has an unknown key. */
const DISCOVERY_MS = HOUR_MS;
/** Discoveries because of unknown keys: those of sign-ins come from the provider itself, those of others from anybody. */
const REDISCOVERY_MS = { signIn: SECOND_MS, signOut: MINUTE_MS } as const;
const LOGOUT_TOKEN_MINUTES = 5;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Never `none`, and nothing with the secret of the client as the key. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

const PROVIDER_AWAY = 'The identity provider is not available at the moment: try again later';
const PROVIDER_REFUSED = 'The answer of the identity provider does not fit this sign-in: begin it again';

/** Random texts of one sign-in, known to the service and the provider only. */
export const signInSecrets = z.object({ state: z.string(), nonce: z.string(), verifier: z.string() });
type SignInSecrets = z.output<typeof signInSecrets>;

export const providerTokens = z.object({ refreshToken: z.string().nullable(), idToken: z.string() });
export type ProviderTokens = z.output<typeof providerTokens>;

interface ProvenPerson {
  /** Unique at the issuer. */
  readonly subject: string;
  /** The session at the provider, if it names one. */
  readonly session: string | null;
  readonly claims: Claims;
  readonly tokens: ProviderTokens;
}

/** Null: the provider does not say at the moment. */
interface Refreshed {
  readonly claims: Claims | null;
  readonly tokens: ProviderTokens;
}

interface Logout {
  /** Unique for each message. */
  readonly id: string;
  readonly subject: string | null;
  readonly session: string | null;
}

/** Refuses with `unavailable` while the provider is away, and with `unauthenticated` what does not fit. */
export interface IdentityProvider {
  readonly issuer: string;
  /** The address that the browser is sent to, and what its answer has to fit. */
  begin(redirectUri: string): Promise<{ readonly address: string; readonly secrets: SignInSecrets }>;
  /** `answer`: the address that the browser came back to, with its query. */
  complete(answer: URL, secrets: SignInSecrets): Promise<ProvenPerson>;
  /** Null: the provider has ended the session. */
  refresh(refreshToken: string, of: ProviderTokens, subject: string): Promise<Refreshed | null>;
  /** Where the person signs out at the provider; null if it has no such page. */
  signOutAddress(idToken: string, returnTo: string): Promise<string | null>;
  /** Reads the message that a person has signed out there. */
  readLogout(token: string): Promise<Logout>;
}

interface Discovered {
  readonly configuration: Configuration;
  readonly keys: ReturnType<typeof import('jose')['createRemoteJWKSet']>;
  readonly atMs: number;
}

interface Context {
  readonly config: ProviderConfig;
  /** Called with what an operator has to know, without values of claims and tokens. */
  onFailure(reason: string): void;
}

interface Parts extends Context {
  discovered(maxAgeMs?: number): Promise<Discovered>;
}

/** Loaded when somebody signs in. */
const client = () => import('openid-client');
const jose = () => import('jose');

export function createIdentityProvider(context: Context): IdentityProvider {
  let last: Discovered | null = null;
  const parts: Parts = {
    ...context,
    async discovered(maxAgeMs = DISCOVERY_MS) {
      const known = last;
      if (known !== null && performance.now() - known.atMs < maxAgeMs) return known;
      try {
        last = await discover(context);
        return last;
      } catch (error) {
        context.onFailure(`discovery: ${reasonOf(error)}`);
        if (known !== null) return known;
        throw new Refusal('unavailable', PROVIDER_AWAY);
      }
    },
  };
  return {
    issuer: context.config.issuer,
    begin: (redirectUri) => begin(parts, redirectUri),
    complete: (answer, secrets) => complete(parts, answer, secrets),
    refresh: (refreshToken, of, subject) => refresh(parts, { refreshToken, of, subject }),
    signOutAddress: (idToken, returnTo) => signOutAddress(parts, idToken, returnTo),
    readLogout: (token) => readLogout(parts, token),
  };
}

async function discover({ config }: Context): Promise<Discovered> {
  const { discovery, clockTolerance, allowInsecureRequests } = await client();
  const { createRemoteJWKSet } = await jose();
  // The settings allow http for issuers on this machine only.
  const isHttp = config.issuer.startsWith('http:');
  const configuration = await discovery(
    new URL(config.issuer),
    config.clientId,
    { [clockTolerance]: CLOCK_SKEW_SECONDS },
    await clientAuthentication(config),
    { timeout: TIMEOUT_SECONDS, execute: isHttp ? [allowInsecureRequests] : [] },
  );
  const { issuer, jwks_uri: keysAt } = configuration.serverMetadata();
  if (issuer !== config.issuer) throw new Error('the discovery document names another issuer');
  if (keysAt === undefined) throw new Error('the discovery document names no keys');
  if (!isHttp && !keysAt.startsWith('https:')) throw new Error('the address of the keys is not https');
  const keys = createRemoteJWKSet(new URL(keysAt), { timeoutDuration: TIMEOUT_SECONDS * SECOND_MS });
  return { configuration, keys, atMs: performance.now() };
}

/** A secret as the provider takes it, by default in the header; or a signature with the private key. */
async function clientAuthentication({ credential }: ProviderConfig): Promise<ClientAuth> {
  const { ClientSecretBasic, ClientSecretPost, PrivateKeyJwt } = await client();
  if ('privateKey' in credential) return PrivateKeyJwt(await signingKey(credential.privateKey));
  const [basic, post] = [ClientSecretBasic(credential.secret), ClientSecretPost(credential.secret)];
  return (server, ...request) => {
    const taken = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (taken.includes('client_secret_basic') ? basic : post)(server, ...request);
  };
}

const ALGORITHM_OF_CURVE: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** RS256 for RSA, which every provider takes. */
async function signingKey(key: KeyObject): Promise<CryptoKey> {
  const { importPKCS8 } = await jose();
  const curve = key.asymmetricKeyDetails?.namedCurve ?? '';
  const algorithm = { ec: ownValue(ALGORITHM_OF_CURVE, curve), rsa: 'RS256' };
  const name = ownValue(algorithm, key.asymmetricKeyType ?? '');
  if (name === undefined) throw new Error(`keys of the curve ${curve} do not sign`);
  return await importPKCS8(key.export({ type: 'pkcs8', format: 'pem' }).toString(), name);
}

async function begin(parts: Parts, redirectUri: string) {
  const { configuration } = await parts.discovered();
  const library = await client();
  const secrets = {
    state: library.randomState(),
    nonce: library.randomNonce(),
    verifier: library.randomPKCECodeVerifier(),
  };
  const address = library.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: parts.config.scopes,
    state: secrets.state,
    nonce: secrets.nonce,
    code_challenge: await library.calculatePKCECodeChallenge(secrets.verifier),
    code_challenge_method: 'S256',
  });
  return { address: address.href, secrets };
}

async function complete(parts: Parts, answer: URL, secrets: SignInSecrets): Promise<ProvenPerson> {
  const { authorizationCodeGrant } = await client();
  const { configuration } = await parts.discovered();
  return await explained(parts, async () => {
    const given = await authorizationCodeGrant(configuration, answer, {
      expectedState: secrets.state,
      expectedNonce: secrets.nonce,
      pkceCodeVerifier: secrets.verifier,
    });
    const { id_token: idToken = '', access_token: accessToken, refresh_token: refreshToken = null } = given;
    const proven = await verified(parts, idToken, 'signIn');
    const { sub: subject, sid } = proven;
    if (!isSubject(subject)) throw new Refusal('unauthenticated', PROVIDER_REFUSED);
    return {
      subject,
      session: typeof sid === 'string' ? sid : null,
      claims: await withUserInfo(parts, proven, { accessToken, subject }),
      tokens: { refreshToken, idToken },
    };
  });
}

/** The specification allows 255 characters of ASCII. */
function isSubject(subject: unknown): subject is string {
  return typeof subject === 'string' && /^[\x20-\x7e]{1,255}$/.test(subject);
}

/** Many providers have no groups in the ID token. Signed claims take precedence. */
async function withUserInfo(
  parts: Parts,
  claims: Claims,
  { accessToken, subject }: { readonly accessToken: string; readonly subject: string },
): Promise<Claims> {
  const { configuration } = await parts.discovered();
  const isComplete = claimAt(claims, parts.config.roles.claim) !== undefined && claims.email !== undefined;
  if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  const { fetchUserInfo } = await client();
  return { ...(await fetchUserInfo(configuration, accessToken, subject)), ...claims };
}

interface Refresh {
  readonly refreshToken: string;
  readonly of: ProviderTokens;
  readonly subject: string;
}

/** An answer that is no plain refusal ends nothing: it is tried again. */
async function refresh(parts: Parts, { refreshToken, of, subject }: Refresh): Promise<Refreshed | null> {
  const { refreshTokenGrant } = await client();
  const { configuration } = await parts.discovered();
  const given = await refreshTokenGrant(configuration, refreshToken).catch(async (error: unknown) => {
    if (await isUsedUp(error)) return null;
    parts.onFailure(reasonOf(error));
    throw new Refusal('unavailable', PROVIDER_AWAY);
  });
  if (given === null) return null;
  const { access_token: accessToken, id_token: idToken } = given;
  const tokens = { refreshToken: given.refresh_token ?? refreshToken, idToken: idToken ?? of.idToken };
  try {
    return { claims: await refreshedClaims(parts, { idToken, accessToken, subject }), tokens };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // The former refresh token may be used up, so the new one is kept where only the rest fails.
    return error.kind === 'unavailable' ? { claims: null, tokens } : null;
  }
}

async function isUsedUp(error: unknown): Promise<boolean> {
  const { ResponseBodyError } = await client();
  return error instanceof ResponseBodyError && error.error === 'invalid_grant';
}

async function refreshedClaims(
  parts: Parts,
  {
    idToken,
    accessToken,
    subject,
  }: { readonly idToken: string | undefined; readonly accessToken: string; readonly subject: string },
): Promise<Claims> {
  return await explained(parts, async () => {
    const proven = idToken === undefined ? { sub: subject } : await verified(parts, idToken, 'signIn');
    if (proven.sub !== subject) throw new Refusal('unauthenticated', PROVIDER_REFUSED);
    return await withUserInfo(parts, proven, { accessToken, subject });
  });
}

async function signOutAddress(parts: Parts, idToken: string, returnTo: string): Promise<string | null> {
  const { configuration } = await parts.discovered();
  if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
  const { buildEndSessionUrl } = await client();
  const query = { id_token_hint: idToken, post_logout_redirect_uri: returnTo };
  return buildEndSessionUrl(configuration, query).href;
}

const logoutClaims = z
  .object({
    jti: z.string().min(1).max(500),
    sub: z.string().optional(),
    sid: z.string().optional(),
    events: z.object({ [LOGOUT_EVENT]: z.looseObject({}) }),
    nonce: z.never().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined);

async function readLogout(parts: Parts, token: string): Promise<Logout> {
  return await explained(parts, async () => {
    const claims = logoutClaims.safeParse(await verified(parts, token, 'signOut'));
    if (!claims.success) throw new Refusal('unauthenticated', PROVIDER_REFUSED);
    const { jti: id, sub: subject = null, sid: session = null } = claims.data;
    return { id, subject, session };
  });
}

/** The claims of a signed text of the provider for this service, which is valid now. */
async function verified(parts: Parts, token: string, purpose: keyof typeof REDISCOVERY_MS): Promise<Claims> {
  const { jwtVerify, errors } = await jose();
  const check = async ({ keys }: Discovered) => {
    const { payload } = await jwtVerify(token, keys, {
      ...{ issuer: parts.config.issuer, audience: parts.config.clientId, algorithms: ALGORITHMS },
      ...{ clockTolerance: CLOCK_SKEW_SECONDS, requiredClaims: ['iat'] },
      ...(purpose === 'signOut' ? { maxTokenAge: `${LOGOUT_TOKEN_MINUTES} minutes` } : {}),
    });
    return payload;
  };
  try {
    return await check(await parts.discovered());
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    // The keys of the provider have changed.
    return await check(await parts.discovered(REDISCOVERY_MS[purpose]));
  }
}

/** Codes of answers that do not fit. */
const REFUSED_CODES: readonly unknown[] = [
  ...['OAUTH_INVALID_RESPONSE', 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
  ...['OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', 'OAUTH_UNSUPPORTED_OPERATION'],
];

/** Turns failures of the libraries into refusals: their messages and causes may contain claims and tokens. */
async function explained<Result>(
  { onFailure }: Pick<Context, 'onFailure'>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const { AuthorizationResponseError } = await client();
    if (error instanceof AuthorizationResponseError) {
      throw new Refusal(
        'unauthenticated',
        `The identity provider has refused the sign-in${shown(error.error)}`,
      );
    }
    if ((await isUsedUp(error)) || (await isUnfit(error)))
      throw new Refusal('unauthenticated', PROVIDER_REFUSED);
    onFailure(reasonOf(error));
    throw new Refusal('unavailable', PROVIDER_AWAY);
  }
}

/** Whether a signed text, or an answer of the browser, does not fit. */
async function isUnfit(error: unknown): Promise<boolean> {
  const { errors } = await jose();
  if (error instanceof errors.JOSEError) {
    // The others are failures to read the keys.
    return error.code !== errors.JOSEError.code && !(error instanceof errors.JWKSTimeout);
  }
  return error instanceof Error && 'code' in error && REFUSED_CODES.includes(error.code);
}

function shown(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : '';
}

/** For the log: the kind of a failure. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = 'code' in error && typeof error.code === 'string' ? ` ${error.code}` : '';
  const told = 'error' in error && typeof error.error === 'string' ? shown(error.error) : '';
  return `${error.message}${code}${told}`;
}
