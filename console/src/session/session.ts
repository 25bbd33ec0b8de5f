/** The signed-in session, and the clock of the service. */
import { createContext, useContext } from 'react';
import type { AnswerOf } from '../api/client.ts';

type Answer = AnswerOf<'GET /console/session'>;

export interface Session {
  readonly name: string;
  readonly scope: 'ingest' | 'read' | 'write';
  /** The clock of the service, when the page was loaded. */
  readonly now: string;
  /** The offset of that clock from the local one. */
  readonly offsetMs: number;
}

/** The session of an answer received just now; null if nobody is signed in. */
export function sessionOf({ data, now }: Answer): Session | null {
  if (data === null) return null;
  // A list of permissions is shown as the scope nearest to it; the API refuses the rest.
  const scope = data.scope ?? (data.permissions.some((each) => each.endsWith(':write')) ? 'write' : 'read');
  return { name: data.name, scope, now, offsetMs: Date.parse(now) - Date.now() };
}

const context = createContext<Session | null>(null);
export const SessionProvider = context.Provider;

/** The session. Only for components below the sign-in. */
export function useSession(): Session {
  const session = useContext(context);
  if (session === null) throw new Error('nobody is signed in');
  return session;
}

/** Why a change is not allowed with this token; undefined if it is. */
export function useWriteRefusal(): string | undefined {
  const { scope } = useSession();
  return scope === 'write' ? undefined : `This needs a token of scope write; this one has scope ${scope}`;
}
