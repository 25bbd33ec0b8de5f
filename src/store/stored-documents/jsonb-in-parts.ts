/** Serializes long documents for JSON columns in parts, which the driver would do in one go. */
import { type SQL, sql } from 'drizzle-orm';
import { isLongJson, jsonTextInParts } from '../../core/json-in-parts.ts';

/**
 * The value to insert for a document: for one with many items its JSON, written in parts between which the process
 * serves other requests; any other unchanged. The column holds the same either way.
 */
export async function jsonbInParts<Document extends object>(document: Document): Promise<Document | SQL> {
  return isLongJson(document) ? sql`${await jsonTextInParts(document)}::jsonb` : document;
}
