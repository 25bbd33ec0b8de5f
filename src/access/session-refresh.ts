/**
 * Reads the roles of a person who is signed in at the identity provider again: at the first request after an hour, by
 * the clock of the service. A provider that is away ends nothing; one that refuses ends the session.
 */
import type { Clock } from '../core/clock.ts';
import { Refusal } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/time.ts';
import type { Person } from '../store/access/people.ts';
import {
  claimRefresh,
  deleteSession,
  keepRefreshed,
  type PersonSession,
} from '../store/access/person-sessions.ts';
import type { Database } from '../store/base/database.ts';
import { asIdentification } from '../store/base/request-unit.ts';
import type { IdentityProvider } from './identity-provider.ts';
import type { TakeUpPerson } from './provider-people.ts';
import { openTokens, sealTokens } from './provider-tokens.ts';

const REFRESH_MS = HOUR_MS;
/** Until another request tries a refresh that was not finished. */
const AGAIN_MS = MINUTE_MS;

/** The person as the provider states it now; null: the session has ended. */
export type RefreshSession = (text: string, session: PersonSession, person: Person) => Promise<Person | null>;

interface Context {
  readonly db: Database;
  readonly clock: Clock;
  readonly provider: Pick<IdentityProvider, 'issuer' | 'refresh'>;
  readonly takeUp: TakeUpPerson;
}

export function createSessionRefresh(context: Context): RefreshSession {
  const { db, clock } = context;
  return async (text, session, person) => {
    const { refreshedAt } = session;
    const now = clock.now();
    if (refreshedAt === null || now < refreshedAt + REFRESH_MS) return person;
    // One request does it, in all processes: a refresh token counts once. The others continue with the former roles.
    const again = now - REFRESH_MS + AGAIN_MS;
    const isMine = await asIdentification(() => claimRefresh(db, session.id, refreshedAt, again));
    return isMine ? await refreshed(context, { text, session, person, now }) : person;
  };
}

interface Due {
  readonly text: string;
  readonly session: PersonSession;
  readonly person: Person;
  readonly now: Instant;
}

async function refreshed(context: Context, due: Due): Promise<Person | null> {
  const { db, provider, takeUp } = context;
  const { text, session, person, now } = due;
  const { issuer, subject } = person;
  const tokens = session.refreshToken === null ? null : openTokens(text, session.refreshToken);
  const refreshToken = tokens?.refreshToken ?? null;
  if (tokens === null || refreshToken === null || subject === null || issuer !== provider.issuer) {
    return await ended(context, session);
  }
  try {
    const stated = await provider.refresh(refreshToken, tokens, subject);
    if (stated === null) return await ended(context, session);
    const { claims } = stated;
    const sealed = sealTokens(text, stated.tokens);
    return await asIdentification(() =>
      db.transaction(async (tx) => {
        await keepRefreshed(tx, session.id, sealed, claims === null ? null : now);
        return claims === null ? person : await takeUp(tx, { issuer, subject, claims }, newId());
      }),
    );
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'unavailable') return person;
    throw error;
  }
}

async function ended({ db }: Context, session: PersonSession): Promise<null> {
  await asIdentification(() => db.transaction((tx) => deleteSession(tx, session.id)));
  return null;
}
