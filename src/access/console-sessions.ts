/**
 * Sessions of the console: somebody who signed in with a token, a passkey or at an identity provider, or opened the
 * link of the first start, for some hours.
 *
 * Owns: the lifetime of a session, and its text, a random value like that of a token. Does not own: rows
 * (`store/access/console-sessions.ts`, `person-sessions.ts`), the cookie and the origin of requests
 * (`api/http/session.ts`), passkeys (`passkeys.ts`).
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { Refusal } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/time.ts';
import {
  createConsoleSession,
  deleteConsoleSession,
  findConsoleSession,
  openConsoleLink,
} from '../store/access/console-sessions.ts';
import type { Person } from '../store/access/people.ts';
import {
  deletePersonSession,
  findPersonSession,
  insertPersonSession,
  noteSessionUse,
} from '../store/access/person-sessions.ts';
import { findTokenBySha256, type Token } from '../store/access/tokens.ts';
import type { Database, Transaction } from '../store/base/database.ts';
import { asIdentification } from '../store/base/request-unit.ts';
import type { ProviderTokens } from './identity-provider.ts';
import { permissionsOfPerson } from './people.ts';
import { sealTokens } from './provider-tokens.ts';
import type { RefreshSession } from './session-refresh.ts';
import type { Visit } from './sign-in-log.ts';
import { type Actor, actorOfToken, hashToken, isUsable } from './tokens.ts';

/** The lifetime of the link that the first start prints. */
const LINK_MS = HOUR_MS;
/** Uses are written once in this time. */
const USE_MS = MINUTE_MS;
/** How the texts of sessions begin, so that one table is read. A random text alone could begin with either. */
const OF_PERSON = 'p_';
const OF_TOKEN = 't_';

/** Hours after its beginning, and hours without a request, after which a session ends. */
export interface SessionLimits {
  readonly hours: number;
  readonly idleHours: number;
}

export const SESSION_LIMITS: SessionLimits = { hours: 12, idleHours: 8 };

export interface OpenSession {
  readonly id: string;
  readonly actor: Actor;
  readonly expiresAt: Instant;
}

/** A new session with its text, which cannot be read again. */
export interface BegunSession extends OpenSession {
  readonly text: string;
}

type From = Pick<Visit, 'ip' | 'userAgent'>;

/** The session at an identity provider. */
interface ProviderSession {
  readonly session: string | null;
  readonly tokens: ProviderTokens;
}

export interface ConsoleSessions {
  /** Begins a session with the text of a token. Refuses an invalid one (`unauthenticated`). */
  signIn(token: string, from: From): Promise<BegunSession>;
  /** Begins a session with a link, once. Refuses a link that was opened before or has expired (`unauthenticated`). */
  openLink(link: string, from: From): Promise<BegunSession>;
  /** Begins a session of a person who has shown who it is. Refuses a disabled one (`unauthenticated`). */
  beginOf(tx: Transaction, person: Person, from: From, provider?: ProviderSession): Promise<BegunSession>;
  /** The session with this text; null if it has ended, or if its token or person has. */
  find(text: string): Promise<OpenSession | null>;
  /** Ends the session, in every process. */
  signOut(text: string): Promise<void>;
  /** The text of a link for this token, which opens one session. */
  newLink(token: string): Promise<string | null>;
}

interface Context {
  readonly db: Database;
  readonly clock: Clock;
  readonly limits?: SessionLimits;
  /** Called when a session is used, with the id of its token. */
  onUse?(tokenId: string, now: Instant): void;
  /** Reads the roles of a person at the identity provider again, if it is time. */
  readonly refresh?: RefreshSession | undefined;
}

export function createConsoleSessions(context: Context): ConsoleSessions {
  const { db, clock } = context;
  const find: ConsoleSessions['find'] = (text) =>
    (text.startsWith(OF_PERSON) ? findOfPerson : findOfToken)(context, text, clock.now());
  return {
    find,
    async signIn(tokenText, from) {
      const now = clock.now();
      const token = await usableToken(context, tokenText, now);
      if (token === null) throw new Refusal('unauthenticated', 'Unknown, expired or revoked token');
      const expiresAt = now + sessionMsOf(context);
      const begun = await store(context, { kind: 'session', tokenId: token.id, now, expiresAt }, from);
      return { ...begun, actor: { ...actorOfToken(token), sessionId: begun.id }, expiresAt };
    },
    async openLink(link, from) {
      const now = clock.now();
      const text = newText(OF_TOKEN);
      const times = { createdAt: now, expiresAt: now + sessionMsOf(context) };
      const session = { sha256: hashToken(text), ...times, ...whence(from) };
      const isOpen = await db.transaction((tx) => openConsoleLink(tx, hashToken(link), session));
      const begun = isOpen ? await find(text) : null;
      if (begun === null) throw new Refusal('unauthenticated', LINK_GONE);
      return { ...begun, text };
    },
    beginOf: (tx, person, from, provider) => beginOf(context, tx, { person, from, provider }),
    async signOut(text) {
      await (text.startsWith(OF_PERSON) ? deletePersonSession : deleteConsoleSession)(db, hashToken(text));
    },
    async newLink(tokenText) {
      const now = clock.now();
      const token = await usableToken(context, tokenText, now);
      if (token === null) return null;
      const link = { kind: 'link', tokenId: token.id, now, expiresAt: now + LINK_MS } as const;
      return (await store(context, link, { ip: null, userAgent: null })).text;
    },
  };
}

const LINK_GONE = 'The link was opened before, or has expired: sign in with a token';

function newText(beginning: string): string {
  return beginning + randomBytes(24).toString('base64url');
}

function sessionMsOf({ limits = SESSION_LIMITS }: Context): number {
  return limits.hours * HOUR_MS;
}

function idleMsOf({ limits = SESSION_LIMITS }: Context): number {
  return limits.idleHours * HOUR_MS;
}

async function usableToken({ db }: Context, text: string, now: Instant): Promise<Token | null> {
  const token = await asIdentification(() => findTokenBySha256(db, hashToken(text)));
  return token !== null && isUsable(token, now) ? token : null;
}

async function store(
  { db }: Context,
  {
    kind,
    tokenId,
    now,
    expiresAt,
  }: { kind: 'link' | 'session'; tokenId: string; now: Instant; expiresAt: Instant },
  from: From,
) {
  const text = newText(OF_TOKEN);
  const id = newId();
  const row = { id, tokenId, sha256: hashToken(text), kind, createdAt: now, expiresAt };
  await db.transaction((tx) => createConsoleSession(tx, { ...row, ...whence(from) }));
  return { id, text };
}

async function noteUse(
  { db }: Context,
  session: { readonly id: string; readonly personId: string | null },
  lastSeenAt: Instant,
  now: Instant,
): Promise<void> {
  if (now - lastSeenAt >= USE_MS) await asIdentification(() => noteSessionUse(db, session, now));
}

async function findOfToken(context: Context, text: string, now: Instant): Promise<OpenSession | null> {
  const found = await asIdentification(() => findConsoleSession(context.db, hashToken(text), now));
  if (found === null || !isUsable(found.token, now)) return null;
  const lastSeenAt = found.lastSeenAt ?? found.createdAt;
  if (lastSeenAt + idleMsOf(context) <= now) return null;
  context.onUse?.(found.token.id, now);
  const { id, expiresAt } = found;
  await noteUse(context, { id, personId: null }, lastSeenAt, now);
  return { id, actor: { ...actorOfToken(found.token), sessionId: id }, expiresAt };
}

async function findOfPerson(context: Context, text: string, now: Instant): Promise<OpenSession | null> {
  const { db, refresh } = context;
  const sha256 = hashToken(text);
  const found = await asIdentification(() => findPersonSession(db, sha256, now, now - idleMsOf(context)));
  if (found === null || found.person.disabledAt !== null) return null;
  const { session } = found;
  const person = refresh === undefined ? found.person : await refresh(text, session, found.person);
  if (person === null) return null;
  await noteUse(context, session, session.lastSeenAt, now);
  const actor = await asIdentification(() => actorOfPerson(db, person, session.id));
  return { id: session.id, actor, expiresAt: session.expiresAt };
}

async function beginOf(
  context: Context,
  tx: Transaction,
  { person, from, provider }: { person: Person; from: From; provider: ProviderSession | undefined },
): Promise<BegunSession> {
  if (person.disabledAt !== null) throw new Refusal('unauthenticated', NOBODY_KNOWN);
  const now = context.clock.now();
  const text = newText(OF_PERSON);
  const [id, expiresAt] = [newId(), now + sessionMsOf(context)];
  await insertPersonSession(tx, {
    ...{ id, personId: person.id, sha256: hashToken(text), createdAt: now, expiresAt, lastSeenAt: now },
    ...whence(from),
    providerSession: provider?.session ?? null,
    refreshToken: provider === undefined ? null : sealTokens(text, provider.tokens),
    refreshedAt: typeof provider?.tokens.refreshToken === 'string' ? now : null,
  });
  return { id, text, actor: await actorOfPerson(tx, person, id), expiresAt };
}

/** The same for an unknown passkey and a disabled person. */
export const NOBODY_KNOWN = 'Nobody signs in with this';

async function actorOfPerson(db: Database | Transaction, person: Person, sessionId: string): Promise<Actor> {
  const { id, name, email, roles } = person;
  const permissions = await permissionsOfPerson(db, person);
  return { id, name, email, role: roles.join(', '), scope: null, permissions, sessionId };
}

const USER_AGENT_LENGTH_MAX = 500;

function whence({ ip, userAgent }: From) {
  return { ip, userAgent: userAgent?.slice(0, USER_AGENT_LENGTH_MAX) ?? null };
}
