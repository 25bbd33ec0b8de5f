import { sql } from 'drizzle-orm';
import { index, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/** API tokens. Only the SHA-256 of a token is kept, in lower-case hex: a stolen table opens nothing. */
export const tokens = pgTable(
  'tokens',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    sha256: text('sha256').notNull(),
    scope: text('scope', { enum: ['ingest', 'read', 'write'] }).notNull(),
    /** Where its text came from: made by this service, or set as API_TOKEN. */
    origin: text('origin', { enum: ['issued', 'api_token'] })
      .notNull()
      .default('issued'),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at'),
    revokedAt: instant('revoked_at'),
    /** Written a few seconds late, and kept when the token is revoked. */
    lastUsedAt: instant('last_used_at'),
  },
  (table) => [
    unique('tokens_sha256_unique').on(table.sha256),
    index('tokens_created_at').on(table.createdAt, table.id),
    index('tokens_of_api_token').on(table.origin).where(sql`${table.origin} = 'api_token'`),
  ],
);
