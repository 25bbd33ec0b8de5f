/** Passkeys of the browser: set one with an invitation, and sign in with one. */
import { startAuthentication, startRegistration } from '@simplewebauthn/browser';
import { type AnswerOf, call } from '../api/client.ts';
import { writeExact } from '../api/exact.ts';

type Answer = AnswerOf<'POST /console/session'>;

/** The browser takes plain numbers; those of the API are exact. */
function plain<Options>(options: unknown): Options {
  return JSON.parse(writeExact(options)) as Options;
}

/** Sets a passkey with the secret of an invitation, or without one for the person of the session. */
export async function setPasskey(link: string | undefined): Promise<Answer> {
  const named = link === undefined ? {} : { link };
  const { data } = await call('POST /console/passkeys/begin', { body: named });
  const { id, rawId, type, response } = await startRegistration({ optionsJSON: plain(data) });
  const passkey = { id, rawId, type, response, clientExtensionResults: {} } as const;
  return await call('POST /console/passkeys/register', { body: { ...named, passkey } });
}

export async function signInWithPasskey(): Promise<Answer> {
  const { data } = await call('POST /console/passkeys/challenge', { body: {} });
  const { id, rawId, type, response } = await startAuthentication({ optionsJSON: plain(data) });
  const passkey = { id, rawId, type, response, clientExtensionResults: {} } as const;
  return await call('POST /console/session', { body: { passkey } });
}
