/** The frame of every page: the session, the navigation, and sign-out. */
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { call } from '../api/client.ts';
import { useApi } from '../api/queries.ts';
import { Failure, Loading } from '../parts/states.tsx';
import { type Session, SessionProvider, sessionOf } from '../session/session.ts';
import { SignIn } from '../session/sign-in.tsx';
import { NAVIGATION } from './navigation.ts';
import styles from './shell.module.css';

export function Shell() {
  const client = useQueryClient();
  const query = useApi('GET /console/session', {}, { staleTime: Number.POSITIVE_INFINITY });
  const wasSignedIn = useRef(false);
  if (query.data === undefined) {
    return query.isError ? <Failure error={query.error} again={() => void query.refetch()} /> : <Loading />;
  }
  const session = sessionOf(query.data);
  if (session === null) {
    return (
      <SignIn
        hasEnded={wasSignedIn.current}
        provider={query.data.identity_provider ?? null}
        onSignedIn={(answer) => client.setQueryData(['GET /console/session', {}], answer)}
      />
    );
  }
  wasSignedIn.current = true;
  const signOut = async () => {
    const { sign_out_url: signOutUrl } = await call('DELETE /console/session', {});
    wasSignedIn.current = false;
    client.clear();
    await client.refetchQueries();
    location.assign(signOutUrl ?? '/console');
  };
  return <SignedIn session={session} signOut={signOut} />;
}

function SignedIn({ session, signOut }: { readonly session: Session; signOut(): Promise<void> }) {
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page begins at its top.
  useEffect(() => {
    // Newer browsers return a promise, which must not be mistaken for a cleanup function.
    void window.scrollTo(0, 0);
  }, [pathname]);
  return (
    <SessionProvider value={session}>
      <div className={styles.shell}>
        <button type="button" className={styles.skip} onClick={() => main.current?.focus()}>
          To the content
        </button>
        <header className={styles.side}>
          <Link to="/" className={styles.brand ?? ''}>
            <img src="/console/icon.svg" alt="" />
            tallyhouse
          </Link>
          <nav className={styles.links} aria-label="Pages of the console">
            {NAVIGATION.map(({ to, title }) => (
              <Link
                key={to}
                to={to}
                className={styles.link ?? ''}
                activeOptions={{ exact: to === '/', includeSearch: false }}
                activeProps={{ 'aria-current': 'page' }}
              >
                {title}
              </Link>
            ))}
          </nav>
          <div className={styles.who}>
            <span className={styles.about}>
              {session.name}, scope {session.scope}
            </span>
            <a className={styles.about} href="/guide">
              Guide
            </a>
            <a className={styles.about} href="/docs">
              API reference
            </a>
            <button type="button" data-kind="plain" onClick={() => void signOut()}>
              Sign out
            </button>
          </div>
        </header>
        <main className={styles.main} id="main" ref={main} tabIndex={-1}>
          {session.scope === 'ingest' ? <OnlySends /> : <Outlet />}
        </main>
      </div>
    </SessionProvider>
  );
}

function OnlySends() {
  return (
    <Failure error="This token may only send events. Sign in with a token of scope read or write to see anything." />
  );
}
