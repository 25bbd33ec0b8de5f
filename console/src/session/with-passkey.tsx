/** The part of the sign-in for persons: a passkey, or the invitation to set one. */
import { useState } from 'react';
import type { AnswerOf } from '../api/client.ts';
import { Failure } from '../parts/states.tsx';
import { setPasskey, signInWithPasskey } from './passkeys.ts';

interface WithPasskeyProps {
  /** The secret of an invitation; null without one. */
  readonly invitation: string | null;
  onSignedIn(answer: AnswerOf<'POST /console/session'>): void;
}

export function WithPasskey({ invitation, onSignedIn }: WithPasskeyProps) {
  const [error, setError] = useState<unknown>(null);
  const [isRunning, setRunning] = useState(false);
  const run = async () => {
    setRunning(true);
    setError(null);
    try {
      onSignedIn(await (invitation === null ? signInWithPasskey() : setPasskey(invitation)));
    } catch (failure) {
      setError(failure);
      setRunning(false);
    }
  };
  return (
    <>
      {invitation === null ? null : (
        <p>You are invited. Set a passkey on this device: it replaces a password, and signs you in.</p>
      )}
      {error === null ? null : <Failure error={error} />}
      <button
        type="button"
        data-kind={invitation === null ? undefined : 'main'}
        disabled={isRunning}
        onClick={() => void run()}
      >
        {invitation === null ? 'Sign in with a passkey' : 'Set a passkey'}
      </button>
    </>
  );
}
