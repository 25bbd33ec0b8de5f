/**
 * Sessions of the console: a person who signed in with a token, or opened the link of the first start, for some hours.
 *
 * Owns: the lifetime of a session, and its text, a random value like that of a token. Does not own: rows
 * (`store/access/console-sessions.ts`), the cookie and the origin of requests (`api/http/session.ts`).
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { Refusal } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { HOUR_MS, type Instant } from '../core/time.ts';
import {
  createConsoleSession,
  deleteConsoleSession,
  findConsoleSession,
  openConsoleLink,
} from '../store/access/console-sessions.ts';
import { findTokenBySha256, type Token } from '../store/access/tokens.ts';
import type { Database } from '../store/base/database.ts';
import { asIdentification } from '../store/base/request-unit.ts';
import { type Actor, actorOfToken, hashToken, isUsable } from './tokens.ts';

/** A working day. */
const SESSION_MS = 12 * HOUR_MS;
/** The lifetime of the link that the first start prints. */
const LINK_MS = HOUR_MS;

export interface OpenSession {
  readonly actor: Actor;
  readonly expiresAt: Instant;
}

/** A new session with its text, which cannot be read again. */
interface BegunSession extends OpenSession {
  readonly text: string;
}

export interface ConsoleSessions {
  /** Begins a session with the text of a token. Refuses an invalid one (`unauthenticated`). */
  signIn(token: string): Promise<BegunSession>;
  /** Begins a session with a link, once. Refuses a link that was opened before or has expired (`unauthenticated`). */
  openLink(link: string): Promise<BegunSession>;
  /** The session with this text; null if it has ended, or if its token has. */
  find(text: string): Promise<OpenSession | null>;
  /** Ends the session, in every process. */
  signOut(text: string): Promise<void>;
  /** The text of a link for this token, which opens one session. */
  newLink(token: string): Promise<string | null>;
}

export function createConsoleSessions(deps: {
  readonly db: Database;
  readonly clock: Clock;
  /** Called when a session is used, with the id of its token. */
  onUse?(tokenId: string, now: Instant): void;
}): ConsoleSessions {
  const { db, clock } = deps;

  async function usableToken(text: string, now: Instant): Promise<Token | null> {
    const token = await asIdentification(() => findTokenBySha256(db, hashToken(text)));
    return token !== null && isUsable(token, now) ? token : null;
  }

  async function store(kind: 'link' | 'session', tokenId: string, now: Instant, expiresAt: Instant) {
    const text = randomBytes(24).toString('base64url');
    const row = { id: newId(), tokenId, sha256: hashToken(text), kind, createdAt: now, expiresAt };
    await db.transaction((tx) => createConsoleSession(tx, row));
    return text;
  }

  async function find(text: string): Promise<OpenSession | null> {
    const now = clock.now();
    const found = await asIdentification(() => findConsoleSession(db, hashToken(text), now));
    if (found === null || !isUsable(found.token, now)) return null;
    deps.onUse?.(found.token.id, now);
    return { actor: actorOfToken(found.token), expiresAt: found.expiresAt };
  }

  return {
    find,
    async signIn(tokenText) {
      const now = clock.now();
      const token = await usableToken(tokenText, now);
      if (token === null) throw new Refusal('unauthenticated', 'Unknown, expired or revoked token');
      const expiresAt = now + SESSION_MS;
      const text = await store('session', token.id, now, expiresAt);
      return { text, actor: actorOfToken(token), expiresAt };
    },
    async openLink(link) {
      const now = clock.now();
      const text = randomBytes(24).toString('base64url');
      const session = { sha256: hashToken(text), createdAt: now, expiresAt: now + SESSION_MS };
      const isOpen = await db.transaction((tx) => openConsoleLink(tx, hashToken(link), session));
      const begun = isOpen ? await find(text) : null;
      if (begun === null) {
        throw new Refusal(
          'unauthenticated',
          'The link was opened before, or has expired: sign in with a token',
        );
      }
      return { ...begun, text };
    },
    async signOut(text) {
      await deleteConsoleSession(db, hashToken(text));
    },
    async newLink(tokenText) {
      const now = clock.now();
      const token = await usableToken(tokenText, now);
      return token === null ? null : store('link', token.id, now, now + LINK_MS);
    },
  };
}
