/** Authentication of callers: tokens, sessions of the console, links to dashboards; and request rates. */
import { createConsoleSessions, SESSION_LIMITS } from '../../access/console-sessions.ts';
import { createDashboardLinks } from '../../access/dashboard-links.ts';
import { createIdentityProvider } from '../../access/identity-provider.ts';
import { createPasskeys } from '../../access/passkeys.ts';
import { createTakeUpPerson } from '../../access/provider-people.ts';
import { createProviderSignIn } from '../../access/provider-sign-in.ts';
import { createRateLimits } from '../../access/rate-limits.ts';
import { createSessionRefresh } from '../../access/session-refresh.ts';
import { createSignInLog } from '../../access/sign-in-log.ts';
import { createAuthenticator } from '../../access/tokens.ts';
import type { Clock } from '../../core/clock.ts';
import type { ProviderConfig } from '../../core/provider-settings.ts';
import { TOKENS_CHANNEL } from '../../store/access/tokens.ts';
import type { ApplicationParts } from './application-parts.ts';
import type { RunningList } from './running-list.ts';

export type Access = ReturnType<typeof createAccess>;

export function createAccess({ config, stores, log }: ApplicationParts, clock: Clock, running: RunningList) {
  const { db } = stores;
  const authenticator = createAuthenticator({ db, clock });
  const subscription = stores.listen?.(TOKENS_CHANNEL, {
    onMessage: authenticator.forget,
    onConnected: authenticator.distrustAll,
  });
  if (subscription !== undefined) running.add('subscriptions', subscription);
  running.add('readers', authenticator);
  const limits = config.sessionLimits ?? SESSION_LIMITS;
  const company =
    config.identityProvider === undefined ? null : companyParts(config.identityProvider, clock, log);
  const refresh = company === null ? undefined : createSessionRefresh({ db, clock, ...company });
  const sessions = createConsoleSessions({ db, clock, limits, onUse: authenticator.noteUse, refresh });
  return {
    authenticator,
    sessions,
    passkeys: createPasskeys({ db, clock, sessions }),
    signIns: createSignInLog({ db, clock }),
    providerSignIn: company === null ? null : createProviderSignIn({ db, clock, sessions, ...company }),
    links: createDashboardLinks({ db, clock }),
    takeRequest:
      config.requestRates === undefined
        ? undefined
        : createRateLimits(config.requestRates, () => performance.now()),
  };
}

function companyParts(config: ProviderConfig, clock: Clock, log: ApplicationParts['log']) {
  return {
    provider: createIdentityProvider({
      config,
      onFailure: (reason) => log.warn({ issuer: config.issuer, reason }, 'the identity provider fails'),
    }),
    takeUp: createTakeUpPerson(config.roles, clock),
    admins: config.roles.admins,
  };
}
