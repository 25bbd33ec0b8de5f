import { pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

/** API tokens. Only the SHA-256 of a token is kept, in lower-case hex: a stolen table opens nothing. */
export const tokens = pgTable(
  'tokens',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    sha256: text('sha256').notNull(),
    scope: text('scope', { enum: ['ingest', 'read', 'write'] }).notNull(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at'),
    revokedAt: instant('revoked_at'),
  },
  (table) => [unique('tokens_sha256_unique').on(table.sha256)],
);
