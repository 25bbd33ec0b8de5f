/**
 * Sign-ins and sign-outs in the audit log, and the limit of wrong ones from one address.
 *
 * Does not own: rows (`store/access/audit-log.ts`, `store/access/sign-ins.ts`), what signs in.
 */
import type { Clock } from '../core/clock.ts';
import { Refusal } from '../core/errors.ts';
import { countFailedSignIns, keepFailedSignIn } from '../store/access/sign-ins.ts';
import type { Database } from '../store/base/database.ts';
import { asIdentification } from '../store/base/request-unit.ts';
import { createAudit } from './audit.ts';
import type { Actor } from './tokens.ts';

const FAILURES_MAX = 20;
const FAILURES_MINUTES = 10;

/** The request of somebody who signs in. */
export interface Visit {
  /** The address that failures count for; null without a connection, in tests. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: string;
}

type Action = 'signIn' | 'signOut' | 'registerPasskey';

/** A session that has begun or ended. */
interface Session {
  readonly id: string;
  readonly actor: Actor;
}

export interface SignInLog {
  /**
   * Runs a sign-in: refuses (`overloaded`) an address with too many wrong ones, and records its success, or its refusal
   * (`unauthenticated`) with the message, which has no secret.
   */
  during<Result extends Session>(action: Action, visit: Visit, work: () => Promise<Result>): Promise<Result>;
  signedOut(session: Session, visit: Visit): Promise<void>;
}

const NOBODY = { id: 'anybody', name: 'anybody', email: null, role: null };

export function createSignInLog({ db, clock }: { readonly db: Database; readonly clock: Clock }): SignInLog {
  const audit = createAudit({ clock });

  async function write(
    { action, visit, actor }: { action: Action; visit: Visit; actor: typeof NOBODY | Actor },
    result: { status: 'success' | 'failure'; resourceId: string | null; description: string },
  ): Promise<void> {
    await audit(db, { ...visit, actor, action }, { ...result, resourceType: 'session' });
  }

  return {
    async during(action, visit, work) {
      const { ip } = visit;
      const failures =
        ip === null ? 0 : await asIdentification(() => countFailedSignIns(db, ip, FAILURES_MINUTES));
      if (failures >= FAILURES_MAX) {
        throw new Refusal(
          'overloaded',
          'Too many wrong sign-ins from this address: try again in ten minutes',
        );
      }
      try {
        const begun = await work();
        await write(
          { action, visit, actor: begun.actor },
          { status: 'success', resourceId: begun.id, description: DONE[action] },
        );
        return begun;
      } catch (error) {
        if (error instanceof Refusal && error.kind === 'unauthenticated') {
          if (ip !== null) await keepFailedSignIn(db, ip, FAILURES_MINUTES);
          const refused = { status: 'failure', resourceId: null, description: error.message } as const;
          await write({ action, visit, actor: NOBODY }, refused);
        }
        throw error;
      }
    },
    async signedOut({ id, actor }, visit) {
      const done = { status: 'success', resourceId: id, description: DONE.signOut } as const;
      await write({ action: 'signOut', visit, actor }, done);
    },
  };
}

const DONE: Readonly<Record<Action, string>> = {
  signIn: 'Begin a session',
  signOut: 'End a session',
  registerPasskey: 'Register a passkey and begin a session',
};
