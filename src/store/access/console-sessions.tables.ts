import { index, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';
import { tokens } from './tokens.tables.ts';

/**
 * Sessions of the console, and the links that begin one. Only the SHA-256 of their texts is stored, in lower-case hex.
 * A session has the permissions of its token, and ends with it.
 */
export const consoleSessions = pgTable(
  'console_sessions',
  {
    id: uuid('id').primaryKey(),
    tokenId: uuid('token_id')
      .notNull()
      .references(() => tokens.id),
    sha256: text('sha256').notNull(),
    /** A link becomes a session when it is opened, and cannot be opened again. */
    kind: text('kind', { enum: ['link', 'session'] }).notNull(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** Up to a minute late; null: not since its beginning. */
    lastSeenAt: instant('last_seen_at'),
    ip: text('ip'),
    userAgent: text('user_agent'),
  },
  (table) => [
    unique('console_sessions_sha256_unique').on(table.sha256),
    index('console_sessions_expires_at').on(table.expiresAt),
    index('console_sessions_token_id').on(table.tokenId),
  ],
);
