import { bigint, index, jsonb, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';
import { rateCards } from '../rate-cards/rate-cards.tables.ts';

/** A package never changes, except that it can be archived, so its terms are one document. */
export const packages = pgTable(
  'packages',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    uniquenessKey: text('uniqueness_key'),
    /** Null: contracts have no rate card, or the one that an alias refers to at their start. */
    rateCardId: uuid('rate_card_id').references(() => rateCards.id),
    /** `HeaderTemplate` and `TermTemplates` of core/terms/packages.ts in JSON; decimals are text. */
    header: jsonb('header').notNull(),
    terms: jsonb('terms').notNull(),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    archivedAt: instant('archived_at'),
  },
  (table) => [
    unique('packages_uniqueness_key_unique').on(table.uniquenessKey),
    index('packages_created').on(table.createdAt, table.id),
  ],
);

/**
 * Every assignment of an alias to a package, as it was submitted. Which package an alias refers to at an instant is
 * derived (rating/rates/alias-schedule.ts), so a takeover never has to change another package's rows.
 */
export const packageAliases = pgTable(
  'package_aliases',
  {
    /** Order of assignment; the later one takes the alias over. */
    sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    name: text('name').notNull(),
    packageId: uuid('package_id')
      .notNull()
      .references(() => packages.id),
    startingAt: instant('starting_at'),
    endingBefore: instant('ending_before'),
  },
  (table) => [
    index('package_aliases_name').on(table.name, table.sequence),
    index('package_aliases_package').on(table.packageId),
  ],
);
