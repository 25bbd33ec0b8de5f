/**
 * Sign-in and sign-out at the identity provider: attempts, the sessions that they begin, and their end there.
 *
 * An attempt is a row, so that any process takes the answer. It belongs to one browser, by a cookie, and counts once.
 * Does not own: the protocol (`identity-provider.ts`), pages and cookies (`api/http/provider-pages.ts`).
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { invalid, Refusal } from '../core/errors.ts';
import {
  deleteSessionsOfProvider,
  findPersonSessionTokens,
  type ProviderLogout,
} from '../store/access/person-sessions.ts';
import { keepAttempt, takeAttempt, useOnce } from '../store/access/sign-ins.ts';
import type { Database } from '../store/base/database.ts';
import { type BegunSession, type ConsoleSessions, NOBODY_KNOWN } from './console-sessions.ts';
import { type IdentityProvider, signInSecrets } from './identity-provider.ts';
import type { Site } from './passkeys.ts';
import type { TakeUpPerson } from './provider-people.ts';
import { openTokens } from './provider-tokens.ts';
import type { Visit } from './sign-in-log.ts';
import { hashToken } from './tokens.ts';

const ATTEMPT_MINUTES = 10;
/** Longer than a message about a sign-out is valid, with the skew of clocks. */
const LOGOUT_MINUTES = 10;
const CALLBACK = '/console/oidc/callback';
const CONSOLE = '/console';

/** A person proved who it is, and no role is stated. */
export const NO_ROLE = 'The identity provider states no role here for this person';

export interface ProviderSignIn {
  readonly issuer: string;
  /** Addresses of administrators, whom a person without a role asks. */
  readonly admins: readonly string[];
  /** The address to send the browser to. `to`: the page of the console to come back to. */
  begin(given: { readonly browser: string; readonly to: string }, site: Site): Promise<string>;
  /**
   * Begins a session with the answer of the provider. Refuses (`unauthenticated`) what does not fit, a person without a
   * role and a disabled one; `unavailable` while the provider is.
   */
  complete(
    given: { readonly browser: string | null; readonly answer: URLSearchParams },
    site: Site,
    visit: Visit,
  ): Promise<BegunSession & { readonly to: string }>;
  /** Where the person of a session signs out at the provider; null: nowhere. */
  signOutAddress(sessionText: string, site: Site): Promise<string | null>;
  /** Ends the sessions that a message of the provider names. Refuses a message that does not fit (`invalid`). */
  endByMessage(message: string): Promise<void>;
}

interface Context {
  readonly db: Database;
  readonly clock: Clock;
  readonly provider: IdentityProvider;
  readonly takeUp: TakeUpPerson;
  readonly sessions: Pick<ConsoleSessions, 'beginOf'>;
}

export function createProviderSignIn(
  context: Context & { readonly admins: readonly string[] },
): ProviderSignIn {
  return {
    issuer: context.provider.issuer,
    admins: context.admins,
    begin: (given, site) => begin(context, given, site),
    complete: (given, site, visit) => complete(context, given, site, visit),
    signOutAddress: (sessionText, site) => signOutAddress(context, sessionText, site),
    endByMessage: (message) => endByMessage(context, message),
  };
}

/** The text that binds attempts to a browser. */
export function newBrowserText(): string {
  return randomBytes(24).toString('base64url');
}

const kept = signInSecrets.extend({ to: z.string() });

/** Several attempts of one browser are under way beside each other, each with its state. */
function attemptSha256(browser: string, state: string): string {
  return hashToken(`${browser} ${state}`);
}

/** A page of the console, never another address. */
function pageOf(to: string): string {
  return /^\/console(?:[/?][\w\-./?=&%~+,:]*)?$/.test(to) && !to.startsWith('/console/oidc') ? to : CONSOLE;
}

async function begin(
  { db, provider }: Context,
  { browser, to }: Parameters<ProviderSignIn['begin']>[0],
  { origin }: Site,
): Promise<string> {
  const { address, secrets } = await provider.begin(origin + CALLBACK);
  const row = { ...secrets, to: pageOf(to) } satisfies z.input<typeof kept>;
  const attempt = { kind: 'provider', personId: null, secrets: JSON.stringify(row) } as const;
  await keepAttempt(db, attemptSha256(browser, secrets.state), attempt, ATTEMPT_MINUTES);
  return address;
}

async function complete(
  { db, provider, takeUp, sessions }: Context,
  { browser, answer }: Parameters<ProviderSignIn['complete']>[0],
  { origin }: Site,
  visit: Visit,
): Promise<BegunSession & { readonly to: string }> {
  const sha256 = attemptSha256(browser ?? '', answer.get('state') ?? '');
  const attempt = browser === null ? null : await takeAttempt(db, sha256, 'provider');
  if (attempt === null) throw new Refusal('unauthenticated', 'This sign-in has ended: begin it again');
  const { to, ...secrets } = kept.parse(JSON.parse(attempt.secrets));
  const address = new URL(`${origin}${CALLBACK}?${answer}`);
  const { subject, claims, session, tokens } = await provider.complete(address, secrets);
  const stated = { issuer: provider.issuer, subject, claims };
  const begun = await db.transaction(async (tx) => {
    const person = await takeUp(tx, stated, visit.requestId);
    if (person === null) return null;
    if (person.disabledAt !== null) throw new Refusal('unauthenticated', NOBODY_KNOWN);
    return await sessions.beginOf(tx, person, visit, { session, tokens });
  });
  if (begun === null) throw new Refusal('unauthenticated', NO_ROLE);
  return { ...begun, to };
}

async function signOutAddress(
  { db, provider }: Context,
  sessionText: string,
  { origin }: Site,
): Promise<string | null> {
  const sealed = await findPersonSessionTokens(db, hashToken(sessionText));
  const tokens = sealed === null ? null : openTokens(sessionText, sealed);
  if (tokens === null) return null;
  try {
    return await provider.signOutAddress(tokens.idToken, origin + CONSOLE);
  } catch (error) {
    // The session here ends all the same.
    if (error instanceof Refusal && error.kind === 'unavailable') return null;
    throw error;
  }
}

async function endByMessage({ db, provider }: Context, message: string): Promise<void> {
  const { id, subject, session } = await readMessage(provider, message);
  const ends: ProviderLogout = { issuer: provider.issuer, subject, session };
  await db.transaction(async (tx) => {
    // Sent again later, it would end the next session of the person.
    if (await useOnce(tx, hashToken(`logout ${id}`), LOGOUT_MINUTES))
      await deleteSessionsOfProvider(tx, ends);
  });
}

async function readMessage(provider: IdentityProvider, message: string) {
  try {
    return await provider.readLogout(message);
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'unauthenticated') {
      throw invalid(['logout_token'], 'must be a message of the identity provider for this service');
    }
    throw error;
  }
}
