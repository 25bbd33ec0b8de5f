import { bigint, index, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/** Roles beside the built-in ones. A name is never used again, since the audit log has it. */
export const roles = pgTable('roles', {
  name: text('name').primaryKey(),
  permissions: text('permissions').array().notNull(),
  createdAt: instant('created_at').notNull(),
  /** An archived role gives nothing. */
  archivedAt: instant('archived_at'),
});

/** Persons who sign in, by passkeys or at an identity provider. */
export const people = pgTable(
  'people',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    /** A label, which may change: nobody is found by it at a sign-in. */
    email: text('email'),
    /** Null: a person with passkeys. Together the identity at a provider. */
    issuer: text('issuer'),
    subject: text('subject'),
    /** Names of roles, united. */
    roles: text('roles').array().notNull(),
    createdAt: instant('created_at').notNull(),
    disabledAt: instant('disabled_at'),
    /** Name, address and identity are gone since. */
    erasedAt: instant('erased_at'),
    lastSeenAt: instant('last_seen_at'),
  },
  (table) => [
    unique('people_identity_unique').on(table.issuer, table.subject),
    index('people_created_at').on(table.createdAt, table.id),
    index('people_email').on(table.email),
  ],
);

export const passkeys = pgTable(
  'passkeys',
  {
    id: uuid('id').primaryKey(),
    personId: uuid('person_id')
      .notNull()
      .references(() => people.id),
    /** Base64url, as browsers name it. */
    credentialId: text('credential_id').notNull(),
    /** COSE, base64url. */
    publicKey: text('public_key').notNull(),
    /** Counts signatures; many passkeys keep it at 0. */
    counter: bigint('counter', { mode: 'number' }).notNull(),
    transports: text('transports').array().notNull(),
    createdAt: instant('created_at').notNull(),
    lastUsedAt: instant('last_used_at'),
  },
  (table) => [
    unique('passkeys_credential_unique').on(table.credentialId),
    index('passkeys_person_id').on(table.personId),
  ],
);

/** Links with which a person sets a passkey, once. Only the SHA-256 of their texts is stored, in lower-case hex. */
export const personLinks = pgTable(
  'person_links',
  {
    id: uuid('id').primaryKey(),
    personId: uuid('person_id')
      .notNull()
      .references(() => people.id),
    sha256: text('sha256').notNull(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    usedAt: instant('used_at'),
  },
  (table) => [
    unique('person_links_sha256_unique').on(table.sha256),
    index('person_links_person_id').on(table.personId),
  ],
);

/** Sessions of persons. Only the SHA-256 of their texts is stored, in lower-case hex. */
export const personSessions = pgTable(
  'person_sessions',
  {
    id: uuid('id').primaryKey(),
    personId: uuid('person_id')
      .notNull()
      .references(() => people.id),
    sha256: text('sha256').notNull(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** Up to a minute late. */
    lastSeenAt: instant('last_seen_at').notNull(),
    ip: text('ip'),
    userAgent: text('user_agent'),
    /** The session at the identity provider. */
    providerSession: text('provider_session'),
    /** The tokens of the identity provider, sealed with the text of the session. */
    refreshToken: text('refresh_token'),
    /** When the roles were last read from the identity provider; null: they are read at sign-ins only. */
    refreshedAt: instant('refreshed_at'),
  },
  (table) => [
    unique('person_sessions_sha256_unique').on(table.sha256),
    index('person_sessions_person_id').on(table.personId),
    index('person_sessions_expires_at').on(table.expiresAt),
    index('person_sessions_provider').on(table.providerSession),
  ],
);

/** A sign-in under way, bound to a browser by a cookie whose SHA-256 this is. It is used once. */
export const signInAttempts = pgTable(
  'sign_in_attempts',
  {
    sha256: text('sha256').primaryKey(),
    kind: text('kind', { enum: ['passkey', 'registration', 'provider'] }).notNull(),
    /** The person who registers a passkey. */
    personId: uuid('person_id').references(() => people.id),
    /** The challenge of a passkey, or state, nonce and verifier of a provider: JSON. */
    secrets: text('secrets').notNull(),
    /** In real time. */
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('sign_in_attempts_expires_at').on(table.expiresAt)],
);

/** Wrong links, tokens and passkeys of the last minutes, by address, in real time. */
export const failedSignIns = pgTable(
  'failed_sign_ins',
  {
    id: uuid('id').primaryKey(),
    ip: text('ip').notNull(),
    at: instant('at').notNull(),
  },
  (table) => [index('failed_sign_ins_ip').on(table.ip, table.at), index('failed_sign_ins_at').on(table.at)],
);
