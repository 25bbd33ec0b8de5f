import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  foreignKey,
  index,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { CUSTOM_FIELD_ENTITIES } from '../../core/custom-fields.ts';
import { instant } from '../base/columns.ts';

/** Declared keys. A removed key keeps its row, and its values are hidden; declaring it again creates a new key. */
export const customFieldKeys = pgTable(
  'custom_field_keys',
  {
    /** Also the order of declaration. */
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    entity: text('entity', { enum: CUSTOM_FIELD_ENTITIES }).notNull(),
    key: text('key').notNull(),
    enforceUniqueness: boolean('enforce_uniqueness').notNull(),
    createdAt: instant('created_at').notNull(),
    removedAt: instant('removed_at'),
  },
  (table) => [
    uniqueIndex('custom_field_keys_declared_once')
      .on(table.entity, table.key)
      .where(sql`${table.removedAt} is null`),
    unique('custom_field_keys_id_uniqueness').on(table.id, table.enforceUniqueness),
  ],
);

/** The values of objects of all kinds, archived ones included. */
export const customFieldValues = pgTable(
  'custom_field_values',
  {
    keyId: bigint('key_id', { mode: 'number' }).notNull(),
    entityId: uuid('entity_id').notNull(),
    value: text('value').notNull(),
    /** Copied from the key, so that an index can use it. */
    enforceUniqueness: boolean('enforce_uniqueness').notNull(),
  },
  (table) => [
    primaryKey({ name: 'custom_field_values_pkey', columns: [table.keyId, table.entityId] }),
    foreignKey({
      name: 'custom_field_values_key_fk',
      columns: [table.keyId, table.enforceUniqueness],
      foreignColumns: [customFieldKeys.id, customFieldKeys.enforceUniqueness],
    }),
    uniqueIndex('custom_field_values_one_holder')
      .on(table.keyId, table.value)
      .where(sql`${table.enforceUniqueness}`),
    index('custom_field_values_entity').on(table.entityId),
    /** For searches of the beginning of a value, in any letter case. */
    index('custom_field_values_search').on(table.keyId, sql`(lower(${table.value})) collate "C"`),
  ],
);
