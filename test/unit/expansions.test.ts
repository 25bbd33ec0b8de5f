/** A migration whose name says that it only adds something does so: the version before runs beside it. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { beyondExpansion } from '../support/expansion.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * It replaces triggers with those that write the same rows, and a card beside each: a process of the version before reads
 * the rows alone (test/e2e/rolling-upgrade.test.ts).
 */
const OF_TRIGGERS = '0052_expand_price_changes_of_cards.sql';

describe('an expansion', () => {
  test.each([
    'CREATE TABLE "notes" ("id" uuid PRIMARY KEY, "text" text NOT NULL);',
    'CREATE INDEX "notes_text" ON "notes" USING btree ("text");',
    'ALTER TABLE "customers" ADD COLUMN "note" text;',
    'ALTER TABLE "customers" ADD COLUMN "count" integer DEFAULT 0 NOT NULL;',
    'ALTER TABLE "notes" ADD CONSTRAINT "notes_customer" FOREIGN KEY ("id") REFERENCES "public"."customers"("id");',
    'ALTER TABLE usage_events ON CLUSTER prod ADD COLUMN IF NOT EXISTS note String;',
    'CREATE TABLE "notes" ("id" uuid);--> statement-breakpoint\nINSERT INTO "notes" ("id") SELECT "id" FROM "tokens";',
  ])('an expansion may have %s', (statement) => {
    expect(beyondExpansion(`-- Why.\n${statement}\n`)).toEqual([]);
  });

  test.each([
    'ALTER TABLE "customers" ADD COLUMN "note" text NOT NULL;',
    'ALTER TABLE "customers" DROP COLUMN "name";',
    'ALTER TABLE "customers" RENAME COLUMN "name" TO "title";',
    'ALTER TABLE "customers" ALTER COLUMN "name" SET NOT NULL;',
    'ALTER TABLE "customers" ADD COLUMN "note" text, DROP COLUMN "name";',
    'CREATE UNIQUE INDEX "names" ON "customers" USING btree ("name");',
    'ALTER TABLE "customers" ADD CONSTRAINT "named" CHECK ("name" <> \'\');',
    'DROP TABLE "customers";',
    'INSERT INTO "customers" ("id") SELECT "id" FROM "notes";',
    'UPDATE "customers" SET "name" = \'\';',
    'ALTER TABLE usage_events MODIFY COLUMN properties String;',
  ])('an expansion may not have %s', (statement) => {
    const added = 'CREATE TABLE "notes" ("id" uuid);--> statement-breakpoint\n';
    expect(beyondExpansion(added + statement)).toHaveLength(1);
  });

  test.each(['drizzle', 'clickhouse'])('an expansion in %s adds only', async (folder) => {
    const names = (await readdir(join(ROOT, folder))).filter((name) => name.endsWith('.sql'));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names.filter((each) => /^\d{4}_expand_/.test(each) && each !== OF_TRIGGERS)) {
      expect(beyondExpansion(await readFile(join(ROOT, folder, name), 'utf8')), name).toEqual([]);
    }
  });
});
