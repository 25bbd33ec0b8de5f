import { pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/**
 * Random keys of this service that all its processes share, one for each purpose, generated on first use. They never
 * leave the service.
 */
export const serviceKeys = pgTable('service_keys', {
  purpose: text('purpose').primaryKey(),
  /** 32 bytes, base64. */
  secret: text('secret').notNull(),
  createdAt: instant('created_at').notNull(),
});
