/**
 * Passkeys: a person registers one with a link or in a session, and signs in with it.
 *
 * Owns: which challenge belongs to which browser, once. Does not own: the cryptography (`@simplewebauthn/server`),
 * rows (`store/access/people.ts`, `sign-ins.ts`), sessions (`console-sessions.ts`).
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { conflict, Refusal } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import {
  findPasskey,
  findPerson,
  findPersonOfLink,
  insertPasskey,
  listPasskeys,
  type Person,
  usePasskey,
  usePersonLink,
} from '../store/access/people.ts';
import { keepAttempt, takeAttempt } from '../store/access/sign-ins.ts';
import type { Database } from '../store/base/database.ts';
import { type BegunSession, type ConsoleSessions, NOBODY_KNOWN } from './console-sessions.ts';
import type { Visit } from './sign-in-log.ts';
import { hashToken } from './tokens.ts';

const ATTEMPT_MINUTES = 10;
/** More than a person has devices. */
const PASSKEYS_MAX = 20;

/** The address at which the browser has the service. */
export interface Site {
  /** Scheme, host and port. */
  readonly origin: string;
}

/** The answer of a browser; its parts are checked by the library. */
const texts = z.string().max(10_000);
const base = { id: texts, rawId: texts, type: z.literal('public-key') };
const extensions = z.object({}).loose().default({});
export const newPasskey = z.object({
  ...base,
  response: z.object({
    clientDataJSON: texts,
    attestationObject: texts,
    transports: z.array(z.string().max(40)).max(10).optional(),
  }),
  clientExtensionResults: extensions,
});
export const usedPasskey = z.object({
  ...base,
  response: z.object({
    clientDataJSON: texts,
    authenticatorData: texts,
    signature: texts,
    userHandle: texts.optional(),
  }),
  clientExtensionResults: extensions,
});

/** Options for the browser, and the text of the cookie that binds them to it. */
interface Challenge {
  readonly options: object;
  readonly attempt: string;
}

export interface Passkeys {
  /**
   * Begins a registration: of whom a link is for, or of a person who is signed in. Refuses (`unauthenticated`) a link
   * that was used before or has expired.
   */
  beginRegistration(
    who: { readonly link: string } | { readonly personId: string },
    site: Site,
  ): Promise<Challenge>;
  /** Stores the passkey, uses the link, and begins a session. Refuses (`unauthenticated`) what does not fit. */
  register(
    given: {
      readonly attempt: string;
      readonly link: string | null;
      readonly passkey: z.output<typeof newPasskey>;
    },
    site: Site,
    visit: Visit,
  ): Promise<BegunSession>;
  beginSignIn(site: Site): Promise<Challenge>;
  /** Begins a session. Refuses (`unauthenticated`) what does not fit, and a disabled person, in the same words. */
  signIn(
    given: { readonly attempt: string; readonly passkey: z.output<typeof usedPasskey> },
    site: Site,
    visit: Visit,
  ): Promise<BegunSession>;
}

/** Loaded when somebody signs in: a process that sends no pages does not need it. */
const webauthn = () => import('@simplewebauthn/server');

const kept = z.object({ challenge: z.string(), link: z.string().nullable() });
const LINK_GONE = 'The link was used before, or has expired: ask for another one';

interface Context {
  readonly db: Database;
  readonly clock: Clock;
  readonly sessions: Pick<ConsoleSessions, 'beginOf'>;
}

export function createPasskeys(context: Context): Passkeys {
  return {
    beginRegistration: (who, site) => beginRegistration(context, who, site),
    register: (given, site, visit) => register(context, given, site, visit),
    beginSignIn: (site) => beginSignIn(context, site),
    signIn: (given, site, visit) => signIn(context, given, site, visit),
  };
}

async function keep(
  { db }: Context,
  kind: 'passkey' | 'registration',
  personId: string | null,
  secrets: z.input<typeof kept>,
): Promise<string> {
  const attempt = randomBytes(24).toString('base64url');
  const row = { kind, personId, secrets: JSON.stringify(secrets) };
  await keepAttempt(db, hashToken(attempt), row, ATTEMPT_MINUTES);
  return attempt;
}

async function take({ db }: Context, attempt: string, kind: 'passkey' | 'registration') {
  const taken = await takeAttempt(db, hashToken(attempt), kind);
  if (taken === null) throw new Refusal('unauthenticated', 'This sign-in has ended: begin it again');
  return { personId: taken.personId, ...kept.parse(JSON.parse(taken.secrets)) };
}

type Registrant = Parameters<Passkeys['beginRegistration']>[0];

async function whoRegisters({ db, clock }: Context, who: Registrant): Promise<Person> {
  const person =
    'link' in who
      ? await findPersonOfLink(db, hashToken(who.link), clock.now())
      : await findPerson(db, who.personId);
  if (person === null || person.disabledAt !== null) throw new Refusal('unauthenticated', LINK_GONE);
  if (person.issuer !== null) throw conflict('Who signs in at an identity provider has no passkey');
  return person;
}

async function beginRegistration(context: Context, who: Registrant, site: Site): Promise<Challenge> {
  const person = await whoRegisters(context, who);
  const present = await listPasskeys(context.db, person.id);
  if (present.length >= PASSKEYS_MAX) throw conflict(`there are ${PASSKEYS_MAX} passkeys already`);
  const { generateRegistrationOptions } = await webauthn();
  const options = await generateRegistrationOptions({
    rpName: 'tallyhouse',
    rpID: hostOf(site),
    userName: person.email ?? person.name,
    userDisplayName: person.name,
    userID: new TextEncoder().encode(person.id),
    attestationType: 'none',
    excludeCredentials: present.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  const link = 'link' in who ? hashToken(who.link) : null;
  const secrets = { challenge: options.challenge, link };
  return { options, attempt: await keep(context, 'registration', person.id, secrets) };
}

async function register(
  context: Context,
  { attempt, link, passkey }: Parameters<Passkeys['register']>[0],
  site: Site,
  visit: Visit,
): Promise<BegunSession> {
  const { personId, challenge, link: bound } = await take(context, attempt, 'registration');
  const { verifyRegistrationResponse } = await webauthn();
  const checked = await verified(() =>
    verifyRegistrationResponse({
      response: { ...passkey, response: withoutUndefined(passkey.response) },
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: hostOf(site),
    }),
  );
  if (!checked.verified || personId === null || (link === null ? null : hashToken(link)) !== bound) {
    throw new Refusal('unauthenticated', NOBODY_KNOWN);
  }
  const { id: credentialId, counter, publicKey } = checked.registrationInfo.credential;
  return await context.db.transaction(async (tx) => {
    const now = context.clock.now();
    const isUsed = bound === null || (await usePersonLink(tx, { sha256: bound, personId }, now));
    const person = await findPerson(tx, personId);
    if (!isUsed || person === null) throw new Refusal('unauthenticated', LINK_GONE);
    const isNew = await insertPasskey(tx, {
      ...{ id: newId(), personId, credentialId, counter },
      publicKey: Buffer.from(publicKey).toString('base64url'),
      transports: [...(passkey.response.transports ?? [])],
      ...{ createdAt: now, lastUsedAt: null },
    });
    if (!isNew) throw conflict('this passkey is registered already');
    return await context.sessions.beginOf(tx, person, visit);
  });
}

async function beginSignIn(context: Context, site: Site): Promise<Challenge> {
  const { generateAuthenticationOptions } = await webauthn();
  const options = await generateAuthenticationOptions({ rpID: hostOf(site), userVerification: 'required' });
  return {
    options,
    attempt: await keep(context, 'passkey', null, { challenge: options.challenge, link: null }),
  };
}

async function signIn(
  context: Context,
  { attempt, passkey }: Parameters<Passkeys['signIn']>[0],
  site: Site,
  visit: Visit,
): Promise<BegunSession> {
  const { challenge } = await take(context, attempt, 'passkey');
  const found = await findPasskey(context.db, passkey.id);
  if (found === null) throw new Refusal('unauthenticated', NOBODY_KNOWN);
  const { credentialId: id, publicKey, counter, transports } = found.passkey;
  const { verifyAuthenticationResponse } = await webauthn();
  const checked = await verified(() =>
    verifyAuthenticationResponse({
      response: { ...passkey, response: withoutUndefined(passkey.response) },
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: hostOf(site),
      credential: { id, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter, transports },
    }),
  );
  if (!checked.verified) throw new Refusal('unauthenticated', NOBODY_KNOWN);
  const { newCounter } = checked.authenticationInfo;
  return await context.db.transaction(async (tx) => {
    const isUsed = await usePasskey(tx, found.passkey.id, newCounter, context.clock.now());
    if (!isUsed) throw new Refusal('unauthenticated', NOBODY_KNOWN);
    return await context.sessions.beginOf(tx, found.person, visit);
  });
}

function hostOf({ origin }: Site): string {
  return new URL(origin).hostname;
}

/** The library throws for what it does not accept. Its messages may contain what was sent. */
async function verified<Result>(check: () => Promise<Result>): Promise<Result> {
  try {
    return await check();
  } catch {
    throw new Refusal('unauthenticated', NOBODY_KNOWN);
  }
}

/** The types of the library have members that are absent, never undefined. */
function withoutUndefined<Value extends object>(value: Value) {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [Key in keyof Value]: Exclude<Value[Key], undefined>;
  };
}
