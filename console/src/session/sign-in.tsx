/** The form that exchanges a token for a session. The token is sent to the service once and stored nowhere here. */
import { type FormEvent, useEffect, useState } from 'react';
import { type AnswerOf, type BodyOf, call } from '../api/client.ts';
import { Failure } from '../parts/states.tsx';
import styles from './sign-in.module.css';
import { WithPasskey } from './with-passkey.tsx';

type Answer = AnswerOf<'POST /console/session'>;

interface SignInProps {
  /** Whether an earlier session has ended. */
  readonly hasEnded: boolean;
  /** The host of the identity provider; null without one. */
  readonly provider: string | null;
  onSignedIn(answer: Answer): void;
}

/** The key that the first start prints after `#`, removed from the address at once. */
function linkOfAddress(): string | null {
  const link = /^#([\w-]{20,})$/.exec(location.hash)?.[1] ?? null;
  if (link !== null) history.replaceState(null, '', location.pathname + location.search);
  return link;
}

const isInvitation = location.pathname.endsWith('/invite');
const secret = linkOfAddress();
const link = isInvitation ? null : secret;
const invitation = isInvitation ? secret : null;
let isLinkUsed = false;

export function SignIn({ hasEnded, provider, onSignedIn }: SignInProps) {
  const [error, setError] = useState<unknown>(null);
  const [isRunning, setRunning] = useState(false);
  const signIn = async (body: BodyOf<'POST /console/session'>) => {
    setRunning(true);
    try {
      onSignedIn(await call('POST /console/session', { body }));
    } catch (failure) {
      setError(failure);
      setRunning(false);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link is opened once.
  useEffect(() => {
    document.title = 'Sign in · tallyhouse';
    if (link === null || isLinkUsed) return;
    isLinkUsed = true;
    void signIn({ link });
  }, []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = new FormData(event.currentTarget).get('token');
    if (typeof token === 'string' && token.trim() !== '') void signIn({ token: token.trim() });
  };
  return (
    <main className={styles.place}>
      <form className={styles.form} onSubmit={submit}>
        <h1>tallyhouse</h1>
        {provider === null || isInvitation ? null : <AtProvider host={provider} />}
        <WithPasskey
          invitation={invitation}
          onSignedIn={(answer) => {
            // The address of the invitation is no page of the console.
            if (isInvitation) location.replace(location.pathname.replace(/\/invite$/, ''));
            else onSignedIn(answer);
          }}
        />
        {hasEnded ? (
          <p className="soft">Your session has ended. Sign in to continue where you were.</p>
        ) : null}
        <label>
          API token
          <input name="token" type="password" autoComplete="current-password" required spellCheck={false} />
        </label>
        {error === null ? null : <Failure error={error} />}
        <button type="submit" data-kind="main" disabled={isRunning}>
          Sign in
        </button>
        <p className="soft small">
          The first start prints a token and keeps it in <code>.data/api-token</code>. More tokens:{' '}
          <code>npm run token -- create</code>.
        </p>
      </form>
    </main>
  );
}

/** A link, because the page of the provider is opened instead of this one. */
function AtProvider({ host }: { readonly host: string }) {
  const to = encodeURIComponent(location.pathname + location.search);
  return (
    <a className="button" href={`/console/oidc/login?to=${to}`}>
      Sign in at {host}
    </a>
  );
}
